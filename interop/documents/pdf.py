"""PDF documents of the corpus: fonts and layouts that lose text in one reader or another."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).parent))

from case import Case
from pdf_hostile import hostile  # noqa: F401 - the suite takes it from here
from pdf_raw import glyphs_only, japan_without_map
from pdf_text import paragraph, sentence, table, title
from PIL import Image as Picture
from PIL import ImageDraw
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, ListFlowable, ListItem, PageBreak, PageTemplate, Paragraph, SimpleDocTemplate, Table

IPA = Path("/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf")

# Fonts by language: embedded, standard ones that every reader has, and ones that no file carries.
FONTS = {"en": ["Helvetica", "Times-Roman", "Courier"], "ja": ["IPAGothic", "HeiseiMin-W3", "HeiseiKakuGo-W5"]}


def register_fonts() -> None:
    """Makes the Japanese fonts known: one embedded as TrueType, two that readers must have."""
    if "IPAGothic" in pdfmetrics.getRegisteredFontNames():
        return
    pdfmetrics.registerFont(TTFont("IPAGothic", IPA))
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiKakuGo-W5"))


def styles(language: str, font: str) -> dict[str, ParagraphStyle]:
    """Styles of a title, a heading and running text."""
    wrap = {"wordWrap": "CJK"} if language == "ja" else {}
    sizes = {"title": 20, "heading": 15, "body": 10}
    return {name: ParagraphStyle(name, fontName=font, fontSize=size, leading=size * 1.4, spaceAfter=8, **wrap) for name, size in sizes.items()}


def cases(folder: Path) -> Iterator[Case]:
    """Writes all documents that are made into `folder`."""
    register_fonts()
    for language, fonts in FONTS.items():
        for font in fonts:
            yield flowing(folder, language, font)
            yield tables(folder, language, font, is_ruled=True)
        yield tables(folder, language, fonts[0], is_ruled=False)
        yield columns(folder, language, fonts[0])
        yield rotated(folder, language, fonts[0])
        yield lists(folder, language, fonts[0])
        yield long(folder, language, fonts[0])
        yield picture_between(folder, language, fonts[0])
        yield open_encryption(folder, language, fonts[0])
    yield vertical(folder)
    yield japan_without_map(folder)


def flowing(folder: Path, language: str, font: str) -> Case:
    """Headings and paragraphs over some pages."""
    rng = random.Random(f"flowing {language} {font}")
    style = styles(language, font)
    story, parts, headings = [], [], []
    for number in range(4):
        headings.append(title(language, number))
        story.append(Paragraph(headings[-1], style["title" if number == 0 else "heading"]))
        parts.append(headings[-1])
        for _ in range(5):
            text = paragraph(language, rng)
            story.append(Paragraph(escape(text), style["body"]))
            parts.append(text)
    path = folder / f"flowing-{font}-{language}.pdf"
    SimpleDocTemplate(str(path), pagesize=A4).build(story)
    return Case("pdf", language, path, "\n".join(parts), headings=headings)


def tables(folder: Path, language: str, font: str, is_ruled: bool) -> Case:
    """Tables between paragraphs, one of them with cells of several lines."""
    rng = random.Random(f"tables {language} {font}")
    style = styles(language, font)
    first, second = table(language, rng), table(language, rng, 4)
    for row in second[1:]:
        row[3] = paragraph(language, rng, 2)
    rule = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)] if is_ruled else []
    look = [("FONT", (0, 0), (-1, -1), font, 10), ("ALIGN", (1, 0), (2, -1), "RIGHT"), ("VALIGN", (0, 0), (-1, -1), "TOP"), *rule]
    wrapped = [[*row[:3], Paragraph(escape(row[3]), style["body"])] for row in second]
    texts = [paragraph(language, rng) for _ in range(3)]
    body = [Paragraph(escape(text), style["body"]) for text in texts]
    path = folder / f"table-{'ruled' if is_ruled else 'bare'}-{font}-{language}.pdf"
    story = [body[0], Table(first, style=look, colWidths=110), body[1], Table(wrapped, style=look, colWidths=[80, 80, 60, 200]), body[2]]
    SimpleDocTemplate(str(path), pagesize=A4).build(story)
    cells = ["\n".join(" ".join(row) for row in rows) for rows in (first, second)]
    text = "\n".join([texts[0], cells[0], texts[1], cells[1], texts[2]])
    return Case("pdf", language, path, text, tables=[first, second])


def columns(folder: Path, language: str, font: str) -> Case:
    """Two columns of running text, read one after the other."""
    rng = random.Random(f"columns {language}")
    style = styles(language, font)["body"]
    texts = [paragraph(language, rng) for _ in range(24)]
    path = folder / f"columns-{language}.pdf"
    document = BaseDocTemplate(str(path), pagesize=A4)
    frames = [Frame(50 + 255 * column, 60, 240, 720, id=str(column)) for column in range(2)]
    document.addPageTemplates(PageTemplate(frames=frames))
    document.build([Paragraph(escape(text), style) for text in texts])
    return Case("pdf", language, path, "\n".join(texts))


def rotated(folder: Path, language: str, font: str) -> Case:
    """Pages that the document turns for display."""
    rng = random.Random(f"rotated {language}")
    path = folder / f"rotated-{language}.pdf"
    canvas = Canvas(str(path), pagesize=A4)
    parts = []
    for angle in (0, 90, 180, 270):
        canvas.setPageRotation(angle)
        canvas.setFont(font, 11)
        canvas.saveState()
        if angle:
            # Drawn so that a reader of the turned page sees upright lines.
            # The library turns the sheet, too.
            width, height = A4 if angle == 180 else A4[::-1]
            canvas.translate(*{90: (width, 0), 180: (width, height), 270: (0, height)}[angle])
            canvas.rotate(angle)
        for line in range(20):
            text = sentence(language, rng)
            canvas.drawString(60, 500 - 18 * line, text)
            parts.append(text)
        canvas.restoreState()
        canvas.showPage()
    canvas.save()
    return Case("pdf", language, path, "\n".join(parts))


def lists(folder: Path, language: str, font: str) -> Case:
    """Lists with bullets and with numbers."""
    rng = random.Random(f"lists {language}")
    style = styles(language, font)["body"]
    items = [sentence(language, rng) for _ in range(6)]
    entries = [ListItem(Paragraph(escape(item), style)) for item in items]
    story = [ListFlowable(entries[:3], bulletType="bullet", start="•"), Paragraph(escape(items[0]), style), ListFlowable(entries[3:], bulletType="1", bulletFormat="%s.")]
    path = folder / f"lists-{language}.pdf"
    SimpleDocTemplate(str(path), pagesize=A4).build(story)
    numbered = [f"{number}. {item}" for number, item in enumerate(items[3:], 1)]
    return Case("pdf", language, path, "\n".join([*items[:3], items[0], *numbered]), items=items)


def long(folder: Path, language: str, font: str) -> Case:
    """A long document: 500 pages in English, 100 in Japanese, whose characters are compared one by one."""
    style = styles(language, font)["body"]
    rng = random.Random(f"long {language}")
    story, parts = [], []
    pages = 500 if language == "en" else 100
    for page in range(pages):
        # Words that differ from page to page show pages out of order.
        words = [f"{sentence(language, rng)} {page * 10 + line:05}" for line in range(6)]
        story += [*(Paragraph(escape(text), style) for text in words), PageBreak()]
        parts += words
    path = folder / f"long-{language}.pdf"
    SimpleDocTemplate(str(path), pagesize=A4).build(story)
    return Case("pdf", language, path, "\n".join(parts))


def picture_between(folder: Path, language: str, font: str) -> Case:
    """A page that is only an image, between two pages of text."""
    rng = random.Random(f"picture {language}")
    path = folder / f"picture-{language}.pdf"
    picture = Picture.new("RGB", (300, 200), "white")
    ImageDraw.Draw(picture).ellipse((50, 50, 250, 150), fill="navy")
    canvas = Canvas(str(path), pagesize=A4)
    parts = []
    for page in range(3):
        if page == 1:
            canvas.drawInlineImage(picture, 100, 400, 300, 200)
        else:
            canvas.setFont(font, 11)
            parts.append(sentence(language, rng))
            canvas.drawString(60, 700, parts[-1])
        canvas.showPage()
    canvas.save()
    return Case("pdf", language, path, "\n".join(parts))


def open_encryption(folder: Path, language: str, font: str) -> Case:
    """Encrypted, but anyone may open it: only the owner has a password."""
    rng = random.Random(f"encrypted {language}")
    path = folder / f"encrypted-open-{language}.pdf"
    encryption = StandardEncryption("", ownerPassword="owner", strength=128)
    canvas = Canvas(str(path), pagesize=A4, encrypt=encryption)
    canvas.setFont(font, 11)
    texts = [sentence(language, rng) for _ in range(10)]
    for line, text in enumerate(texts):
        canvas.drawString(60, 700 - 20 * line, text)
    canvas.save()
    return Case("pdf", language, path, "\n".join(texts))


def vertical(folder: Path) -> Case:
    """Columns from right to left, by the map of a font for vertical writing."""
    rng = random.Random("vertical")
    font = UnicodeCIDFont("HeiseiMin-W3", isVertical=True)
    text = paragraph("ja", rng, 30).replace("。", "、", 1)
    path = folder / "vertical-ja.pdf"
    # The font of this document has the name of the horizontal one: it is known only here.
    horizontal = pdfmetrics.getFont("HeiseiMin-W3")
    pdfmetrics.registerFont(font)
    canvas = Canvas(str(path), pagesize=A4)
    canvas.setFont(font.fontName, 12)
    for column, start in enumerate(range(0, len(text), 40)):
        canvas.drawString(520 - 20 * column, 780, text[start : start + 40])
    canvas.save()
    pdfmetrics.registerFont(horizontal)
    return Case("pdf", "ja", path, text)


def losses(folder: Path) -> Iterator[tuple[Path, str]]:
    """Documents whose text no reader can know, and what the Markdown must say about it."""
    register_fonts()
    yield glyphs_only(folder), "the text of this page could not be read: 60 glyphs"
    yield picture_between(folder, "en", "Helvetica").path, "this page has no text, 1 image"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for made in cases(target):
        print(made.path)
