"""Books and notebooks: the corpus of their converters, and hostile ones."""

import base64
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from case import Case

WORDS = {
    "en": {
        "title": "The Lighthouse at Cape Wrath",
        "author": "Ann Smith",
        "chapters": ["The Departure", "A Storm & its End", "Home"],
        "paragraphs": [
            "The ship left the harbour at dawn, and nobody on the quay waved.",
            "In the night the wind turned; the keeper counted seven lamps where there should have been nine.",
            "“We shall see”, said the captain, and lit his pipe. It was the 3rd of May 1887.",
        ],
        "ruby": ("WHO", "World Health Organization"),
        "items": ["a rope", "two lamps", "bread for three days"],
        "table": [["Day", "Wind", "Miles"], ["Monday", "north", "42"], ["Tuesday", "west", "17"]],
        "note": "The log book has a different date here.",
        "picture": "A lighthouse in the fog",
    },
    "ja": {
        "title": "岬の灯台",
        "author": "田中 一郎",
        "chapters": ["第一章　出発", "第二章　嵐とその終わり", "第三章　帰郷"],
        "paragraphs": [
            "夜明けに船は港を出たが、岸壁で手を振る者は一人もいなかった。",
            "夜のうちに風向きが変わった。灯台守は九つあるはずの灯りを七つしか数えられなかった。",
            "「いずれ分かる」と船長は言い、煙管に火をつけた。明治二十年五月三日のことである。",
        ],
        "ruby": ("灯台守", "とうだいもり"),
        "items": ["縄を一本", "灯りを二つ", "三日分の食料"],
        "table": [["曜日", "風", "距離"], ["月曜日", "北", "四十二"], ["火曜日", "西", "十七"]],
        "note": "航海日誌では日付が異なる。",
        "picture": "霧の中の灯台",
    },
}
CONTAINER = '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
PAGE = '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{}</title><style>p {{ color: red }}</style><script src="x.js"/></head><body>{}</body></html>'
XHTML = "application/xhtml+xml"


def cases(folder: Path) -> Iterator[Case]:
    for language in WORDS:
        yield book(folder, language, 3)
        yield book(folder, language, 2)
        yield notebook(folder, language, 4)
        yield notebook(folder, language, 3)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;")


def book(folder: Path, language: str, version: int) -> Case:
    """Chapters with lists, tables, reading aids, notes and a picture; contents of EPUB 3 or 2."""
    words = WORDS[language]
    pages, lines, tables, items = [], [words["title"], words["author"]], [], []
    base, aid = words["ruby"]
    for number, title in enumerate(words["chapters"]):
        body = f"<h1>{escaped(title)}</h1>" + "".join(f"<p>{text}</p>" for text in words["paragraphs"])
        lines += [title, *words["paragraphs"]]
        if number == 0:
            body += f"<p><ruby>{base}<rp>(</rp><rt>{aid}</rt><rp>)</rp></ruby></p>"
            lines.append(f"{base} {aid}")
        if number == 1:
            body += "<ul>" + "".join(f"<li>{item}</li>" for item in words["items"]) + "</ul>"
            body += "<table>" + "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in words["table"]) + "</table>"
            lines += [*words["items"], *(cell for row in words["table"] for cell in row)]
            items += words["items"]
            tables.append(words["table"])
            body += '<p>1887<a epub:type="noteref" href="#n1" id="r1">1</a>.</p>'
            body += f'<aside epub:type="footnote" id="n1"><p>{words["note"]}</p></aside>'
            lines += ["1887", words["note"]]
        if number == 2:
            body += f'<p><img src="../images/x.png" alt="{words["picture"]}"/></p>'
            lines.append(words["picture"])
        pages.append((f"text/chapter {number}.xhtml", title, PAGE.format(escaped(title), body)))
    path = folder / f"book{version}-{language}.epub"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        package.writestr("META-INF/container.xml", CONTAINER)
        package.writestr("OEBPS/content.opf", opf(words, language, version, pages))
        if version == 3:
            entries = "".join(f'<li><a href="{name.replace(" ", "%20")}">{escaped(title)}</a></li>' for name, title, _ in pages)
            package.writestr("OEBPS/nav.xhtml", PAGE.format("x", f'<nav epub:type="toc"><ol>{entries}</ol></nav>'))
        else:
            points = "".join(f'<navPoint id="p{n}"><navLabel><text>{escaped(title)}</text></navLabel><content src="{name}"/></navPoint>' for n, (name, title, _) in enumerate(pages))
            package.writestr("OEBPS/toc.ncx", f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>')
        for name, _, content in pages:
            package.writestr(f"OEBPS/{name}", content)
    return Case("epub", language, path, "\n".join(lines), [words["title"], *words["chapters"]], items, tables, absent=["color"])


def opf(words: dict, language: str, version: int, pages: list[tuple[str, str, str]]) -> str:
    items = "".join(f'<item id="c{n}" href="{name.replace(" ", "%20")}" media-type="{XHTML}"/>' for n, (name, _, _) in enumerate(pages))
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(pages)))
    contents = f'<item id="nav" href="nav.xhtml" media-type="{XHTML}" properties="nav"/>' if version == 3 else '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    return f'<package xmlns="http://www.idpf.org/2007/opf" version="{version}.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{words["title"]}</dc:title><dc:creator>{words["author"]}</dc:creator><dc:language>{language}</dc:language></metadata><manifest>{contents}{items}</manifest><spine>{order}</spine></package>'


