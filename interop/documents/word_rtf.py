"""RTF documents of the corpus: text in code pages and by number, tables, lists, notes, links."""

from collections.abc import Iterator
from pathlib import Path

from case import Case
from office_text import OfficeText

HEAD = (
    r"{\rtf1\ansi\ansicpg%(page)s\deff0{\fonttbl{\f0\froman\fcharset%(charset)s %(font)s;}{\f1\fmodern\fcharset0 Courier New;}{\f2\fnil\fcharset2 Symbol;}}"
    r"{\colortbl;\red0\green0\blue0;}{\stylesheet{\s0 Normal;}{\s1\outlinelevel0\sbasedon0 heading 1;}{\s2\sbasedon0 heading 2;}{\*\cs10 Default;}}"
    r"{\*\listtable{\list{\listname ;}}}{\info{\title Hidden title}}{\*\generator Corpus;}"
    "\n"
)


def rtf_cases(folder: Path, language: str, text: OfficeText) -> Iterator[Case]:
    page, charset, font = {"en": ("1252", "0", "Times"), "ja": ("932", "128", "MS Mincho")}[language]
    head = HEAD % {"page": page, "charset": charset, "font": font}
    codec = {"en": "cp1252", "ja": "cp932"}[language]
    yield case(folder, f"bytes-{language}.rtf", language, text, head, lambda words: by_bytes(words, codec))
    yield case(folder, f"unicode-{language}.rtf", language, text, head.replace("\\deff0", "\\deff0\\uc1"), by_number)
    yield case(folder, f"unicode-twice-{language}.rtf", language, text, head, lambda words: by_both(words, codec))


def by_bytes(words: str, codec: str) -> str:
    """Text in a code page; the second byte of a character may look like a sign of RTF."""
    out = []
    for letter in words:
        if letter in "\\{}":
            out.append("\\" + letter)
        elif letter.isascii():
            out.append(letter)
        else:
            out += [f"\\'{byte:02x}" for byte in letter.encode(codec)]
    return "".join(out)


def by_number(words: str) -> str:
    """Text as numbers with a question mark for old readers; characters beyond the basic plane as two."""
    out = []
    for letter in words:
        if letter.isascii():
            out.append("\\" + letter if letter in "\\{}" else letter)
            continue
        units = letter.encode("utf-16-le")
        for at in range(0, len(units), 2):
            number = int.from_bytes(units[at : at + 2], "little")
            out.append(f"\\u{number if number < 32768 else number - 65536}?")
    return "".join(out)


def by_both(words: str, codec: str) -> str:
    """Text as numbers with the same in the code page for old readers, as Word writes it."""
    out = []
    for letter in words:
        if letter.isascii():
            out.append("\\" + letter if letter in "\\{}" else letter)
            continue
        old = letter.encode(codec)
        number = ord(letter)
        out.append(f"\\uc{len(old)}\\u{number if number < 32768 else number - 65536}" + "".join(f"\\'{byte:02x}" for byte in old))
    return "".join(out)


def case(folder: Path, name: str, language: str, text: OfficeText, head: str, write) -> Case:
    styled = lambda style, words: f"\\pard\\plain\\s{style}\\f0 {write(words)}\\par\n"
    plain = lambda words: f"\\pard\\plain\\f0 {words}\\par\n"
    item = lambda label, words, level=0: f"{{\\listtext\\f2 {label}\\tab}}\\pard\\plain\\ls1\\ilvl{level}\\f0 {write(words)}\\par\n"
    body = [head, f"{{\\header\\pard {write(text.page_header)}\\par}}{{\\footer\\pard {write(text.page_footer)}\\par}}\n"]
    body.append(styled(1, text.title))
    body.append(plain(write(text.paragraphs[0]) + f"{{\\super\\chftn}}{{\\footnote\\pard\\plain {{\\super\\chftn}} {write(text.footnote)}}}"))
    body.append(styled(2, text.chapters[0]))
    body.append(plain(f"{{\\deleted {write(text.deleted)}}}{{\\revised {write(text.inserted)}}} {{\\b {write(text.bullets[0])}}} {write(text.paragraphs[1])}"))
    body.append(plain('{\\field{\\*\\fldinst{HYPERLINK "https://example.org/register"}}{\\fldrslt{\\ul ' + write(text.link) + "}}}"))
    body += [item("\\'b7", words) for words in text.bullets]
    body += [item(f"{at}.", words, 0) for at, words in enumerate(text.numbers, 1)]
    body.append(plain(f"{{\\shp{{\\*\\shpinst\\shpleft0{{\\sp{{\\sn shapeType}}{{\\sv 202}}}}{{\\shptxt \\pard\\plain {write(text.box)}\\par}}}}{{\\shprslt{{\\*\\do}}{write(text.box)}}}}}{write(text.paragraphs[2])}"))
    for row in (text.header, *text.rows):
        body.append("\\trowd\\cellx2000\\cellx4000\\cellx6000\\pard\\intbl " + "".join(f"{write(word)}\\cell " for word in row) + "\\row\n")
    body.append("\\trowd\\cellx2000\\cellx6000\\pard\\intbl " + "".join(f"{write(word)}\\cell " for word in text.numbers[:2]) + "\\row\n")
    body.append(plain(f"{{\\*\\shppict{{\\pict\\pngblip\\bin4 }}{{}}}}}}}}{{\\*\\atnauthor {write(text.author)}}}\\chatn{{\\*\\annotation\\pard\\plain {write(text.comment)}}} {write(text.sections[0])}"))
    if language == "ja":
        body.append(plain("{\\field{\\*\\fldinst EQ \\\\* jc2 \\\\* hps10 \\\\o\\\\ad(\\\\s\\\\up 9(" + write(text.reading) + ")," + write(text.base) + ")}{\\fldrslt}}"))
    body.append("}")
    path = folder / name
    path.write_bytes("".join(body).encode("ascii"))
    words = [text.page_header, text.title, text.paragraphs[0], text.chapters[0], text.inserted, text.bullets[0], text.paragraphs[1], text.link]
    words += [*text.bullets, *text.numbers, text.paragraphs[2], text.box]
    words += [word for row in (text.header, *text.rows, text.numbers[:2]) for word in row] + [text.sections[0]]
    if language == "ja":
        words.append(f"{text.base}({text.reading})")
    words += [text.page_footer, text.footnote, text.comment]
    rows = [list(text.header), *map(list, text.rows), list(text.numbers[:2])]
    return Case("rtf", language, path, "\n".join(words), [text.title, text.chapters[0]], [*text.bullets, *text.numbers], [rows], [text.deleted, "Hidden title"])
