"""Web pages: generated ones in English and Japanese in every usual charset, real ones of Debian, and hostile ones."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from case import Case
from web_text import CODE, ENGLISH, JAPANESE, Words

CHARSETS = {
    "ja": ["utf-8", "shift_jis", "euc-jp", "iso-2022-jp", "utf-16", "utf-16-le"],
    "en": ["utf-8", "utf-16"],
}

# Real pages, as patterns below the folder of a Debian package, with their languages.
REAL_PAGES = [
    ("en", Path("/usr/share/doc/debian-handbook/html/en-US"), "sect.*.html"),
    ("ja", Path("/usr/share/doc/debian-handbook/html/ja-JP"), "sect.*.html"),
    ("ja", Path("/usr/share/debian-reference"), "apa.ja.html"),
]

# Comparing texts in order is quadratic, so that only pages up to this size are cases.
REAL_BYTES = range(4_000, 24_000)
REAL_COUNT = 12


def cases(folder: Path) -> Iterator[Case]:
    """The pages of the corpus."""
    for words in ENGLISH, JAPANESE:
        for charset in CHARSETS[words.language]:
            for layout in "main", "article", "body", "old":
                yield generated(folder / f"{words.language}-{charset}-{layout}.html", words, charset, layout)
    yield from real_pages(folder)


def generated(path: Path, words: Words, charset: str, layout: str) -> Case:
    """A page with every feature, in one of four layouts: with `main`, with `article`, with neither, and of 1998."""
    page = wrap(content(words, layout), words, charset, layout)
    # Python has no names for some charsets of the web: its own are the same but for a few characters.
    path.write_bytes(page.encode({"shift_jis": "cp932"}.get(charset, charset), errors="xmlcharrefreplace"))
    menu = [words.menu, words.hidden] if layout == "old" else [words.menu, words.banner, words.footer, words.hidden]
    return Case(
        kind="html",
        language=words.language,
        path=path,
        text=expected_text(words),
        headings=[words.title, words.section],
        items=words.items + words.inner_items,
        tables=[words.table],
        absent=menu,
    )


def expected_text(words: Words) -> str:
    parts = [words.title, *words.paragraphs, words.section, words.emphasis, words.link, f"{words.ruby[0]} ({words.ruby[1]})"]
    parts += [*words.items, *words.inner_items, *(" ".join(row) for row in words.table)]
    parts += [f"{term} {meaning}" for term, meaning in words.terms]
    return "\n".join([*parts, words.quote, CODE, words.summary, words.paragraphs[0], words.note])


def content(words: Words, layout: str) -> str:
    base, reading = words.ruby
    first, *rest = words.paragraphs
    rows = "".join(row_of(row, "th" if at == 0 else "td") for at, row in enumerate(words.table))
    terms = "".join(f"<dt>{escape(term)}<dd>{escape(meaning)}" for term, meaning in words.terms)
    # Markup of 1998 leaves end tags out and shouts.
    old = layout == "old"
    paragraphs = "".join(f"<P>{escape(text)}" if old else f"<p>{escape(text)}</p>\n" for text in rest)
    items = "".join(f"<li>{escape(item)}" for item in words.items)
    inner = "".join(f"<li>{escape(item)}</li>" for item in words.inner_items)
    return f"""<h1>{escape(words.title)}</h1>
<p>{escape(first)}<sup><a href="#note" id="ref">1</a></sup></p>
{paragraphs}
<h2>{escape(words.section)}</h2>
<p><b>{words.emphasis}</b> <a href="../ships.html?a=1&amp;b=2">{words.link}</a> <ruby>{base}<rp>(</rp><rt>{reading}</rt><rp>)</rp></ruby></p>
<p style="display: none">{words.hidden}</p><span hidden>{words.hidden}</span>
<script>document.write("{words.hidden}")</script><style>p {{ content: "{words.hidden}" }}</style>
<ul>{items}<ol>{inner}</ol></ul>
<table>{rows}</table>
<dl>{terms}</dl>
<blockquote><p>{words.quote}</p></blockquote>
<pre><code class="language-rust">{escape(CODE)}</code></pre>
<details><summary>{words.summary}</summary><p>{escape(first)}</p></details>
<p id="note">{words.note} <a href="#ref">↩</a></p>
"""


def row_of(cells: list[str], name: str) -> str:
    return "<tr>" + "".join(f"<{name}>{escape(cell)}</{name}>" for cell in cells) + "</tr>\n"


def wrap(inner: str, words: Words, charset: str, layout: str) -> str:
    declared = "" if charset.startswith("utf-16") else f'<meta charset="{charset}">'
    if layout == "old":
        declared = declared and f'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={charset}">'
        return f"<HTML><HEAD>{declared}<TITLE>{words.title}</TITLE><BODY BGCOLOR=white>{inner}<div class=navfooter><a href=/>{words.menu}</a></div>"
    element = {"main": "main", "article": "article", "body": "div"}[layout]
    return f"""<!doctype html><html lang="{words.language}"><head>{declared}<title>{words.title}</title></head>
