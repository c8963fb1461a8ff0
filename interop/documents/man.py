"""Manual pages of the corpus, with the macros of man and mdoc, in English and Japanese."""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from case import Case
from office_text import LANGUAGES, OfficeText


def cases(folder: Path) -> Iterator[Case]:
    """Writes all pages into `folder`."""
    for language, text in LANGUAGES.items():
        yield man_page(folder, language, text)
        yield man_page(folder, language, text, packed=True)
        yield mdoc_page(folder, language, text)
        yield macros_page(folder, language, text)
        yield large_page(folder, language, text)
    yield charset_page(folder, LANGUAGES["ja"])


def roff(words: str) -> str:
    """Words as text of roff: a backslash and the beginning of a line are marks."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def man_lines(text: OfficeText) -> tuple[list[str], list[str]]:
    """A page with headings, options, lists, code and a table, and the words of it."""
    lines = ["'\\\" t", '.TH TOOL 1 "2026\\-01\\-01" "tools 1.0"', ".SH NAME", f"tool \\- {roff(text.title)}"]
    words = ["tool(1)", "NAME", f"tool - {text.title}"]
    for chapter, paragraph in zip(text.chapters, text.paragraphs):
        lines += [f'.SH "{roff(chapter)}"', roff(paragraph), ".PP", f"\\fB{roff(paragraph)}\\fP"]
        words += [chapter, paragraph, paragraph]
    lines += [".SS " + roff(text.sections[0])]
    words += [text.sections[0]]
    for number, item in enumerate(text.bullets):
        lines += [".TP", f".BR \\-{'abcdef'[number]} \", \" \\-\\-long{number}", roff(item)]
        words += [f"-{'abcdef'[number]}, --long{number}", item]
    lines += [".PP"]
    for item in text.bullets:
        lines += [".IP \\(bu 2", roff(item)]
        words += [item]
    lines += [".PP", ".EX", "  int main(void) { return 0; }", ".EE", ".TS", "allbox tab(@);", "lb lb lb", "l l l."]
    words += ["int main(void) { return 0; }"]
    for row in (text.header, *text.rows):
        lines.append("@".join(roff(cell) for cell in row))
        words += list(row)
    lines += [".TE", ".so man3/printf.3"]
    return lines, [*words, "printf(3)"]


def man_page(folder: Path, language: str, text: OfficeText, packed: bool = False) -> Case:
    lines, words = man_lines(text)
    content = "\n".join(lines).encode() + b"\n"
    path = folder / f"page-{language}.1{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(content) if packed else content)
    rows = [list(text.header), *map(list, text.rows)]
    return Case("man", language, path, "\n".join(words), ["tool(1)", "NAME", *text.chapters, text.sections[0]], list(text.bullets), [rows])


def charset_page(folder: Path, text: OfficeText) -> Case:
    """A page in EUC-JP, as they were before UTF-8."""
    lines, words = man_lines(text)
    path = folder / "page-euc.7"
    path.write_bytes(("\n".join(lines) + "\n").encode("euc-jp", errors="replace"))
    words = [word.encode("euc-jp", errors="replace").decode("euc-jp") for word in words]
    return Case("man", "ja", path, "\n".join(words), ["tool(1)", "NAME"])


def mdoc_page(folder: Path, language: str, text: OfficeText) -> Case:
    lines = [".Dd January 1, 2026", ".Dt TOOL 8", ".Os", ".Sh NAME", ".Nm tool", f".Nd {roff(text.title)}", ".Sh SYNOPSIS", ".Nm", ".Op Fl a", ".Op Fl o Ar file"]
    words = ["tool(8)", "NAME", "tool", text.title, "SYNOPSIS", "tool [-a] [-o file]"]
    for chapter, paragraph in zip(text.chapters, text.paragraphs):
        lines += [f".Sh {roff(chapter)}", roff(paragraph), ".Pp", f".Em {roff(paragraph)}"]
        words += [chapter, paragraph, paragraph]
    lines += [".Bl -bullet"]
    for item in text.bullets:
        lines += [".It", roff(item)]
        words.append(item)
    lines += [".El", ".Bl -tag -width x"]
    for number, item in enumerate(text.numbers):
        lines += [f".It Fl {'xyzuvw'[number]} Ar value", roff(item)]
        words += [f"-{'xyzuvw'[number]} value", item]
    lines += [".El", ".Bd -literal", "tool -a", ".Ed", ".Sh SEE ALSO", ".Xr printf 3 ,", ".Xr ls 1"]
    words += ["tool -a", "SEE ALSO", "printf(3), ls(1)"]
    path = folder / f"mdoc-{language}.8"
    path.write_text("\n".join(lines) + "\n")
    return Case("man", language, path, "\n".join(words), ["tool(8)", "NAME", *text.chapters], list(text.bullets))


def macros_page(folder: Path, language: str, text: OfficeText) -> Case:
    """Conditions, strings and macros of the page's own."""
    one, two, three = text.paragraphs[:3]
    lines = [".TH OWN 3pm", ".de Sp", ".if t .sp .5v", ".if n .sp", "..", ".de Emph", ".I \"\\\\$1\"", "..", f".ds Text {roff(one)}",
             ".SH NAME", "own \\- words", ".ie n \\{\\", roff(two), ".\\}", ".el \\{\\", roff(text.deleted), ".\\}", ".if t \\{", roff(text.deleted), ".\\}",
             ".Sp", "\\*[Text]", ".Sp", f'.Emph "{roff(three).replace(chr(34), chr(34) * 2)}"', ".ig", roff(text.deleted), "..", f".\\\" {text.deleted}"]
    path = folder / f"own-{language}.3pm"
    path.write_text("\n".join(lines) + "\n")
    return Case("man", language, path, "\n".join(["own(3pm)", "NAME", "own - words", two, one, three]), ["own(3pm)", "NAME"], absent=[text.deleted])


