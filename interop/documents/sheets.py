"""Workbooks and values in text: the corpus of the sheet converters, and hostile ones."""

import csv
import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import xlsxwriter
from openpyxl.comments import Comment
from openpyxl.worksheet.table import Table

from case import Case

WORDS = {
    "en": {
        "sheets": ["Sales 2025", "Staff", "Archive", "Notes & more"],
        "title": "Sales by region",
        "header": ["Region", "Quarter", "Amount", "Share", "Date"],
        "regions": ["North", "South", "East", "West", "Central | Hills", "Far*East_Coast"],
        "currency": ("$#,##0.00", lambda amount: f"${amount:,.2f}"),
        "date": "m/d/yyyy",
        "comment": "The amount was corrected in March after the audit.",
        "author": "Ann Smith",
        "note": "First line\nsecond line",
        "link": "Handbook",
        "people": [["Ann", "Smith", "Sales"], ["Bob", "Miller", "Purchase"], ["Carol", "O'Neill", "\"Legal\""]],
    },
    "ja": {
        "sheets": ["売上 2025年", "社員名簿", "旧データ", "備考・その他"],
        "title": "地域別の売上高",
        "header": ["地域", "四半期", "金額", "構成比", "計上日"],
        "regions": ["北海道", "東北", "関東", "近畿", "中国｜四国", "九州*沖縄"],
        "currency": ('[$¥-411]#,##0', lambda amount: f"¥{int(amount + 0.5):,}"),
        "date": '[$-411]ggge"年"m"月"d"日"',
        "comment": "監査の結果、三月に金額を訂正した。",
        "author": "田中 一郎",
        "note": "一行目です\n二行目です",
        "link": "社内ハンドブック",
        "people": [["田中", "一郎", "営業部"], ["鈴木", "花子", "購買部"], ["高橋", "次郎", "「法務」課"]],
    },
}


def cases(folder: Path) -> Iterator[Case]:
    for language in WORDS:
        yield report(folder, language)
        yield calculated(folder, language)
        yield blocks(folder, language)
        yield wide(folder, language)
        yield spreadsheet(folder, language)
        yield from values(folder, language)
    yield long(folder)


def rows_of(language: str) -> list[tuple[str, int, float, float, date]]:
    regions = WORDS[language]["regions"]
    return [
        (region, quarter, 1234.5 + 987.25 * number + 100_000 * quarter, round(0.01 * (number + quarter), 3), date(2025, 3 * quarter, 1 + number))
        for number, region in enumerate(regions)
        for quarter in range(1, 5)
    ]


def shown_rows(language: str) -> list[list[str]]:
    shown = WORDS[language]["currency"][1]
    return [[region, str(quarter), shown(amount), f"{share * 100:.1f}%", day.isoformat()] for region, quarter, amount, share, day in rows_of(language)]


def report(folder: Path, language: str) -> Case:
    """A title over merged cells, currencies, percents, dates, a comment, a link, a table, a hidden sheet."""
    words = WORDS[language]
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = words["sheets"][0]
    sheet.append([words["title"]])
    sheet.merge_cells("A1:E1")
    sheet.append(words["header"])
    for row in rows_of(language):
        sheet.append(list(row))
        for cell, form in zip(sheet[sheet.max_row][2:], [words["currency"][0], "0.0%", words["date"]]):
            cell.number_format = form
    last = sheet.max_row
    sheet.cell(last + 1, 3, f"=SUM(C3:C{last})")
    sheet.cell(last + 2, 1, words["note"])
    sheet.cell(last + 2, 2, words["link"]).hyperlink = "https://example.org/handbook?a=1&b=2"
    sheet.cell(last + 2, 3, True)
    sheet.cell(last + 2, 4, time(13, 45))
    sheet.cell(last + 2, 5, datetime(2025, 12, 31, 23, 59, 58))
    sheet["C3"].comment = Comment(words["comment"], words["author"])
    sheet.add_table(Table(displayName="Totals", ref=f"A2:E{last}"))
    staff = book.create_sheet(words["sheets"][1])
    for row in words["people"]:
        staff.append(row)
    hidden = book.create_sheet(words["sheets"][2])
    hidden.append([words["title"], 0.125, -7, 1e-7, timedelta(hours=26, minutes=30)])
    hidden.sheet_state = "hidden"
    path = folder / f"report-{language}.xlsx"
    book.save(path)
    shown = shown_rows(language)
    note = words["note"].replace("\n", " br ")
    ending = [note, words["link"], "TRUE", "13:45:00", "2025-12-31T23:59:58"]
    secret = [words["title"], "0.125", "-7", "0.0000001", "26:30:00"]
    table = [[words["title"]], words["header"], *shown[1:], [f"=SUM(C3:C{last})"]]
    lines = [words["sheets"][0], words["title"], *flat([words["header"], *shown])]
    lines += [f"=SUM(C3:C{last})", note, words["link"], *ending[2:], "Totals", words["author"], words["comment"]]
    lines += [words["sheets"][1], *flat(words["people"]), words["sheets"][2], *secret]
    headings = [*words["sheets"][:2], words["sheets"][2] + " (hidden)"]
    return Case("xlsx", language, path, "\n".join(lines), headings, tables=[table, words["people"], [secret]])


