"""Presentations of the corpus: PowerPoint and OpenDocument, in English and Japanese."""

import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from case import Case
from office_hostile import hostile_slides as hostile  # noqa: F401 - the suite takes it from here
from office_text import LANGUAGES, OfficeText

from odf import dc, draw, office, presentation, style, table as odf_table, text as odf_text
from odf.opendocument import OpenDocumentPresentation
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches


def cases(folder: Path) -> Iterator[Case]:
    """Writes all presentations into `folder`."""
    for language, text in LANGUAGES.items():
        yield pptx_plain(folder, language, text)
        yield pptx_special(folder, language, text)
        yield pptx_large(folder, language, text)
        yield odp_plain(folder, language, text)


def add_bullets(slide, items) -> None:
    frame = slide.placeholders[1].text_frame
    for at, (level, words) in enumerate(items):
        paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
        paragraph.text, paragraph.level = words, level


def pptx_plain(folder: Path, language: str, text: OfficeText) -> Case:
    """A title slide, lists of two levels, speaker notes, a table with merged cells, a hidden slide."""
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text, first.placeholders[1].text = text.title, text.paragraphs[0]
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = text.chapters[0]
    add_bullets(second, [(0, text.bullets[0]), (1, text.bullets[1]), (0, text.bullets[2])])
    second.notes_slide.notes_text_frame.text = text.notes
    third = deck.slides.add_slide(deck.slide_layouts[5])
    third.shapes.title.text = text.chapters[1]
    grid = third.shapes.add_table(5, 3, Inches(1), Inches(2), Inches(8), Inches(3)).table
    rows = [text.header, *text.rows]
    for at, row in enumerate(rows):
        for column, word in enumerate(row):
            grid.cell(at, column).text = word
    grid.cell(4, 0).merge(grid.cell(4, 1))
    grid.cell(4, 0).text, grid.cell(4, 2).text = text.box, text.link
    fourth = deck.slides.add_slide(deck.slide_layouts[1])
    fourth.shapes.title.text = text.chapters[2]
    add_bullets(fourth, [(0, words) for words in text.numbers])
    fourth._element.set("show", "0")
    path = folder / f"plain-{language}.pptx"
    deck.save(path)
    tables = [[list(row) for row in rows] + [[text.box, text.link]]]
    words = [text.title, text.paragraphs[0], text.chapters[0], *text.bullets, text.notes, text.chapters[1], *(word for row in tables[0] for word in row), text.chapters[2], *text.numbers]
    headings = [f"Slide 1: {text.title}", f"Slide 2: {text.chapters[0]}", f"Slide 3: {text.chapters[1]}", f"Slide 4: {text.chapters[2]} (hidden)"]
    return Case("pptx", language, path, "\n".join(words), headings, [*text.bullets, *text.numbers], tables)


def pptx_special(folder: Path, language: str, text: OfficeText) -> Case:
    """Slides in another order than their parts, grouped shapes, a chart, an image, links, comments, SmartArt, footers."""
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[5])
    first.shapes.title.text = text.chapters[1]
    group = first.shapes.add_group_shape()
    for words in text.bullets[:2]:
        group.shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1)).text_frame.text = words
    run = first.shapes.add_textbox(Inches(1), Inches(3), Inches(3), Inches(1)).text_frame.paragraphs[0].add_run()
    run.text, run.hyperlink.address = text.link, "https://example.org/register"
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = text.chapters[0]
    data = CategoryChartData()
    data.categories = [row[0] for row in text.rows]
    data.add_series(text.header[1], (1, 2, 3))
    chart = second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(4), Inches(3), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = text.sections[0]
    image = io.BytesIO()
    Image.new("RGB", (4, 4)).save(image, "PNG")
    picture = second.shapes.add_picture(image, 0, 0)
    picture._element.nvPicPr.cNvPr.set("descr", text.box)
    ids = deck.slides._sldIdLst
    ids.insert(0, ids[1])
    path = folder / f"special-{language}.pptx"
    deck.save(path)
    add_comment_and_diagram(path, text)
    categories = [word for at, row in enumerate(text.rows, 1) for word in (row[0], str(at))]
    words = [text.chapters[0], text.sections[0], text.header[1], *categories, text.box, text.chapters[1], *text.bullets[:2], text.link, *text.numbers, text.comment]
    headings = [f"Slide 1: {text.chapters[0]}", f"Slide 2: {text.chapters[1]}"]
    rows = [[text.header[1]]] + [[row[0], str(at)] for at, row in enumerate(text.rows, 1)]
    return Case("pptx", language, path, "\n".join(words), headings, list(text.numbers), [rows])