def large_page(folder: Path, language: str, text: OfficeText) -> Case:
    lines, words, headings = [".TH LARGE 7"], ["large(7)"], ["large(7)"]
    for chapter in range(1, 101):
        heading = f"{text.chapters[chapter % 3]} {chapter}"
        lines.append(f'.SH "{roff(heading)}"')
        headings.append(heading)
        words.append(heading)
        for at in range(12):
            sentence = f"{text.paragraphs[at % 3]} ({chapter}-{at})"
            lines += [".PP", roff(sentence)]
            words.append(sentence)
    path = folder / f"large-{language}.7"
    path.write_text("\n".join(lines) + "\n")
    return Case("man", language, path, "\n".join(words), headings)


def hostile(folder: Path) -> Iterator[tuple[str, Path]]:
    """Pages that would make a converter hang, grow or crash."""
    pages = {
        "macros that call themselves": ".TH A 1\n.de X\n.X\n.X\n..\n.X\n",
        "macros that double": ".TH A 1\n.de M0\nx\n..\n" + "".join(f".de M{n}\n.M{n - 1}\n.M{n - 1}\n..\n" for n in range(1, 40)) + ".M39\n",
        "strings that double": ".TH A 1\n.ds a " + "x" * 60 + "\n" + ".as a \\*a\n" * 60 + "\\*a\n",
        "a loop": ".TH A 1\n.while n \\{\\\nx\n.\\}\n",
        "a page that includes itself": ".so man1/hostile.1\n" * 100_000,
        "deep indents": ".TH A 1\n" + ".RS\n.TP\nx\ny\n" * 200_000,
        "deep lists": ".Dd x\n.Dt A 1\n.Sh A\n" + ".Bl -tag\n.It x\n" * 200_000,
        "conditions in conditions": ".TH A 1\n" + ".if n \\{\\\n" * 200_000,
        "conditions on one line": ".TH A 1\n" + ".if n " * 500_000 + "x\n",
        "a table of many rows": ".TH A 1\n.TS\nl l.\n" + "a\tb\n" * 1_000_000 + ".TE\n",
        "a table of many columns": ".TH A 1\n.TS\nl l.\n" + ("a\t" * 100_000 + "\n") * 10 + ".TE\n",
        "a table without an end": ".TH A 1\n.TS\nl l.\nT{\n" * 100_000,
        "a line of escapes": ".TH A 1\n" + "\\h'" * 1_000_000,
        "a line of fonts": ".TH A 1\n" + "\\fBa\\fIb\\fP" * 200_000,
        "parentheses": ".TH A 1\n.if " + "(" * 1_000_000 + "\n",
        "a definition without an end": ".TH A 1\n.de X\n" + "text\n" * 500_000,
    }
    for name, page in pages.items():
        path = folder / f"{name.replace(' ', '-')}.1"
        path.write_text(page)
        yield name, path
    bomb = folder / "bomb.1.gz"
    bomb.write_bytes(gzip.compress(b".TH A 1\n" + b"\n" * (300 << 20), 9))
    yield "a compressed page of 300 MB", bomb
    cut = folder / "cut.1.gz"
    cut.write_bytes(gzip.compress(b".TH A 1\n.SH NAME\nx\n")[:-6])
    yield "a compressed page that is cut", cut
    log = folder / "syslog.1"
    log.write_text("Nov 16 host kernel: x\n")
    yield "a log that is named like a page", log
