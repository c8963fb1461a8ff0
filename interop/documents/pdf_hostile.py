"""Hostile PDF documents: protected, broken, looping, and packed to burst."""

import zlib
from collections.abc import Iterator
from pathlib import Path

from bombs import zlib_stream
from pdf_raw import composite_font, one_page, show, stream, write_pdf
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

HELVETICA = [b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> %s >> >>"
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
HELLO = b"BT /F1 12 Tf 60 700 Td (Hello) Tj ET"


def hostile(folder: Path) -> Iterator[tuple[str, Path]]:
    """Writes the documents: the name of the attack, and the file."""
    for strength in (40, 128):
        path = folder / f"protected-{strength}.pdf"
        canvas = Canvas(str(path), encrypt=StandardEncryption("secret", strength=strength))
        canvas.drawString(60, 700, "hidden text")
        canvas.save()
        yield f"password of {strength} bits", path
    whole = plain(folder / "whole.pdf").read_bytes()
    for share in (10, 50, 90):
        path = folder / f"truncated-{share}.pdf"
        path.write_bytes(whole[: len(whole) * share // 100])
        yield f"cut at {share} percent", path
    for name, data in (("empty", b""), ("noise", bytes(range(256)) * 64), ("header", b"%PDF-1.7\n")):
        path = folder / f"{name}.pdf"
        path.write_bytes(data)
        yield name, path
    yield "JavaScript", script(folder / "script.pdf")
    yield from loops(folder)
    yield from bombs(folder)


def plain(path: Path) -> Path:
    """A usual document, to be broken."""
    canvas = Canvas(str(path), pagesize=A4)
    for page in range(20):
        for line in range(30):
            canvas.drawString(60, 780 - 20 * line, f"page {page} line {line} of a document that will be cut")
        canvas.showPage()
    canvas.save()
    return path


def script(path: Path) -> Path:
    """A document that runs a script when it is opened."""
    action = b"<< /Type /Action /S /JavaScript /JS (app.launchURL\\('http://127.0.0.1:9/'\\);) >>"
    catalog = b"<< /Type /Catalog /Pages 2 0 R /OpenAction 6 0 R /Names << /JavaScript << /Names [(a) 6 0 R] >> >> >>"
    return write_pdf(path, [catalog, PAGES, PAGE % b"", stream(HELLO), *HELVETICA, action])


def loops(folder: Path) -> Iterator[tuple[str, Path]]:
    """Objects that lead back to themselves."""
    tree = b"<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] /Count 1000000 /Parent 2 0 R >>"
    yield "page tree in a loop", write_pdf(folder / "tree-loop.pdf", [CATALOG, tree, PAGE % b"", stream(HELLO), *HELVETICA])
    form = stream(b"/X1 Do /X1 Do BT /F1 12 Tf (a) Tj ET", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X1 6 0 R >> /Font << /F1 5 0 R >> >>")
    own = PAGE % b"/XObject << /X1 6 0 R >>"
    yield "form that draws itself", write_pdf(folder / "form-loop.pdf", [CATALOG, PAGES, own, stream(b"/X1 Do"), *HELVETICA, form])
    forms = [stream(b"/X1 Do " * 50, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X1 %d 0 R >> >>" % (7 + level)) for level in range(10)]
    last = stream(HELLO, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 5 0 R >> >>")
    yield "forms that draw forms", write_pdf(folder / "form-bomb.pdf", [CATALOG, PAGES, own, stream(b"/X1 Do"), *HELVETICA, *forms, last])
    font = b"<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [5 0 R] /ToUnicode 5 0 R >>"
    yield "font in a loop", write_pdf(folder / "font-loop.pdf", [CATALOG, PAGES, PAGE % b"", stream(show([1, 2, 3])), font])
    length = b"<< /Length 4 0 R >>\nstream\nBT ET\nendstream"
    yield "length in a loop", write_pdf(folder / "length-loop.pdf", [CATALOG, PAGES, PAGE % b"", length, *HELVETICA])
    packed = stream(b"6 0 7 20 << /A 6 0 R >> << >>", b"/Type /ObjStm /N 2 /First 9 /Extends 6 0 R")
    yield "object stream in a loop", write_pdf(folder / "objects-loop.pdf", [CATALOG, PAGES, PAGE % b"", stream(HELLO), *HELVETICA, packed])
    deep = b"[" * 200_000
    yield "arrays nested deeply", write_pdf(folder / "deep.pdf", [CATALOG, PAGES, PAGE % b"", stream(HELLO), *HELVETICA, deep])
    kids = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (number + 1) for number in range(2, 20_000)]
    yield "page tree of 20,000 levels", write_pdf(folder / "tree-deep.pdf", [CATALOG, *kids])


def bombs(folder: Path) -> Iterator[tuple[str, Path]]:
    """Streams that unpack to gigabytes."""
    packed = zlib.compress(b" " * (1 << 30), 9)
    flate = b"/Filter /FlateDecode"
    yield "content of a gigabyte", write_pdf(folder / "content-bomb.pdf", [CATALOG, PAGES, PAGE % b"", stream(packed, flate), *HELVETICA])
    twice = zlib.compress(packed, 9)
    filters = b"/Filter [/FlateDecode /FlateDecode]"
    yield "content packed twice", write_pdf(folder / "content-twice.pdf", [CATALOG, PAGES, PAGE % b"", stream(twice, filters), *HELVETICA])
    thrice = zlib.compress(zlib.compress(zlib_stream(), 9), 9)
    filters = b"/Filter [/FlateDecode /FlateDecode /FlateDecode]"
    bomb = write_pdf(folder / "content-thrice.pdf", [CATALOG, PAGES, PAGE % b"", stream(thrice, filters), *HELVETICA])
    yield f"{bomb.stat().st_size} bytes that unpack to ten gigabytes", bomb
    objects = stream(packed, flate + b" /Type /ObjStm /N 1000000 /First 10")
    yield "object stream of a gigabyte", write_pdf(folder / "objects-bomb.pdf", [CATALOG, PAGES, PAGE % b"", stream(HELLO), *HELVETICA, objects])
    font = composite_font(b"Identity")
    font[0] = font[0].replace(b"/Encoding", b"/ToUnicode 8 0 R /Encoding")
    yield "map of a gigabyte", one_page(folder / "map-bomb.pdf", show(list(range(40, 100))), [*font, stream(packed, flate)])
    shows = zlib.compress(b"BT /F1 1 Tf " + b"(aaaaaaaaaaaaaaaaaaaa) Tj " * 3_000_000 + b"ET", 9)
    yield "sixty million glyphs", write_pdf(folder / "glyph-bomb.pdf", [CATALOG, PAGES, PAGE % b"", stream(shows, flate), *HELVETICA])
    many = b"<< /Type /Pages /Kids [%s] /Count 200000 >>" % (b"3 0 R " * 200_000)
    yield "one page 200,000 times", write_pdf(folder / "page-bomb.pdf", [CATALOG, many, PAGE % b"", stream(HELLO), *HELVETICA])
