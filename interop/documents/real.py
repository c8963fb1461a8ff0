"""Real documents of Debian's packages, with the words that another reader finds in them."""

import gzip
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from odf import teletype
from odf.draw import Page
from odf.opendocument import load
from odf.text import P
from pptx import Presentation
from processes import BUILD

PACKAGES = BUILD / "real-documents"
DOC = PACKAGES / "usr/share/doc"
SAMPLES = PACKAGES / "usr/share/gocode/src/github.com/gabriel-vasile/mimetype/testdata"
# Workbooks of dates, which refdesk gives as ISO 8601.
OTHER_DATES = {"datetime", "junk-small", "timeformat"}
REFERENCE = Path("/usr/share/debian-reference/debian-reference.ja.pdf")


@dataclass
class RealCase:
    """A document, what another reader finds in it, and the least share of that."""

    kind: str
    language: str
    path: Path
    reader: str
    text: str
    least: float
    # What is compared with the other reader's text.
    form: str = "text/markdown"


def cases(folder: Path) -> Iterator[RealCase]:
    for kind, language, source, least in documents():
        name = source.name.removesuffix(".gz")
        data = source.read_bytes()
        path = folder / name.replace(" ", "-")
        path.write_bytes(gzip.decompress(data) if source.suffix == ".gz" else data)
        reader, read = READERS[kind]
        form = "text/csv" if kind == "xlsx" else "text/markdown"
        yield RealCase(kind, language, path, reader, read(path), least, form)


def documents() -> Iterator[tuple[str, str, Path, float]]:
    """Kind, language, file, and the least share of the words of the other reader, in order."""
    for guide in ["SK-CDD-PRG-GUIDE", "SK-COM-PRG-GUIDE"]:
        yield "docx", "en", DOC / f"libdigidoc/libdigidoc/{guide}.docx.gz", 0.99
    yield "docx", "en", DOC / "openni-doc/OpenNI_UserGuide.docx.gz", 0.99
    yield "docx", "en", SAMPLES / "docx.1.docx", 0.99
    for language in ["en", "ja"]:
        yield "odt", language, DOC / f"live-manual/odt/live-manual.{language}.odt", 0.99
        yield "epub", language, DOC / f"debian-history/docs/project-history.{language}.epub", 0.99
        yield "pdf", language, DOC / f"debian-history/docs/project-history.{language}.pdf", 0.99
    # Cells of its wide tables come in another order.
    yield "pdf", "ja", REFERENCE, 0.95
    for workbook in sorted((DOC / "xlsx2csv/examples/test").glob("*.xlsx")):
        if workbook.stem not in OTHER_DATES:
            yield "xlsx", "en", workbook, 0.99
    yield "pptx", "en", PACKAGES / "usr/lib/R/site-library/officer/doc_examples/example.pptx", 0.99
    yield "pptx", "en", SAMPLES / "pptx.pptx", 0.99
    yield "odp", "en", SAMPLES / "odp.odp", 0.99
    for talk in sorted((DOC / "python-py7zr-doc/html/_downloads").glob("*/*.odp")):
        yield "odp", "ja", talk, 0.99


def pandoc(reader: str) -> Callable[[Path], str]:
    """The text of the HTML that pandoc writes: its plain text has the columns of tables beside each other."""
    return lambda path: html_text(output(["pandoc", "--from", reader, "--to", "html", "--wrap=none", str(path)]))


def html_text(html: str) -> str:
    texts: list[str] = []
    parser = HTMLParser()
    parser.handle_data = texts.append
    parser.feed(html)
    return " ".join(texts)


def pdftotext(path: Path) -> str:
    return output(["pdftotext", "-enc", "UTF-8", str(path), "-"])


def xlsx2csv(path: Path) -> str:
    """The first sheet, as the program of the package writes it."""
    return output([sys.executable, str(PACKAGES / "usr/share/xlsx2csv/xlsx2csv.py"), str(path)])


def python_pptx(path: Path) -> str:
    texts = []
    for slide in Presentation(str(path)).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                texts.append(shape.text_frame.text)
            elif shape.has_table:
                texts += [cell.text for row in shape.table.rows for cell in row.cells]
    return "\n".join(texts)


def odfpy(path: Path) -> str:
    pages = load(str(path)).getElementsByType(Page)
    return "\n".join(teletype.extractText(paragraph) for page in pages for paragraph in page.getElementsByType(P))


def output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


READERS: dict[str, tuple[str, Callable[[Path], str]]] = {
    "docx": ("pandoc", pandoc("docx")),
    "odt": ("pandoc", pandoc("odt")),
    "epub": ("pandoc", pandoc("epub")),
    "pdf": ("pdftotext", pdftotext),
    "xlsx": ("xlsx2csv", xlsx2csv),
    "pptx": ("python-pptx", python_pptx),
    "odp": ("odfpy", odfpy),
}
