"""Word-processing documents of the corpus: Word, OpenDocument text and RTF, in English and Japanese."""

import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from case import Case
from office_hostile import hostile_word as hostile  # noqa: F401 - the suite takes it from here
from office_text import LANGUAGES, OfficeText
from word_odt import odt_cases
from word_rtf import rtf_cases

import docx
from docx.oxml import parse_xml

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
LINK = "https://example.org/register?id=7"


def cases(folder: Path) -> Iterator[Case]:
    """Writes all documents into `folder`."""
    for language, text in LANGUAGES.items():
        yield docx_plain(folder, language, text)
        yield docx_special(folder, language, text)
        yield docx_tables(folder, language, text)
        yield docx_localised(folder, language, text)
        yield docx_large(folder, language, text)
        yield from odt_cases(folder, language, text)
        yield from rtf_cases(folder, language, text)


def docx_plain(folder: Path, language: str, text: OfficeText) -> Case:
    """Headings, lists, a table, headers and footers, as python-docx writes them."""
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = text.page_header
    document.sections[0].footer.paragraphs[0].text = text.page_footer
    parts = [text.page_header]
    document.add_heading(text.title, 0)
    parts.append(text.title)
    for chapter, paragraph in zip(text.chapters, text.paragraphs):
        document.add_heading(chapter, 1)
        document.add_paragraph(paragraph)
        parts += [chapter, paragraph]
        for section in text.sections:
            document.add_heading(f"{chapter} {section}", 2)
            parts.append(f"{chapter} {section}")
    for style, items in (("List Bullet", text.bullets), ("List Number", text.numbers), ("List Bullet 2", text.bullets)):
        for item in items:
            document.add_paragraph(item, style=style)
            parts.append(item)
    parts += add_table(document, text)
    line = document.add_paragraph()
    for piece, bold in ((text.paragraphs[0][:10], True), (text.paragraphs[0][10:], False)):
        line.add_run(piece).bold = bold
    parts += [text.paragraphs[0], text.page_footer]
    path = folder / f"plain-{language}.docx"
    document.save(path)
    headings = [text.title, *text.chapters] + [f"{chapter} {section}" for chapter in text.chapters for section in text.sections]
    rows = [list(text.header), *map(list, text.rows)]
    return Case("docx", language, path, "\n".join(parts), headings, [*text.bullets, *text.numbers], [rows])


def add_table(document, text: OfficeText) -> list[str]:
    table = document.add_table(rows=0, cols=3)
    words = []
    for row in (text.header, *text.rows):
        for cell, word in zip(table.add_row().cells, row):
            cell.text = word
            words.append(word)
    return words


def docx_tables(folder: Path, language: str, text: OfficeText) -> Case:
    """Merged cells, a table in a cell, a cell of two paragraphs."""
    document = docx.Document()
    document.add_heading(text.title, 1)
    table = document.add_table(rows=4, cols=3)
    for row, words in zip(table.rows, (text.header, *text.rows)):
        for cell, word in zip(row.cells, words):
            cell.text = word
    # Over two columns in the last row, and over two rows in the first column.
    table.cell(3, 1).text = ""
    wide = table.cell(3, 1).merge(table.cell(3, 2))
    wide.text = text.box
    table.cell(2, 0).text = ""
    table.cell(1, 0).merge(table.cell(2, 0)).text = text.rows[0][0]
    rows = [
        list(text.header),
        list(text.rows[0]),
        ["", *text.rows[1][1:]],
        [text.rows[2][0], text.box],
    ]
    outer = document.add_table(rows=2, cols=2)
    outer.cell(0, 0).text = text.header[0]
    outer.cell(0, 1).text = text.header[1]
    outer.cell(1, 0).text = text.rows[0][0]
    inner = outer.cell(1, 1).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = text.bullets[0], text.bullets[1]
    words = [text.title, *(word for row in rows for word in row), text.header[0], text.header[1], text.rows[0][0], *text.bullets[:2]]
    path = folder / f"tables-{language}.docx"
    document.save(path)
    return Case("docx", language, path, "\n".join(words), [text.title], [], [rows, [list(text.header[:2]), [text.rows[0][0], " ".join(text.bullets[:2])]]])