def calculated(folder: Path, language: str) -> Case:
    """Formulas with values, rich text, text boxes, inline texts; hidden rows and columns."""
    words = WORDS[language]
    path = folder / f"calculated-{language}.xlsx"
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet(words["sheets"][3])
    bold = book.add_format({"bold": True})
    sheet.write_row(0, 0, words["header"][:3])
    table = [words["header"][:3]]
    for number, region in enumerate(words["regions"], 1):
        sheet.write(number, 0, region)
        sheet.write(number, 1, number)
        sheet.write_formula(number, 2, f"=B{number + 1}*2", None, number * 2)
        table.append([region, str(number), f"{number * 2} (=B{number + 1}*2)"])
    end = len(words["regions"]) + 1
    sheet.write_rich_string(end, 0, words["title"], bold, words["author"], words["link"])
    sheet.write_formula(end, 1, "=1/0", None, "#DIV/0!")
    sheet.write_formula(end, 2, f'=IF(B2>0,"{words["link"]}","")', None, words["link"])
    table.append([words["title"] + words["author"] + words["link"], "#DIV/0! (=1/0)", f'{words["link"]} (=IF(B2>0,"{words["link"]}",""))'])
    sheet.insert_textbox(end + 3, 0, words["comment"])
    sheet.set_row(2, None, None, {"hidden": True})
    sheet.set_column(4, 5, None, None, {"hidden": True})
    sheet.set_header(f"&L{words['author']}&R&P")
    book.close()
    text = "\n".join([words["sheets"][3], *flat(table), "Hidden columns: E:F", "Hidden rows: 3", words["author"], words["comment"]])
    return Case("xlsx", language, path, text, [words["sheets"][3]], tables=[table])


def blocks(folder: Path, language: str) -> Case:
    """Two blocks of cells on a sheet, away from its corner."""
    words = WORDS[language]
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = words["sheets"][0]
    for at, row in enumerate([words["header"][:3], *words["people"]]):
        for column, value in enumerate(row):
            sheet.cell(3 + at, 2 + column, value)
            sheet.cell(20 + at, 4 + column, value + value)
    path = folder / f"blocks-{language}.xlsx"
    book.save(path)
    first = [words["header"][:3], *words["people"]]
    second = [[value + value for value in row] for row in first]
    text = "\n".join([words["sheets"][0], "Cells B3:D6", *flat(first), "Cells D20:F23", *flat(second)])
    return Case("xlsx", language, path, text, [words["sheets"][0]], tables=[first, second])


def wide(folder: Path, language: str) -> Case:
    """A table of fifty columns, as wide as a table in Markdown may be."""
    words = WORDS[language]
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(words["sheets"][1])
    table = [[f"{words['regions'][column % 6]} {column} {row}" for column in range(50)] for row in range(40)]
    for row in table:
        sheet.append(row)
    path = folder / f"wide-{language}.xlsx"
    book.save(path)
    return Case("xlsx", language, path, "\n".join([words["sheets"][1], *flat(table)]), [words["sheets"][1]], tables=[table])


