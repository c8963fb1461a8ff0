"""A document of the corpus, what went into it, and how much of that comes out of a conversion."""

import os
import re
import signal
import subprocess
import tempfile
import threading
from bisect import bisect_left
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path


# Above this product of lengths, texts are divided before they are compared.
QUADRATIC = 4_000_000
RUN = 5
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


def run(command: list[str], limit: float = 60, environment: dict[str, str] | None = None) -> Output:
    """Runs a converter and measures it. A converter that takes longer than `limit` seconds is ended."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, tempfile.NamedTemporaryFile("r") as usage:
        # The memory of a process counts for those that it starts, and this one has much more than `time`.
        measured = ["/usr/bin/time", "--quiet", "--format=%e %U %S %M", "--output", usage.name, *command]
        process = subprocess.Popen(measured, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment, start_new_session=True)
        timer = threading.Timer(limit, os.killpg, [process.pid, signal.SIGKILL])
        timer.start()
        process.wait()
        timer.cancel()
        texts = []
        for file in output, errors:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        _, user, system, kib = map(float, (usage.read().split() or "0 0 0 0".split())[-4:])
    return Output(*texts, process.returncode, user + system, int(kib) << 10)


def tokens(text: str) -> list[str]:
    """Words; of Japanese and Chinese, characters. Marks and spaces do not count."""
    return re.findall(r"[぀-ヿ㐀-鿿豈-﫿々〆]|[^\W_぀-ヿ㐀-鿿豈-﫿々〆]+", text.casefold())


def found_in_order(expected: str, given: str) -> float:
    """The share of the words of `expected` that `given` has in the same order."""
    wanted, got = tokens(expected), tokens(given)
    return count_in_order(wanted, got) / len(wanted) if wanted else 1.0


def count_in_order(wanted: list[str], got: list[str]) -> int:
    """How many of `wanted` come in `got` in the same order: exactly in short lists; long ones are divided at runs of words
    that both have once."""
    if wanted == got:
        return len(wanted)
    if len(wanted) * len(got) <= QUADRATIC:
        matcher = SequenceMatcher(None, wanted, got, autojunk=False)
        return sum(block.size for block in matcher.get_matching_blocks())
    found, start, other_start = 0, 0, 0
    anchors = common_runs(wanted, got)
    if not anchors:
        return found_greedily(wanted, got)
    for at, other in [*anchors, (len(wanted), len(got))]:
        if at < start or other < other_start:
            continue
        found += count_in_order(wanted[start:at], got[other_start:other])
        while at < len(wanted) and other < len(got) and wanted[at] == got[other]:
            at, other, found = at + 1, other + 1, found + 1
        start, other_start = at, other
    return found


def common_runs(wanted: list[str], got: list[str]) -> list[tuple[int, int]]:
    """Where runs of words begin that stand once in both lists, the most of them that come in the same order."""
    places = [once(words) for words in (wanted, got)]
    pairs = sorted((at, places[1][run]) for run, at in places[0].items() if run in places[1])
    # The longest rising sequence, by the last element of those of each length.
    lasts, order, before = [], [], []
    for at, (_, other) in enumerate(pairs):
        length = bisect_left(lasts, other)
        before.append(order[length - 1] if length else None)
        lasts[length : length + 1], order[length : length + 1] = [other], [at]
    rising, last = [], order[-1] if order else None
    while last is not None:
        rising.append(pairs[last])
        last = before[last]
    return rising[::-1]


def once(words: list[str]) -> dict[tuple[str, ...], int]:
    """The runs of words that stand once in a list, and where."""
    places: dict[tuple[str, ...], int] = {}
    for at in range(len(words) - RUN + 1):
        run = tuple(words[at : at + RUN])
        places[run] = -1 if run in places else at
    return {run: at for run, at in places.items() if at >= 0}


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