def docx_special(folder: Path, language: str, text: OfficeText) -> Case:
    """Notes, comments, links, tracked changes, ruby, text boxes, fields, symbols, equations."""
    document = docx.Document()
    document.add_heading(text.title, 1)
    body = document.element.body
    add = lambda xml: body.insert(len(body) - 1, parse_xml(xml))
    run = lambda words: f'<w:r><w:t xml:space="preserve">{escape(words)}</w:t></w:r>'
    paragraph = lambda inner: add(f"<w:p {W}>{inner}</w:p>")
    paragraph(run(text.paragraphs[0]) + '<w:r><w:footnoteReference w:id="2"/></w:r>')
    paragraph(run(text.paragraphs[1] + " ") + f'<w:del w:id="9" w:author="x"><w:r><w:delText>{escape(text.deleted)}</w:delText></w:r></w:del>'
              + f'<w:ins w:id="10" w:author="x">{run(text.inserted)}</w:ins>' + f'<w:moveFrom w:id="11" w:author="x">{run(text.deleted)}</w:moveFrom>')
    field = lambda kind: f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'
    paragraph(field("begin") + f'<w:r><w:instrText xml:space="preserve"> HYPERLINK "{escape(LINK)}" </w:instrText></w:r>' + field("separate") + run(text.link) + field("end"))
    paragraph(f'<w:r><w:ruby><w:rubyPr/><w:rt>{run(text.reading)}</w:rt><w:rubyBase>{run(text.base)}</w:rubyBase></w:ruby></w:r>' + run(" " + text.bullets[0]))
    paragraph(text_box(text.box) + run(text.bullets[1]))
    paragraph(f'<w:sdt><w:sdtContent>{run(text.bullets[2])}</w:sdtContent></w:sdt><w:r><w:tab/></w:r><w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>')
    paragraph('<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>')
    commented = document.add_paragraph(text.paragraphs[2])
    document.add_comment(commented.runs, text=text.comment, author=text.author)
    path = folder / f"special-{language}.docx"
    document.save(path)
    add_footnotes(path, text.footnote)
    words = [text.title, text.paragraphs[0], text.paragraphs[1], text.inserted, text.link, f"{text.base}({text.reading})", text.bullets[0],
             text.bullets[1], text.box, text.bullets[2], "E=mc^2", text.paragraphs[2], text.footnote, text.comment]
    return Case("docx", language, path, "\n".join(words), [text.title], absent=[text.deleted])


def text_box(words: str) -> str:
    """A text box as Word writes it: once for new readers and once for old ones."""
    content = f"<w:txbxContent><w:p><w:r><w:t>{escape(words)}</w:t></w:r></w:p></w:txbxContent>"
    return (
        '<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps"><w:drawing>'
        '<wps:wsp xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:txbx>'
        f"{content}</wps:txbx></wps:wsp></w:drawing></mc:Choice><mc:Fallback><w:pict>"
        f'<v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox>{content}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>'
    )


