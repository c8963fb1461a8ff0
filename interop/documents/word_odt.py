"""OpenDocument texts of the corpus: lists, merged cells, notes, comments, tracked changes, ruby, text boxes."""

from collections.abc import Iterator
from pathlib import Path

from case import Case
from office_text import OfficeText

from odf import dc, draw, office, style, table, text as odf_text
from odf.element import Element
from odf.namespaces import TEXTNS
from odf.opendocument import OpenDocumentText


def odt_cases(folder: Path, language: str, text: OfficeText) -> Iterator[Case]:
    yield odt_plain(folder, language, text)
    yield odt_special(folder, language, text)


def paragraph(words: str = "", **more) -> Element:
    return odf_text.P(text=words, **more)


def item_list(items, style_name=None) -> Element:
    found = odf_text.List(stylename=style_name) if style_name else odf_text.List()
    for words in items:
        item = odf_text.ListItem()
        if isinstance(words, list):
            item.addElement(item_list(words))
        else:
            item.addElement(paragraph(words))
        found.addElement(item)
    return found


def odt_plain(folder: Path, language: str, text: OfficeText) -> Case:
    """Headings, lists of two levels, numbered lists, a table with merged cells, headers and footers."""
    document = OpenDocumentText()
    layout = style.PageLayout(name="layout")
    document.automaticstyles.addElement(layout)
    page = style.MasterPage(name="Standard", pagelayoutname=layout)
    header, footer = style.Header(), style.Footer()
    header.addElement(paragraph(text.page_header))
    footer.addElement(paragraph(text.page_footer))
    page.addElement(header)
    page.addElement(footer)
    document.masterstyles.addElement(page)
    numbers = odf_text.ListStyle(name="numbers")
    numbers.addElement(odf_text.ListLevelStyleNumber(level="1", numformat="1", numsuffix="."))
    bullets = odf_text.ListStyle(name="bullets")
    for level in "12":
        bullets.addElement(odf_text.ListLevelStyleBullet(level=level, bulletchar="•"))
    document.automaticstyles.addElement(numbers)
    document.automaticstyles.addElement(bullets)
    body = document.text
    body.addElement(odf_text.H(outlinelevel=1, text=text.title))
    body.addElement(paragraph(text.paragraphs[0]))
    body.addElement(odf_text.H(outlinelevel=2, text=text.chapters[0]))
    body.addElement(item_list([text.bullets[0], [text.bullets[1], text.bullets[2]]], "bullets"))
    body.addElement(item_list(text.numbers, "numbers"))
    grid = table.Table(name="grid")
    grid.addElement(table.TableColumn(numbercolumnsrepeated=3))
    for words in (text.header, *text.rows):
        row = table.TableRow()
        for word in words:
            cell = table.TableCell()
            cell.addElement(paragraph(word))
            row.addElement(cell)
        grid.addElement(row)
    row = table.TableRow()
    wide = table.TableCell(numbercolumnsspanned=2)
    wide.addElement(paragraph(text.box))
    row.addElement(wide)
    row.addElement(table.CoveredTableCell())
    last = table.TableCell()
    last.addElement(paragraph(text.link))
    row.addElement(last)
    grid.addElement(row)
    body.addElement(grid)
    body.addElement(paragraph(text.paragraphs[1]))
    path = folder / f"plain-{language}.odt"
    document.save(path)
    rows = [list(text.header), *map(list, text.rows), [text.box, text.link]]
    words = [text.page_header, text.title, text.paragraphs[0], text.chapters[0], *text.bullets, *text.numbers, *(word for row in rows for word in row), text.paragraphs[1], text.page_footer]
    return Case("odt", language, path, "\n".join(words), [text.title, text.chapters[0]], [*text.bullets, *text.numbers], [rows])


def odt_special(folder: Path, language: str, text: OfficeText) -> Case:
    """Notes, comments, links, tracked changes, ruby, a text box, spans, spaces and breaks."""
    document = OpenDocumentText()
    bold = style.Style(name="bold", family="text")
    bold.addElement(style.TextProperties(fontweight="bold"))
    document.automaticstyles.addElement(bold)
    body = document.text
    changes = odf_text.TrackedChanges()
    region = Element(qname=(TEXTNS, "changed-region"), qattributes={(TEXTNS, "id"): "c1"}, check_grammar=False)
    deletion = odf_text.Deletion()
    deletion.addElement(paragraph(text.deleted))
    region.addElement(deletion, check_grammar=False)
    changes.addElement(region, check_grammar=False)
    body.addElement(changes)
    body.addElement(odf_text.H(outlinelevel=1, text=text.title))
    line = paragraph(text.paragraphs[0])
    line.addElement(odf_text.Change(changeid="c1"))
    note = odf_text.Note(noteclass="footnote", id="n1")
    note.addElement(odf_text.NoteCitation(text="1"))
    inner = odf_text.NoteBody()
    inner.addElement(paragraph(text.footnote))
    note.addElement(inner)
    line.addElement(note)
    body.addElement(line)
    line = paragraph()
    line.addElement(odf_text.A(href="https://example.org/register", text=text.link))
    line.addElement(odf_text.LineBreak())
    line.addElement(odf_text.Span(stylename=bold, text=text.bullets[0]))
    body.addElement(line)
    line = paragraph()
    ruby = Element(qname=(TEXTNS, "ruby"), check_grammar=False)
    for name, words in (("ruby-base", text.base), ("ruby-text", text.reading)):
        part = Element(qname=(TEXTNS, name), check_grammar=False)
        part.addText(words, check_grammar=False)
        ruby.addElement(part, check_grammar=False)
    line.addElement(ruby, check_grammar=False)
    body.addElement(line)
    line = paragraph(text.bullets[1])
    frame = draw.Frame(width="5cm", height="2cm")
    box = draw.TextBox()
    box.addElement(paragraph(text.box))
    frame.addElement(box)
    line.addElement(frame)
    body.addElement(line)
    line = paragraph(text.paragraphs[2])
    annotation = office.Annotation()
    annotation.addElement(dc.Creator(text=text.author))
    annotation.addElement(dc.Date(text="2024-05-06T07:08:09"))
    annotation.addElement(paragraph(text.comment))
    line.addElement(annotation)
    body.addElement(line)
    path = folder / f"special-{language}.odt"
    document.save(path)
    words = [text.title, text.paragraphs[0], text.link, text.bullets[0], f"{text.base}({text.reading})", text.bullets[1], text.box, text.paragraphs[2], text.footnote, text.comment]
    return Case("odt", language, path, "\n".join(words), [text.title], absent=[text.deleted])
