"""PDF documents written object by object, with fonts that no library writes."""

from pathlib import Path

from case import Case

# The hiragana of Adobe-Japan1 stand in the order of Unicode, from small a.
HIRAGANA = 842
TEXT = "ひらがなだけのぶんしょうをよむことができるかどうかをたしかめるためのぺえじです" * 3


def write_pdf(path: Path, objects: list[bytes], trailer: bytes = b"") -> Path:
    """Writes objects, the first of which is the catalog, with their table."""
    body, places = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    body += b"".join(b"%010d 00000 n \n" % place for place in places)
    body += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    path.write_bytes(body)
    return path


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """A stream object."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def one_page(path: Path, content: bytes, font: list[bytes]) -> Path:
    """A page with one content stream and one font, whose first object is number 5."""
    return write_pdf(path, [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        stream(content),
        *font,
    ])


def composite_font(ordering: bytes) -> list[bytes]:
    """A composite font whose codes are glyphs, without a map to Unicode and without a font file."""
    return [
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Unknown /Encoding /Identity-H /DescendantFonts [6 0 R] >>",
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Unknown /FontDescriptor 7 0 R /DW 1000"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (%s) /Supplement 2 >> >>" % ordering,
        b"<< /Type /FontDescriptor /FontName /Unknown /Flags 4 /FontBBox [0 -200 1000 880] /ItalicAngle 0"
        b" /Ascent 880 /Descent -120 /CapHeight 880 /StemV 80 >>",
    ]


def show(codes: list[int], per_line: int = 30) -> bytes:
    """Content that shows two-byte codes in lines."""
    lines = [codes[at : at + per_line] for at in range(0, len(codes), per_line)]
    shown = b" ".join(b"<%s> Tj T*" % b"".join(b"%04x" % code for code in line) for line in lines)
    return b"BT /F1 12 Tf 18 TL 60 760 Td %s ET" % shown


def japan_without_map(folder: Path) -> Case:
    """Glyphs of a known collection without a map to Unicode, as many Japanese documents have."""
    codes = [HIRAGANA + ord(letter) - 0x3041 for letter in TEXT]
    path = one_page(folder / "japan1-ja.pdf", show(codes), composite_font(b"Japan1"))
    return Case("pdf", "ja", path, TEXT)


def glyphs_only(folder: Path) -> Path:
    """60 glyphs of a font that only its own file knows."""
    return one_page(folder / "glyphs-only.pdf", show(list(range(40, 100))), composite_font(b"Identity"))