def add_footnotes(path: Path, words: str) -> None:
    """Adds a part with one footnote, which python-docx cannot."""
    footnotes = (
        f'<w:footnotes {W}><w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote>'
        f'<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>{escape(words)}</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relationship = f'<Relationship Id="rIdNotes" Type="{kind}" Target="footnotes.xml"/></Relationships>'
    rewrite(path, {"word/_rels/document.xml.rels": lambda text: text.replace("</Relationships>", relationship)}, {"word/footnotes.xml": footnotes})


def docx_localised(folder: Path, language: str, text: OfficeText) -> Case:
    """Headings by styles with names of other languages, by outline level and by the style they are based on; lists by numbering."""
    style = lambda id, name, more: f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/>{more}</w:style>'
    styles = f"<w:styles {W}>" + style("1", "見出し 1", "") + style("berschrift2", "Überschrift 2", "") + style("own", "My own", '<w:basedOn w:val="1"/>') \
        + style("level", "Other", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>') + "</w:styles>"
    level = lambda at, format, pattern: f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{format}"/><w:lvlText w:val="{pattern}"/></w:lvl>'
    numbering = f'<w:numbering {W}><w:abstractNum w:abstractNumId="0">' + level(0, "decimal", "%1.") + level(1, "lowerLetter", "(%2)") + level(2, "bullet", "•") \
        + '</w:abstractNum><w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    styled = lambda id, words: f'<w:p><w:pPr><w:pStyle w:val="{id}"/></w:pPr><w:r><w:t>{escape(words)}</w:t></w:r></w:p>'
    item = lambda at, words: f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="5"/></w:numPr></w:pPr><w:r><w:t>{escape(words)}</w:t></w:r></w:p>'
    headings = [text.title, text.chapters[0], text.chapters[1], text.chapters[2]]
    body = "".join(styled(id, words) for id, words in zip(("1", "berschrift2", "own", "level"), headings))
    body += item(0, text.numbers[0]) + item(2, text.bullets[0]) + item(0, text.numbers[1]) + item(1, text.bullets[1])
    document = f"<w:document {W}><w:body>{body}</w:body></w:document>"
    path = folder / f"localised-{language}.docx"
    write_docx(path, document, {"styles": styles, "numbering": numbering})
    words = [*headings, text.numbers[0], text.bullets[0], text.numbers[1], text.bullets[1]]
    return Case("docx", language, path, "\n".join(words), headings, [text.numbers[0], text.bullets[0], text.numbers[1]])


def docx_large(folder: Path, language: str, text: OfficeText) -> Case:
    """About a hundred pages."""
    document = docx.Document()
    headings, parts = [], []
    for chapter in range(1, 101):
        heading = f"{text.chapters[chapter % 3]} {chapter}"
        document.add_heading(heading, 1)
        headings.append(heading)
        parts.append(heading)
        for at in range(12):
            words = f"{text.paragraphs[at % 3]} {text.paragraphs[(at + 1) % 3]} ({chapter}-{at})"
            document.add_paragraph(words)
            parts.append(words)
        for item in text.bullets:
            document.add_paragraph(item, style="List Bullet")
            parts.append(item)
        parts += add_table(document, text)
    path = folder / f"large-{language}.docx"
    document.save(path)
    return Case("docx", language, path, "\n".join(parts), headings, list(text.bullets), [[list(row) for row in text.rows]])


def escape(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def write_docx(path: Path, document: str, parts: dict[str, str] | None = None) -> None:
    """A Word document of these parts."""
    parts = parts or {}
    base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relationship = lambda id, kind, target: f'<Relationship Id="{id}" Type="{base}/{kind}" Target="{target}"/>'
    rels = lambda inner: f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inner}</Relationships>'
    office = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    override = lambda part, kind: f'<Override PartName="/word/{part}.xml" ContentType="{office}.{kind}+xml"/>'
    types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    types += override("document", "document.main") + "".join(override(part, part) for part in parts) + "</Types>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", types)
        package.writestr("_rels/.rels", rels(relationship("rId1", "officeDocument", "word/document.xml")))
        package.writestr("word/document.xml", document)
        package.writestr("word/_rels/document.xml.rels", rels("".join(relationship(f"r{part}", part, f"{part}.xml") for part in parts)))
        for part, content in parts.items():
            package.writestr(f"word/{part}.xml", content)


def rewrite(path: Path, changes: dict, additions: dict[str, str]) -> None:
    """Changes parts of a package and adds others."""
    content = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if name in changes:
                part = changes[name](part.decode()).encode()
            new.writestr(name, part)
        for name, part in additions.items():
            new.writestr(name, part)
