"""A document of the corpus, what went into it, and how much of that comes out of a conversion."""

import os
import re
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path


# Above this product of lengths, texts are compared in linear time.
QUADRATIC = 4_000_000
LOOK_AHEAD = 40


@dataclass
class Case:
    """A document and what went into it. Structure is compared as lines of Markdown, without marks in the text."""

    # docx, odt, pdf ...
    kind: str
    # en or ja.
    language: str
    path: Path
    # The text that went in, in reading order.
    text: str
    headings: list[str] = field(default_factory=list)
    # Items of lists.
    items: list[str] = field(default_factory=list)
    # Tables, as rows of cells; a merged cell has its text once.
    tables: list[list[list[str]]] = field(default_factory=list)
    # Texts that must not come out, such as deleted ones.
    absent: list[str] = field(default_factory=list)


@dataclass
class Output:
    """What a converter gave, and what it cost."""

    text: str
    errors: str
    exit: int
    cpu_seconds: float
    peak_bytes: int


def run(command: list[str], limit: float = 60) -> Output:
    """Runs a converter and measures it. A converter that takes longer than `limit` seconds is ended."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        timer = threading.Timer(limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in output, errors:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return Output(*texts, process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def tokens(text: str) -> list[str]:
    """Words; of Japanese and Chinese, characters. Marks and spaces do not count."""
    return re.findall(r"[぀-ヿ㐀-鿿豈-﫿々〆]|[^\W_぀-ヿ㐀-鿿豈-﫿々〆]+", text.casefold())


def found_in_order(expected: str, given: str) -> float:
    """The share of the words of `expected` that `given` has in the same order."""
    wanted, got = tokens(expected), tokens(given)
    if not wanted:
        return 1.0
    if wanted == got:
        return 1.0
    if len(wanted) * len(got) > QUADRATIC:
        return found_greedily(wanted, got) / len(wanted)
    matcher = SequenceMatcher(None, wanted, got, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / len(wanted)


def found_greedily(wanted: list[str], got: list[str]) -> int:
    """How many of `wanted` come in `got` in the same order, at most: each is looked for a little way ahead only."""
    place = found = 0
    for token in wanted:
        ahead = got[place : place + LOOK_AHEAD]
        if token in ahead:
            place += ahead.index(token) + 1
            found += 1
    return found


def plain(markdown: str) -> str:
    """A line of Markdown as its words alone, to compare with what went in."""
    return " ".join(tokens(markdown))


def structure_found(case: Case, markdown: str) -> float:
    """The share of headings, list items and table rows that stand in `markdown` as such."""
    lines = markdown.splitlines()
    headings = {plain(line.lstrip("# ")) for line in lines if re.match(r"#{1,6} ", line)}
    items = {plain(re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", line)) for line in lines if re.match(r"\s*(?:[-*+]|\d+[.)])\s", line)}
    rows = {row_key(re.split(r"(?<!\\)\|", line.strip().strip("|"))) for line in lines if line.lstrip().startswith("|")}
    wanted = [plain(heading) in headings for heading in case.headings]
    wanted += [plain(item) in items for item in case.items]
    wanted += [row_key(row) in rows for table in case.tables for row in table]
    return sum(wanted) / len(wanted) if wanted else 1.0


def row_key(cells: list[str]) -> str:
    return " | ".join(filter(None, (plain(cell) for cell in cells)))