def add_comment_and_diagram(path: Path, text: OfficeText) -> None:
    """Adds a comment and a diagram to the first part of a slide, which python-pptx cannot."""
    base = "http://schemas.openxmlformats.org"
    office = f"{base}/officeDocument/2006/relationships"
    drawing = f"{base}/drawingml/2006"
    point = lambda id, words: f'<dgm:pt modelId="{id}"><dgm:t><a:p><a:r><a:t>{words}</a:t></a:r></a:p></dgm:t></dgm:pt>'
    link = lambda at: f'<dgm:cxn modelId="9{at}" srcId="0" destId="{at}" srcOrd="{at}"/>'
    # The points are in another order than their connections.
    points = "".join(point(at, words) for at, words in reversed(list(enumerate(text.numbers, 1))))
    diagram = f'<dgm:dataModel xmlns:dgm="{drawing}/diagram" xmlns:a="{drawing}/main"><dgm:ptLst><dgm:pt modelId="0" type="doc"/>{points}</dgm:ptLst><dgm:cxnLst>{link(1)}{link(2)}{link(3)}</dgm:cxnLst></dgm:dataModel>'
    frame = f'<p:graphicFrame><a:graphic><a:graphicData uri="{drawing}/diagram"><dgm:relIds xmlns:dgm="{drawing}/diagram" xmlns:r="{office}" r:dm="rIdData"/></a:graphicData></a:graphic></p:graphicFrame></p:spTree>'
    comment = f'<p:cmLst xmlns:p="{base}/presentationml/2006/main"><p:cm authorId="0" dt="2024-05-06T07:08:09"><p:text>{text.comment}</p:text></p:cm></p:cmLst>'
    authors = f'<p:cmAuthorLst xmlns:p="{base}/presentationml/2006/main"><p:cmAuthor id="0" name="{text.author}"/></p:cmAuthorLst>'
    relationship = lambda id, kind, target: f'<Relationship Id="{id}" Type="{office}/{kind}" Target="{target}"/>'
    changes = {
        "ppt/slides/slide1.xml": ("</p:spTree>", frame),
        "ppt/slides/_rels/slide1.xml.rels": ("</Relationships>", relationship("rIdData", "diagramData", "../diagrams/data1.xml") + relationship("rIdComments", "comments", "../comments/comment1.xml") + "</Relationships>"),
        "ppt/_rels/presentation.xml.rels": ("</Relationships>", relationship("rIdAuthors", "commentAuthors", "commentAuthors.xml") + "</Relationships>"),
    }
    additions = {"ppt/diagrams/data1.xml": diagram, "ppt/comments/comment1.xml": comment, "ppt/commentAuthors.xml": authors}
    content = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if name in changes:
                part = part.decode().replace(*changes[name]).encode()
            new.writestr(name, part)
        for name, part in additions.items():
            new.writestr(name, part)


def pptx_large(folder: Path, language: str, text: OfficeText) -> Case:
    """Two hundred slides with notes."""
    deck = Presentation()
    parts, headings = [], []
    for at in range(1, 201):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"{text.chapters[at % 3]} {at}"
        add_bullets(slide, [(0, text.bullets[0]), (1, text.paragraphs[at % 3]), (0, text.bullets[2])])
        slide.notes_slide.notes_text_frame.text = f"{text.notes} {at}"
        headings.append(f"Slide {at}: {text.chapters[at % 3]} {at}")
        # With the words around them: comparing texts of this length takes long unless they are equal.
        parts += [headings[-1], text.bullets[0], text.paragraphs[at % 3], text.bullets[2], f"Notes: {text.notes} {at}"]
    path = folder / f"large-{language}.pptx"
    deck.save(path)
    return Case("pptx", language, path, "\n".join(parts), headings, [text.bullets[0]])


def odp_plain(folder: Path, language: str, text: OfficeText) -> Case:
    """Titles, lists, a text box, a table, speaker notes, a comment, a hidden slide."""
    deck = OpenDocumentPresentation()
    layout = style.PageLayout(name="layout")
    deck.automaticstyles.addElement(layout)
    master = style.MasterPage(name="master", pagelayoutname=layout)
    deck.masterstyles.addElement(master)
    hidden = style.Style(name="hidden", family="drawing-page")
    hidden.addElement(style.DrawingPageProperties(visibility="hidden"))
    deck.automaticstyles.addElement(hidden)
    parts, headings = [], []
    for at, (title, items) in enumerate(((text.title, text.bullets), (text.chapters[0], text.numbers)), 1):
        page = draw.Page(masterpagename=master, stylename=hidden) if at == 2 else draw.Page(masterpagename=master)
        deck.presentation.addElement(page)
        page.addElement(frame("title", odf_text.P(text=title)))
        found = odf_text.List()
        for words in items:
            item = odf_text.ListItem()
            item.addElement(odf_text.P(text=words))
            found.addElement(item)
        page.addElement(frame("outline", found))
        page.addElement(frame(None, odf_text.P(text=text.paragraphs[at])))
        notes = presentation.Notes()
        notes.addElement(frame("notes", odf_text.P(text=f"{text.notes} {at}")))
        parts += [title, *items, text.paragraphs[at]]
        headings.append(f"Slide {at}: {title}" + (" (hidden)" if at == 2 else ""))
        if at == 1:
            page.addElement(table_frame(text))
            parts += [word for row in (text.header, *text.rows) for word in row]
        page.addElement(notes)
        parts.append(f"{text.notes} {at}")
    annotation = office.Annotation()
    annotation.addElement(dc.Creator(text=text.author))
    annotation.addElement(odf_text.P(text=text.comment))
    page.addElement(annotation, check_grammar=False)
    parts.append(text.comment)
    path = folder / f"plain-{language}.odp"
    deck.save(path)
    rows = [[list(row) for row in (text.header, *text.rows)]]
    return Case("odp", language, path, "\n".join(parts), headings, [*text.bullets, *text.numbers], rows)


def frame(kind: str | None, content) -> draw.Frame:
    found = draw.Frame(width="10cm", height="3cm", x="1cm", y="1cm")
    if kind:
        found.setAttribute("class", kind)
    box = draw.TextBox()
    box.addElement(content)
    found.addElement(box)
    return found


def table_frame(text: OfficeText) -> draw.Frame:
    found = draw.Frame(width="10cm", height="3cm", x="1cm", y="5cm")
    grid = odf_table.Table()
    grid.addElement(odf_table.TableColumn(numbercolumnsrepeated=3))
    for words in (text.header, *text.rows):
        row = odf_table.TableRow()
        for word in words:
            cell = odf_table.TableCell()
            cell.addElement(odf_text.P(text=word))
            row.addElement(cell)
        grid.addElement(row)
    found.addElement(grid)
    return found
