"""Hostile word-processing documents and presentations."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from bombs import BOMB, deflated, packed, zip_file

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ODF = "urn:oasis:names:tc:opendocument:xmlns"
DEPTH = 100_000


def hostile_word(folder: Path) -> Iterator[tuple[str, Path]]:
    """Attacks with docx, odt and rtf."""
    for name, body in word_bodies():
        yield f"docx: {name}", package(folder / f"{slug(name)}.docx", word_parts(f'<w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}"><w:body>{body}</w:body></w:document>'))
    yield "docx: entities that expand", package(folder / "entities.docx", word_parts(laughs(f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>&e9;</w:t></w:r></w:p></w:body></w:document>')))
    yield "docx: external entity", package(folder / "external-entity.docx", word_parts(external(f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>')))
    rels = f'<Relationship Id="r1" Type="{OFFICE}/header" Target="../../../../etc/passwd"/><Relationship Id="r2" Type="{OFFICE}/footnotes" Target="file:///etc/passwd" TargetMode="External"/><Relationship Id="r3" Type="{OFFICE}/hyperlink" Target="javascript:alert(1)" TargetMode="External"/>'
    document = f'<w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}"><w:body><w:p><w:hyperlink r:id="r3"><w:r><w:t>click</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id="1"/></w:r></w:p><w:sectPr><w:headerReference r:id="r1"/></w:sectPr></w:body></w:document>'
    yield "docx: relationships that leave the package", package(folder / "outside.docx", word_parts(document, rels))
    path = folder / "bomb.docx"
    parts = {name: packed(part.encode()) for name, part in word_parts("").items()}
    head = f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>'.encode()
    parts["word/document.xml"] = deflated(head=head), len(head) + BOMB, 0
    path.write_bytes(zip_file(parts))
    yield "docx: a part that unpacks to ten gigabytes", path
    yield from broken(folder, "docx", package(folder / "whole.docx", word_parts(f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>whole</w:t></w:r></w:p></w:body></w:document>')))
    for name, body in odf_bodies():
        yield f"odt: {name}", package(folder / f"{slug(name)}.odt", odf_parts("text", body))
    encrypted = odf_parts("text", "<text:p>x</text:p>")
    encrypted["META-INF/manifest.xml"] = f'<m:manifest xmlns:m="{ODF}:manifest:1.0"><m:file-entry m:full-path="content.xml"><m:encryption-data/></m:file-entry></m:manifest>'
    yield "odt: protected by a password", package(folder / "protected.odt", encrypted)
    yield from broken(folder, "odt", package(folder / "whole.odt", odf_parts("text", "<text:p>whole</text:p>")))
    for name, content in rtf_bodies():
        path = folder / f"{slug(name)}.rtf"
        path.write_bytes(content)
        yield f"rtf: {name}", path


def hostile_slides(folder: Path) -> Iterator[tuple[str, Path]]:
    """Attacks with pptx and odp."""
    shape = lambda inner: f"<p:sp><p:txBody><a:p><a:r><a:t>{inner}</a:t></a:r></a:p></p:txBody></p:sp>"
    bodies = {
        "groups in groups": "<p:grpSp>" * DEPTH + shape("deep") + "</p:grpSp>" * DEPTH,
        "a table with huge spans": '<p:graphicFrame><a:graphic><a:graphicData><a:tbl>' + '<a:tr><a:tc gridSpan="65535" rowSpan="65535"><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc></a:tr>' * 500 + "</a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
        "a number of huge start": '<p:sp><p:txBody><a:p><a:pPr lvl="99999999999"><a:buAutoNum type="alphaLcPeriod" startAt="4294967295"/></a:pPr><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>' * 3,
    }
    for name, body in bodies.items():
        yield f"pptx: {name}", package(folder / f"{slug(name)}.pptx", slide_parts(body))
    yield "pptx: one slide a hundred thousand times", package(folder / "repeated.pptx", slide_parts(shape("once" * 1000), DEPTH))
    entities = slide_parts(shape("&e9;"))
    entities["ppt/slides/slide1.xml"] = laughs(entities["ppt/slides/slide1.xml"])
    yield "pptx: entities that expand", package(folder / "entities.pptx", entities)
    yield from broken(folder, "pptx", package(folder / "whole.pptx", slide_parts(shape("whole"))))
    deep = "<draw:g>" * DEPTH + "</draw:g>" * DEPTH
    yield "odp: groups in groups", package(folder / "groups.odp", odf_parts("presentation", f"<draw:page>{deep}</draw:page>"))
    yield from broken(folder, "odp", package(folder / "whole.odp", odf_parts("presentation", "<draw:page/>")))


def word_bodies() -> Iterator[tuple[str, str]]:
    run = "<w:r><w:t>x</w:t></w:r>"
    yield "elements in elements", "<w:p>" + "<w:smartTag>" * DEPTH + run + "</w:smartTag>" * DEPTH + "</w:p>"
    yield "tables in tables", "<w:tbl><w:tr><w:tc>" * DEPTH + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * DEPTH
    yield "cells with huge spans", "<w:tbl>" + f'<w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p>{run}</w:p></w:tc></w:tr>' * 5000 + "</w:tbl>"
    yield "fields without end", "<w:p>" + '<w:r><w:fldChar w:fldCharType="begin"/></w:r>' * DEPTH + run + "</w:p>"
    yield "one note a hundred thousand times", "<w:p>" + '<w:r><w:footnoteReference w:id="1"/></w:r>' * DEPTH + "</w:p>"
    yield "a style of its own parent", f'<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr>{run}</w:p>'


def odf_bodies() -> Iterator[tuple[str, str]]:
    yield "lists in lists", "<text:list><text:list-item>" * DEPTH + "<text:p>x</text:p>" + "</text:list-item></text:list>" * DEPTH
    yield "a billion spaces and columns", '<text:p>a<text:s text:c="1000000000"/>b</text:p><table:table>' + '<table:table-row table:number-rows-repeated="1000000000"><table:table-cell table:number-columns-repeated="1000000000"/></table:table-row>' * 100 + "</table:table>"
    yield "notes in notes", "<text:p>" + "<text:note><text:note-body><text:p>" * 40 + "x" + "</text:p></text:note-body></text:note>" * 40 + "</text:p>"


def rtf_bodies() -> Iterator[tuple[str, bytes]]:
    yield "a million open braces", b"{\\rtf1" + b"{" * 1_000_000
    yield "a million groups", b"{\\rtf1" + b"{\\b x}" * 1_000_000 + b"}"
    yield "binary data that is not there", b"{\\rtf1 text\\bin2147483647 }"
    yield "nested tables without end", b"{\\rtf1" + b"\\pard\\intbl\\itap99999 x\\nestcell" * 20_000 + b"}"
    yield "cut off", b"{\\rtf1\\ansi text \\'8"
    yield "not rtf", b"not rtf at all"
    yield "notes in notes", b"{\\rtf1" + b"{\\footnote x" * 1_500 + b"}" * 1_501
    yield "a million cells", b"{\\rtf1\\trowd" + b"\\cellx1" * 1_000_000 + b"\\intbl" + b" x\\cell" * 1_000_000 + b"\\row}"


def broken(folder: Path, ending: str, whole: Path) -> Iterator[tuple[str, Path]]:
    """Files that are cut off, no package, or protected by a password."""
    content = whole.read_bytes()
    for name, part in (("cut off", content[: len(content) // 2]), ("empty", b""), ("no package", b"plain text"), ("protected by a password", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2048))):
        path = folder / f"{slug(name)}-broken.{ending}"
        path.write_bytes(part)
        yield f"{ending}: {name}", path


def laughs(document: str) -> str:
    entities = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10 if at else "lol"}">' for at in range(10))
    return f"<!DOCTYPE x [{entities}]>{document}"


def external(document: str) -> str:
    return f'<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>{document}'


def word_parts(document: str, relationships: str = "") -> dict[str, str]:
    style = f'<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:styleId="a"><w:basedOn w:val="a"/></w:style></w:styles>'
    relationships = relationships or f'<Relationship Id="r1" Type="{OFFICE}/styles" Target="styles.xml"/>'
    return package_parts("word/document.xml", "wordprocessingml.document.main", document) | {"word/_rels/document.xml.rels": rels(relationships), "word/styles.xml": style}


def slide_parts(shapes: str, times: int = 1) -> dict[str, str]:
    deck = f'<p:presentation xmlns:p="{SLIDES}" xmlns:r="{OFFICE}"><p:sldIdLst>' + '<p:sldId id="256" r:id="r1"/>' * times + "</p:sldIdLst></p:presentation>"
    slide = f'<p:sld xmlns:p="{SLIDES}" xmlns:a="{DRAWING}"><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>'
    relationships = rels(f'<Relationship Id="r1" Type="{OFFICE}/slide" Target="slides/slide1.xml"/>')
    return package_parts("ppt/presentation.xml", "presentationml.presentation.main", deck) | {"ppt/_rels/presentation.xml.rels": relationships, "ppt/slides/slide1.xml": slide}


def package_parts(main: str, kind: str, content: str) -> dict[str, str]:
    types = f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/{main}" ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/></Types>'
    return {"[Content_Types].xml": types, "_rels/.rels": rels(f'<Relationship Id="r" Type="{OFFICE}/officeDocument" Target="{main}"/>'), main: content}


def rels(inner: str) -> str:
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inner}</Relationships>'


def odf_parts(kind: str, body: str) -> dict[str, str]:
    spaces = " ".join(f'xmlns:{prefix}="{ODF}:{name}:1.0"' for prefix, name in (("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing")))
    content = f"<office:document-content {spaces}><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    return {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content}


def package(path: Path, parts: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, part in parts.items():
            made.writestr(name, part)
    return path


def slug(name: str) -> str:
    return name.replace(" ", "-")
