"""Images of the corpus: what their text must tell, SVG that must lose what runs or loads, and hostile ones."""

import io
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from case import Case
from PIL import Image, ImageDraw, PngImagePlugin

# The form that each kind is judged in: images have no Markdown.
FORMS = {"image": "text/plain", "svg": "image/svg+xml;variant=sanitised"}

SVG = "http://www.w3.org/2000/svg"
TEXTS = {"en": ("A red barn", "Anna Reader"), "ja": ("赤い納屋の写真", "読書花子")}


def cases(folder: Path) -> Iterator[Case]:
    """Writes the images: text is what must come out, absent what must not."""
    for language, (description, artist) in TEXTS.items():
        yield photo(folder, language, description, artist)
        yield png(folder, language, description, artist)
        yield drawing(folder, language, description)
    for kind in ("png", "jpeg", "gif", "webp", "tiff", "bmp", "ico"):
        path = folder / f"plain.{kind}"
        sketch((64, 48)).save(path, **({"sizes": [(64, 48)]} if kind == "ico" else {}))
        yield Case("image", "en", path, f"format: {kind} size: 64 x 48 pixels")
    path = folder / "moving.gif"
    frames = [sketch((40, 30), number) for number in range(12)]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=80)
    yield Case("image", "en", path, "format: GIF size: 40 x 30 pixels frames: 12")


def sketch(size: tuple[int, int], number: int = 0) -> Image.Image:
    """A picture with something on it."""
    picture = Image.new("RGB", size, (200, 220, 20 * number % 255))
    ImageDraw.Draw(picture).ellipse((2 + number, 2, 20 + number, 20), fill=(160, 20 * number % 255, 30))
    return picture


def photo(folder: Path, language: str, description: str, artist: str) -> Case:
    """A photo with Exif, turned, and with a position that is not to be told."""
    exif = Image.Exif()
    exif[0x010F], exif[0x0110], exif[0x0131] = "Acme", "Acme One", "Darkroom 3"
    exif[0x010E], exif[0x013B], exif[0x0112] = description.encode(), artist.encode(), 6
    exif.get_ifd(0x8769)[0x9003] = "2024:05:01 10:20:30"
    position = exif.get_ifd(0x8825)
    position[1], position[2], position[3], position[4] = "N", (35.0, 40.0, 52.0), "E", (139.0, 46.0, 3.0)
    path = folder / f"photo-{language}.jpg"
    sketch((640, 480)).save(path, exif=exif)
    text = f"format: JPEG size: 640 x 480 pixels camera: Acme One taken: 2024-05-01T10:20:30 software: Darkroom 3 description: {description} artist: {artist} position: not shown"
    return Case("image", language, path, text, absent=["35.68", "139.76"])


def png(folder: Path, language: str, description: str, artist: str) -> Case:
    """A PNG with notes."""
    notes = PngImagePlugin.PngInfo()
    notes.add_itxt("Description", description)
    notes.add_itxt("Author", artist, zip=True)
    path = folder / f"notes-{language}.png"
    sketch((320, 200)).save(path, pnginfo=notes)
    return Case("image", language, path, f"format: PNG size: 320 x 200 pixels note Description: {description} note Author: {artist}")