def notebook(folder: Path, language: str, version: int) -> Case:
    """Text, code and outputs: streams, values, tables, images, errors with colours."""
    words = WORDS[language]
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in words["table"])
    table = f"<style>td {{ color: red }}</style><table>{rows}</table>"
    image = base64.b64encode(bytes(9_000)).decode()
    code = ["import math\n", f"print('{words['title']}')"]
    traceback = ["\x1b[0;31mNameError\x1b[0m  Traceback", f"\x1b[0;31mNameError\x1b[0m: {words['note']}"]
    if version == 4:
        outputs = [
            {"output_type": "stream", "name": "stdout", "text": [words["title"] + "\n"]},
            {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": ["plain"], "text/html": [table]}},
            {"output_type": "display_data", "metadata": {}, "data": {"image/png": image}},
            {"output_type": "error", "ename": "NameError", "evalue": words["note"], "traceback": traceback},
        ]
        cells = [
            {"cell_type": "markdown", "metadata": {}, "source": [f"# {words['title']}\n", "\n", words["paragraphs"][0] + "\n", "\n"] + [f"- {item}\n" for item in words["items"]]},
            {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": code, "outputs": outputs},
            {"cell_type": "markdown", "metadata": {}, "source": words["paragraphs"][1]},
        ]
        made = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}, "cells": cells}
    else:
        outputs = [
            {"output_type": "stream", "stream": "stdout", "text": [words["title"] + "\n"]},
            {"output_type": "pyout", "prompt_number": 1, "metadata": {}, "text": ["plain"], "html": [table]},
            {"output_type": "display_data", "metadata": {}, "png": image},
            {"output_type": "pyerr", "ename": "NameError", "evalue": words["note"], "traceback": traceback},
        ]
        cells = [
            {"cell_type": "heading", "level": 1, "metadata": {}, "source": [words["title"]]},
            {"cell_type": "markdown", "metadata": {}, "source": [words["paragraphs"][0] + "\n", "\n"] + [f"- {item}\n" for item in words["items"]]},
            {"cell_type": "code", "metadata": {}, "language": "python", "collapsed": False, "prompt_number": 1, "input": code, "outputs": outputs},
            {"cell_type": "markdown", "metadata": {}, "source": words["paragraphs"][1]},
        ]
        made = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "x"}, "worksheets": [{"metadata": {}, "cells": cells}]}
    path = folder / f"notebook{version}-{language}.ipynb"
    path.write_text(json.dumps(made, ensure_ascii=version == 3))
    lines = [words["title"], words["paragraphs"][0], *words["items"], "".join(code), words["title"], *(cell for row in words["table"] for cell in row)]
    lines += ["image/png output, 9 kB", "NameError Traceback", words["note"], words["paragraphs"][1]]
    return Case("ipynb", language, path, "\n".join(lines), [words["title"]], words["items"], [words["table"]], absent=["color", "\x1b", "0;31m"])