def long(folder: Path) -> Case:
    """A hundred thousand rows, of which Markdown has the first thousand."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Long")
    sheet.append(["Number", "Name", "Amount", "Share", "Word", "A", "B", "C", "D", "E"])
    for number in range(100_000):
        sheet.append([number, f"name {number}", number * 1.25, number / 7, "word", number % 3, number % 5, number % 7, "x", "y"])
    path = folder / "long-en.xlsx"
    book.save(path)
    rows = [[str(number), f"name {number}"] for number in range(1_000)]
    text = "\n".join(["Long", *flat(rows), "99000 more rows are left out"])
    return Case("xlsx", "en", path, text, ["Long"])


def spreadsheet(folder: Path, language: str) -> Case:
    """An OpenDocument spreadsheet: repeated cells and rows, merged and covered cells, a comment, a hidden sheet."""
    from odf.dc import Creator
    from odf.office import Annotation
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.style import Style, TableProperties
    from odf.table import CoveredTableCell, TableCell, TableColumn, TableRow
    from odf.table import Table as OdfTable
    from odf.text import A, P

    words = WORDS[language]
    document = OpenDocumentSpreadsheet()
    hidden_style = Style(name="ta9", family="table")
    hidden_style.addElement(TableProperties(display="false"))
    document.automaticstyles.addElement(hidden_style)

    def cell(text: str, **attributes) -> TableCell:
        made = TableCell(**attributes)
        for line in text.split("\n"):
            made.addElement(P(text=line))
        return made

    def row(*cells, **attributes) -> TableRow:
        made = TableRow(**attributes)
        for one in cells:
            made.addElement(one)
        return made

    sheet = OdfTable(name=words["sheets"][0])
    sheet.addElement(TableColumn(numbercolumnsrepeated=1024))
    sheet.addElement(row(cell(words["title"], valuetype="string", numbercolumnsspanned=3, numberrowsspanned=1), CoveredTableCell(numbercolumnsrepeated=2)))
    sheet.addElement(row(*(cell(text, valuetype="string") for text in words["header"])))
    shown = shown_rows(language)
    for raw, texts in zip(rows_of(language), shown):
        sheet.addElement(
            row(
                cell(texts[0], valuetype="string"),
                cell(texts[1], valuetype="float", value=raw[1]),
                cell(texts[2], valuetype="currency", value=raw[2]),
                cell(texts[3], valuetype="percentage", value=raw[3]),
                cell(raw[4].strftime("%d.%m.%y"), valuetype="date", datevalue=raw[4].isoformat()),
            )
        )
    commented = cell("42", valuetype="float", value=42, formula="of:=SUM([.B3:.B6])")
    note = Annotation()
    creator = Creator()
    creator.addText(words["author"])
    note.addElement(creator)
    note.addElement(P(text=words["comment"]))
    commented.addElement(note)
    linked = TableCell(valuetype="string")
    paragraph = P()
    paragraph.addElement(A(href="https://example.org/", text=words["link"]))
    linked.addElement(paragraph)
    sheet.addElement(row(cell(words["note"], valuetype="string"), linked, cell("13:45", valuetype="time", timevalue="PT13H45M00S"), cell("x", valuetype="string", numbercolumnsrepeated=3)))
    sheet.addElement(row(TableCell(formula="of:=[.A1]&[.B1]"), commented))
    sheet.addElement(row(cell("again", valuetype="string"), numberrowsrepeated=3))
    sheet.addElement(row(TableCell(numbercolumnsrepeated=1024), numberrowsrepeated=1048000))
    document.spreadsheet.addElement(sheet)
    hidden = OdfTable(name=words["sheets"][2], stylename=hidden_style)
    for person in words["people"]:
        hidden.addElement(row(*(cell(text, valuetype="string") for text in person)))
    document.spreadsheet.addElement(hidden)
    path = folder / f"report-{language}.ods"
    document.save(str(path))
    note_text = words["note"].replace("\n", " br ")
    ending = [note_text, words["link"], "13:45:00", "x", "x", "x"]
    lines = [words["sheets"][0], words["title"], *flat([words["header"], *shown]), note_text, words["link"], *ending[2:], "=A1&B1", "42 (=SUM(B3:B6))"]
    lines += ["again"] * 3 + [words["author"], words["comment"], words["sheets"][2], *flat(words["people"])]
    table = [[words["title"]], words["header"], *shown, ["again"]]
    return Case("ods", language, path, "\n".join(lines), [words["sheets"][0], words["sheets"][2] + " (hidden)"], tables=[table, words["people"]])


def values(folder: Path, language: str) -> Iterator[Case]:
    """Values in text, in the charsets and with the delimiters that programs write."""
    words = WORDS[language]
    table = [words["header"], *([*row[:1], "x, y; z", *row[2:]] for row in shown_rows(language))]
    charsets = {"en": ["utf-8", "utf-8-sig", "utf-16", "cp1252"], "ja": ["utf-8", "utf-8-sig", "utf-16", "cp932", "euc-jp"]}
    for charset in charsets[language]:
        for ending, delimiter in [("csv", ","), ("csv", ";"), ("csv", "\t"), ("tsv", "\t")]:
            out = io.StringIO()
            csv.writer(out, delimiter=delimiter).writerows(table)
            name = {",": "comma", ";": "semicolon", "\t": "tab"}[delimiter]
            path = folder / f"values-{name}-{charset}-{language}.{ending}"
            path.write_bytes(out.getvalue().encode(charset, errors="replace"))
            yield Case(ending, language, path, "\n".join(flat(table)), tables=[table])


def flat(rows: list[list[str]]) -> list[str]:
    return [cell for row in rows for cell in row]


# Hostile workbooks.

CONTENT_TYPES = """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"""
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORKBOOK = f'<workbook xmlns:r="{OFFICE}"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>'
ODS_HEAD = '<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body><office:spreadsheet>'
ODS_TAIL = "</office:spreadsheet></office:body></office:document-content>"


def workbook(path: Path, sheet: bytes | str, **parts: bytes | str) -> Path:
    """A workbook with one sheet, whose XML is given, and more parts; `__` in a name stands for a slash."""
    relation = f'<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    shared = f'<Relationship Id="rId2" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
    contents = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": RELATIONS.format(f'<Relationship Id="r" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'),
        "xl/workbook.xml": WORKBOOK,
        "xl/_rels/workbook.xml.rels": RELATIONS.format(relation + shared),
        "xl/worksheets/sheet1.xml": sheet,
    } | {name.replace("__", "/") + ".xml": content for name, content in parts.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in contents.items():
            package.writestr(name, content)
    return path


def open_document(path: Path, content: bytes | str, **parts: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr("content.xml", content)
        for name, text in parts.items():
            package.writestr(name.replace("__", "/") + ".xml", text)
    return path


def hostile(folder: Path) -> Iterator[tuple[str, Path]]:
    cell = '<worksheet><dimension ref="A1:XFD1048576"/><sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
    yield "one cell in the last corner", workbook(folder / "corner.xlsx", cell)
    yield "a part of a gigabyte of spaces", workbook(folder / "bomb.xlsx", b"<worksheet><sheetData>" + b" " * (1 << 30))
    strings = '<worksheet><sheetData><row><c t="s"><v>99999999999</v></c><c t="s"><v>-1</v></c><c><v>x</v></c></row></sheetData></worksheet>'
    yield "texts that are not there", workbook(folder / "strings.xlsx", strings, xl__sharedStrings="<sst/>")
    entities = '<!DOCTYPE x [<!ENTITY a "{}">{}]>'.format("a" * 1000, "".join(f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(10)))
    sheet = "<worksheet><sheetData><row><c t='inlineStr'><is><t>&k;</t></is></c></row></sheetData></worksheet>"
    yield "a billion laughs", workbook(folder / "laughs.xlsx", entities + sheet)
    file = '<!DOCTYPE x [<!ENTITY k SYSTEM "file:///etc/passwd">]>'
    yield "an entity from a file", workbook(folder / "entity.xlsx", file + sheet)
    yield "elements a million deep", workbook(folder / "deep.xlsx", "<a>" * 1_000_000)
    merges = "".join(f'<mergeCell ref="A{n}:XFD1048576"/>' for n in range(1, 50_000))
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><v>{n}</v></c></row>' for n in range(1, 50_000))
    yield "merged ranges over each other", workbook(folder / "merges.xlsx", f"<worksheet><sheetData>{rows}</sheetData><mergeCells>{merges}</mergeCells></worksheet>")
    wide_rows = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 200_000))
    yield "a cell in the last column of each row", workbook(folder / "right.xlsx", f"<worksheet><sheetData>{wide_rows}</sheetData></worksheet>")
    backwards = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c></row>' for n in range(1000, 0, -1))
    yield "rows in the wrong order", workbook(folder / "backwards.xlsx", f"<worksheet><sheetData>{backwards}</sheetData></worksheet>")
    attributes = " ".join(f'a{n}="1"' for n in range(200_000))
    yield "an element with many attributes", workbook(folder / "attributes.xlsx", f"<worksheet><sheetData><row {attributes}><c><v>1</v></c></row></sheetData></worksheet>")
    outside = WORKBOOK.replace('r:id="rId1"', 'r:id="../../../etc/passwd"')
    yield "a relation that is not there", workbook(folder / "relation.xlsx", "<worksheet/>", xl__workbook=outside)
    yield "sheets without end", workbook(folder / "sheets.xlsx", "<worksheet/>", xl__workbook="<workbook><sheets>" + '<sheet name="x" id="rId1"/>' * 100_000 + "</sheets></workbook>")
    formula = '<row><c><f t="shared" si="0">' + "A1+" * 100_000 + 'A1</f></c></row>' + '<row><c><f t="shared" si="0"/></c></row>' * 20_000
    yield "a long formula that many cells share", workbook(folder / "shared.xlsx", f"<worksheet><sheetData>{formula}</sheetData></worksheet>")
    same = "".join("<row>" + '<c t="s"><v>0</v></c>' * 1_000 + "</row>" for _ in range(1_000))
    yield "one text of thirty megabytes in a million cells", workbook(folder / "text.xlsx", f"<worksheet><sheetData>{same}</sheetData></worksheet>", xl__sharedStrings=f"<sst><si><t>{'x' * 30_000_000}</t></si></sst>")
    good = folder / "good.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["a", 1])
    book.save(good)
    content = good.read_bytes()
    for share in (10, 50, 90, 99):
        path = folder / f"cut-{share}.xlsx"
        path.write_bytes(content[: len(content) * share // 100])
        yield f"cut off after {share} %", path
    compound = folder / "password.xlsx"
    compound.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(1000))
    yield "a workbook with a password", compound
    old = folder / "old.xlsx"
    old.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504) + "Workbook".encode("utf-16-le") + bytes(1000))
    yield "a workbook of Excel 97", old
    repeated = '<table:table table:name="x">{}</table:table>'
    row = '<table:table-row table:number-rows-repeated="{}">{}</table:table-row>'
    full = '<table:table-cell office:value-type="string" table:number-columns-repeated="{}"><text:p>boom</text:p></table:table-cell>'
    everywhere = repeated.format(row.format(1048576, full.format(16384)))
    yield "a cell repeated over the whole sheet", open_document(folder / "repeated.ods", ODS_HEAD + everywhere + ODS_TAIL)
    beyond = repeated.format(row.format(4294967295, full.format(4294967295)) * 1000)
    yield "rows repeated beyond the sheet", open_document(folder / "beyond.ods", ODS_HEAD + beyond + ODS_TAIL)
    overflow = repeated.format(row.format("99999999999999999999", full.format("-1")))
    yield "a repetition that is no number", open_document(folder / "overflow.ods", ODS_HEAD + overflow + ODS_TAIL)
    yield "an OpenDocument part that is cut off", open_document(folder / "cut.ods", ODS_HEAD + everywhere)
    manifest = '<manifest><file-entry full-path="content.xml"><encryption-data/></file-entry></manifest>'
    yield "a spreadsheet with a password", open_document(folder / "password.ods", b"\x00\x01\x02", **{"META-INF__manifest": manifest})
    spaces = repeated.format(row.format(1, '<table:table-cell office:value-type="string"><text:p>' + '<text:s text:c="4294967295"/>' * 1000 + "</text:p></table:table-cell>"))
    yield "spaces without end", open_document(folder / "spaces.ods", ODS_HEAD + spaces + ODS_TAIL)
    quotes = folder / "quotes.csv"
    quotes.write_text('"' * 5_000_001 + ',"\n' * 1_000_000)
    yield "quotes without end", quotes
    commas = folder / "commas.csv"
    commas.write_text("," * 20_000_000)
    yield "a record of twenty million fields", commas
    zeros = folder / "zeros.csv"
    zeros.write_bytes(bytes(1_000_000))
    yield "values of zeros", zeros