def drawing(folder: Path, language: str, description: str) -> Case:
    """A drawing with a script, handlers, styles and loads among its shapes."""
    path = folder / f"drawing-{language}.svg"
    path.write_text(
        f'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x "expanded">]>'
        f'<svg xmlns="{SVG}" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" onload="steal()">'
        f"<title>{description}</title><script>steal()</script><style>@import url(http://evil.example/)</style>"
        f'<a xlink:href="javascript:steal()"><text fill="red" onclick="steal()">{description} &x;</text></a>'
        f'<image href="http://evil.example/pixel.png"/><use href="http://evil.example/a.svg#b"/>'
        f'<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="http://evil.example/"/></foreignObject>'
        f'<rect style="fill:url(http://evil.example/);stroke:blue" width="3" height="3"/>'
        f'<set attributeName="href" to="javascript:steal()"/></svg>',
        encoding="utf-8",
    )
    absent = ["steal", "evil.example", "javascript", "script", "iframe", "expanded", "foreignObject"]
    return Case("svg", language, path, f"{description} {description}", absent=absent)


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def hostile(folder: Path) -> Iterator[tuple[str, Path]]:
    """Writes hostile images: the name of the attack, and the file."""

    def write(name: str, data: bytes) -> Path:
        path = folder / name
        path.write_bytes(data)
        return path

    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    rows = zlib.compress(b"\0" * (1 << 28), 9)
    yield "PNG of 60,000 x 60,000 pixels", write("huge.png", head + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    note = chunk(b"zTXt", b"Comment\0\0" + rows)
    small = io.BytesIO()
    sketch((8, 8)).save(small, "PNG")
    whole = small.getvalue()
    yield "PNG with a note of 256 MB", write("note-bomb.png", whole[:33] + note + whole[33:])
    frame = b"\x2c" + struct.pack("<HHHH", 0, 0, 65_535, 65_535) + b"\0\x02\x02\x4c\x01\0"
    yield "GIF of huge frames", write("huge.gif", b"GIF89a" + struct.pack("<HHBBB", 65_535, 65_535, 0x80, 0, 0) + b"\0" * 6 + frame * 10_000 + b";")
    yield "BMP of 60,000 x 60,000 pixels", write("huge.bmp", b"BM" + struct.pack("<IIIIiiHHIIiiII", 54, 0, 54, 40, 60_000, 60_000, 1, 24, 0, 0, 0, 0, 0, 0))
    tiff = io.BytesIO()
    sketch((8, 8)).save(tiff, "TIFF")
    for at in (4, len(tiff.getvalue()) - 4):
        looped = bytearray(tiff.getvalue())
        looped[at : at + 4] = struct.pack("<I", 8)
        yield f"TIFF whose pages loop at {at}", write(f"loop-{at}.tiff", bytes(looped))
    photo_bytes = photo(folder, "en", "x", "y").path.read_bytes()
    place = photo_bytes.index(b"Exif\0\0")
    for seed in range(5):
        garbage = bytes((seed * 37 + at * 91) % 256 for at in range(200))
        yield f"Exif of garbage {seed}", write(f"garbage-{seed}.jpg", photo_bytes[: place + 14] + garbage + photo_bytes[place + 214 :])
    for name in ("png", "jpeg", "gif", "webp", "tiff"):
        data = io.BytesIO()
        sketch((200, 200)).save(data, name)
        yield f"{name} cut in the middle", write(f"cut.{name}", data.getvalue()[: len(data.getvalue()) // 2])
    yield from hostile_svg(write)


def hostile_svg(write) -> Iterator[tuple[str, Path]]:
    """Hostile drawings."""
    entities = "".join(f'<!ENTITY e{level} "{"&e%d;" % (level - 1) * 10}">' for level in range(1, 12))
    laughs = f'<!DOCTYPE svg [<!ENTITY e0 "ha">{entities}]><svg xmlns="{SVG}"><text>&e11;</text></svg>'
    yield "SVG with entities of entities", write("laughs.svg", laughs.encode())
    outside = f'<!DOCTYPE svg [<!ENTITY e SYSTEM "file:///etc/passwd">]><svg xmlns="{SVG}"><text>&e;</text></svg>'
    yield "SVG with a file as entity", write("outside.svg", outside.encode())
    deep = f'<svg xmlns="{SVG}">' + "<g>" * 500_000
    yield "SVG nested deeply", write("deep.svg", deep.encode())
    copy = '<use href="#l%d"/>'
    levels = "".join(f'<g id="l{level}">{copy % (level + 1) * 10}</g>' for level in range(15))
    yield "SVG whose copies copy copies", write("copies.svg", f'<svg xmlns="{SVG}">{levels}</svg>'.encode())
    many = f'<svg xmlns="{SVG}" ' + " ".join(f'a{at}="x"' for at in range(200_000)) + "/>"
    yield "SVG with 200,000 attributes", write("attributes.svg", many.encode())
    yield "SVG cut in the middle", write("cut.svg", f'<svg xmlns="{SVG}"><g><path d="M0 0'.encode())


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for made in cases(target):
        print(made.path)