<body><header><a href="/">{words.menu}</a></header><nav><ul><li><a href="/a">{words.menu}</a></ul></nav>
<div id="cookie-banner" role="dialog"><p>{words.banner}</p><button>OK</button></div>
<{element}>{inner}</{element}>
<aside><h3><a href="/b">{words.menu}</a></h3><ul><li><a href="/c">{words.menu}</a></ul></aside>
<footer><p>{words.footer}</p></footer></body></html>"""


def real_pages(folder: Path) -> Iterator[Case]:
    """Pages of Debian's books, with the words that pandoc finds in them."""
    for language, source, pattern in REAL_PAGES:
        pages = [page for page in sorted(source.glob(pattern)) if page.stat().st_size in REAL_BYTES]
        for page in pages[:: max(1, len(pages) // REAL_COUNT)][:REAL_COUNT]:
            content = without_navigation(page.read_text())
            path = folder / f"real-{language}-{page.name}"
            path.write_bytes(page.read_bytes())
            yield Case(kind="html", language=language, path=path, text=pandoc_text(content))


def without_navigation(page: str) -> str:
    """A page of a book without the links to the pages before and after, and without what is in its head alone."""
    page = re.sub(r'<(ul|div) class="(docnav|navheader|navfooter)".*?</\1>', "", page, flags=re.DOTALL)
    page = re.sub(r'<p id="title">.*?</p>', "", page, flags=re.DOTALL)
    return re.sub(r"<div id=\"banner\">.*?</div>", "", page, flags=re.DOTALL)


def pandoc_text(page: str) -> str:
    command = ["pandoc", "--from", "html", "--to", "plain", "--wrap", "none"]
    text = subprocess.run(command, input=page, capture_output=True, text=True, check=True).stdout
    # Names of images are no words of the text; neither are pandoc's rules of tables.
    return re.sub(r"^\s*-[-\s]*$", "", text, flags=re.MULTILINE)


def hostile(folder: Path) -> Iterator[tuple[str, Path]]:
    """Pages, Markdown and source code that try to run something, or to take long."""
    for name, content in {**hostile_pages(), **hostile_markdown(), **hostile_source()}.items():
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        yield Path(name).stem.replace("-", " "), path


def hostile_pages() -> dict[str, str | bytes]:
    spellings = ["javascript:x()", "JAVASCRIPT:x()", "java\tscript:x()", "java&#10;script:x()", "&#106;avascript:x()", " \x01javascript:x()", "vbscript:x()", "data:text/html,<script>x()</script>"]
    return {
        "event-handlers.html": "".join(f"<p on{event}=x()>text</p>" for event in ("click", "load", "error", "focus", "toggle", "begin")),
        "links-that-run.html": "".join(f'<a href="{link}">link</a>' for link in spellings),
        "nested-100000-deep.html": "<div>" * 100_000 + "text" + "</div>" * 100_000,
        "tables-in-tables.html": "<table><tr><td>" * 50_000,
        "50-MB-of-brackets.html": "<" * 50_000_000,
        "unclosed-elements.html": "<b><i><p><ul><li><a href=x><table><tr>" * 50_000,
        "unclosed-tag.html": "<p " + 'a="b" ' * 500_000,
        "a-million-attributes.html": "<p " + " ".join(f"a{at}" for at in range(1_000_000)) + ">text",
        "wide-cells.html": "<table>" + "<tr><td colspan=1000 rowspan=65534>x" * 100_000,
        "comments-that-do-not-end.html": "<!--" * 2_000_000,
        "broken-charset.html": b"<meta charset=shift_jis><p>" + bytes(range(256)) * 1_000,
        "unknown-charset.html": b"<meta charset=x-no-such><p>" + bytes(range(128, 256)) * 1_000,
        "entities.html": "&" * 1_000_000 + "&#x110000;&#0;&notit;" * 100_000,
        "footnotes.html": "".join(f'<sup><a href="#n{at}">1</a></sup><p id=n{at}>x</p>' for at in range(50_000)),
    }


def hostile_markdown() -> dict[str, str | bytes]:
    pieces = {"brackets": "[", "stars": "*", "underscores": "_a", "backticks": "`a``", "comments": "<!--", "quotes": "> ", "links": "[a](", "images": "![", "emphasis": "*a **", "tables": "|a", "definitions": "[a]: b\n", "notes": "[^1]: ", "tags": "<a "}
    return {f"many-{name}.md": piece * (2_000_000 // len(piece)) for name, piece in pieces.items()}


def hostile_source() -> dict[str, str | bytes]:
    return {
        "one-line-of-20-MB.js": "a=1;" * 5_000_000,
        "one-line-of-20-MB.json": '{"a":' * 4_000_000,
        "deep-brackets.rs": "(" * 1_000_000,
        "open-strings.py": '"""\n' * 500_000,
        "no-text.c": bytes(range(256)) * 4_000,
        "long-hunk.diff": "@@ -1,99999999999999999999 +1 @@\n" * 100_000,
        "deep-indents.yaml": "".join(" " * at + "a:\n" for at in range(2_000)),
    }