def hostile(folder: Path) -> Iterator[tuple[str, Path]]:
    words = WORDS["en"]

    def epub(name: str, page: str | bytes, **parts: str) -> Path:
        path = folder / name
        contents = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/content.opf": opf(words, "en", 3, [("a.xhtml", "A", "")]), "OEBPS/a.xhtml": page}
        contents |= {name.replace("__", "/") + ".xml": text for name, text in parts.items()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
            for part, content in contents.items():
                package.writestr(part, content)
        return path

    yield "a chapter of a gigabyte", epub("bomb.epub", b" " * (1 << 30))
    yield "a chapter of elements a million deep", epub("deep.epub", "<div>" * 1_000_000)
    yield "a chapter of open tags", epub("tags.epub", "<" * 5_000_000)
    yield "a chapter of entities", epub("entities.epub", "&" * 5_000_000)
    yield "a chapter of comments without end", epub("comments.epub", "<!--" * 1_000_000)
    yield "a chapter of scripts without end", epub("scripts.epub", "<script>" * 200_000)
    laughs = '<!DOCTYPE x [<!ENTITY a "{}">{}]><p>&k;</p>'.format("a" * 1000, "".join(f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(10)))
    yield "a billion laughs", epub("laughs.epub", laughs)
    encryption = '<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><CipherData><CipherReference URI="OEBPS/a.xhtml"/></CipherData></EncryptedData></encryption>'
    yield "a book with a lock", epub("locked.epub", b"\x01\x02\x03", **{"META-INF__encryption": encryption})
    outside = CONTAINER.replace("OEBPS/content.opf", "../../../../etc/passwd")
    yield "a list of parts outside of the book", epub("outside.epub", "<p/>", **{"META-INF__container": outside})
    many = opf(words, "en", 3, [("a.xhtml", "A", "")] * 100_000)
    path = folder / "many.epub"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for part, content in {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/content.opf": many, "OEBPS/a.xhtml": "<p>x</p>" * 1_000}.items():
            package.writestr(part, content)
    yield "a chapter a hundred thousand times", path
    good = epub("good.epub", PAGE.format("x", "<p>words</p>")).read_bytes()
    for share in (10, 50, 90):
        path = folder / f"cut-{share}.epub"
        path.write_bytes(good[: len(good) * share // 100])
        yield f"a book cut off after {share} %", path

    def text(name: str, content: str) -> Path:
        path = folder / name
        path.write_text(content)
        return path

    yield "a notebook of arrays a hundred thousand deep", text("deep.ipynb", '{"cells": ' + "[" * 100_000)
    yield "a cell of arrays a hundred thousand deep", text("cell.ipynb", '{"cells": [' + "[" * 100_000 + "]" * 100_000 + "]}")
    yield "metadata a hundred thousand deep", text("metadata.ipynb", '{"metadata": ' + '{"a":' * 100_000 + "1" + "}" * 100_000 + ', "cells": []}')
    yield "ten million empty cells", text("cells.ipynb", '{"cells": [' + "{}," * 10_000_000 + "{}]}")
    yield "ten million empty outputs", text("outputs.ipynb", '{"cells": [{"cell_type": "code", "source": "x", "outputs": [' + "{}," * 10_000_000 + "{}]}]}")
    yield "a source of ten million lines", text("lines.ipynb", '{"cells": [{"cell_type": "code", "source": [' + '"",' * 10_000_000 + '""]}]}')
    yield "a stream of escapes", text("escapes.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": "x", "outputs": [{"output_type": "stream", "text": "\x1b[" * 3_000_000}]}]}))
    yield "a notebook that is cut off", text("cut.ipynb", '{"cells": [{"cell_type": "code", "source": "x"')
