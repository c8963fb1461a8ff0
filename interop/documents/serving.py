"""Judges a refdesk that serves documents: its memory while many are converted, tokens of a page, and members of large archives.

`serving.py PROGRAM` runs in the environment that makes the documents. It prints a line of JSON for each check: its name, and
its failure or null.
"""

import io
import json
import os
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "search")]

from bombs import nested_zip
from desk import SearchDesk, mount, report, until
from docx import Document
from http_client import RpcError
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from tokenizer import Tokenizer
from xlsxwriter import Workbook

CheckResult = tuple[str, str | None]

PAGES, LINES = 500, 10
PDFS = (os.cpu_count() or 1) + 3
ROWS, CSV_ROWS = 20_000, 300_000
HEAVY_BYTES = 100 << 20
# What the server may take beside its converters, and what one member of a large archive may.
MOST_BYTES, MOST_MEMBER_BYTES = 400 << 20, 128 << 20
MEMBERS, TAR_MEMBERS = 100_000, 20_000
# What a model pays, with all names and notes: to learn of a document, for what stands around a page, and for a search.
MOST_METADATA, MOST_AROUND, MOST_FOUND = 120, 100, 150


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        return report(checks(program, Path(folder)), as_json="--json" in sys.argv)


def checks(program: Path, folder: Path) -> Iterator[CheckResult]:
    app = folder / "app"
    app.mkdir()
    write_documents(app)
    # A build for tests converts slowly, beside other work.
    settings = "max_read = \"16MB\"\ntimeout = \"120s\"\nindex = false\n[render]\ntime = \"60s\"\n"
    (folder / "refdesk.toml").write_text(mount("app", "fs", app) + settings)
    with SearchDesk(program, folder) as desk, Tokenizer() as tokenizer:
        yield from judge_load(desk)
        yield judge_tokens(desk, tokenizer)
        for archive, member in [("many.zip", f"f{MEMBERS // 2}.txt"), ("many.tar.gz", f"f{TAR_MEMBERS // 2}.txt")]:
            yield judge_member(desk, archive, member)
        yield judge_bomb(desk, app / "bomb.zip")


def write_documents(app: Path) -> None:
    for number in range(PDFS):
        write_pdf(app / f"report-{number}.pdf", number)
    with Workbook(app / "big.xlsx", {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        for row in range(ROWS):
            sheet.write_row(row, 0, [f"item {row}", row, row * 1.5, "note", row % 7])
    (app / "big.csv").write_text("".join(f"{row},item {row},{row * 3}\n" for row in range(CSV_ROWS)))
    for number in range(2):
        heavy = app / f"heavy-{number}.docx"
        document = Document()
        document.add_paragraph(f"Heavy document {number}")
        document.save(str(heavy))
        with zipfile.ZipFile(heavy, "a") as package:
            package.writestr("word/media/ballast.bin", bytes(HEAVY_BYTES))
    (app / "small.txt").write_text("a small text\n")
    nested_zip(app / "bomb.zip")
    with zipfile.ZipFile(app / "documents.zip", "w") as archive:
        for number in range(2):
            archive.write(app / f"report-{number}.pdf", f"report-{number}.pdf")
        archive.write(app / "big.csv", "big.csv", compress_type=zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(app / "many.zip", "w") as archive:
        for number in range(MEMBERS):
            archive.writestr(f"f{number}.txt", f"member {number}\n")
    with tarfile.open(app / "many.tar.gz", "w:gz", compresslevel=1) as archive:
        for number in range(TAR_MEMBERS):
            entry, content = tarfile.TarInfo(f"f{number}.txt"), f"member {number}\n".encode()
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def judge_bomb(desk: SearchDesk, bomb: Path) -> CheckResult:
    """A zip file in a zip file, whose member unpacks to ten gigabytes: it is listed, and refused or given by windows."""
    before = memory(desk, "VmRSS")
    reset_peak(desk)
    begin = cpu_ticks(desk)
    uri = f"file:///app/{bomb.name}/inner.zip"
    listed = desk.call("resources_list", collection=uri)["structuredContent"]
    whole = attempt(lambda: request(desk, "resources/read", uri=f"{uri}/zeros.txt"))
    found = attempt(lambda: desk.call("resources_grep", pattern="needle", uri=uri))
    milliseconds = (cpu_ticks(desk) - begin) * 1000 // os.sysconf("SC_CLK_TCK")
    grown = memory(desk, "VmHWM") - before
    failures = []
    if "zeros.txt" not in json.dumps(listed):
        failures.append(f"not listed: {json.dumps(listed)[:300]}")
    if whole == "ok":
        failures.append("all of it was given")
    if grown > MOST_MEMBER_BYTES:
        failures.append(f"wanted at most {MOST_MEMBER_BYTES >> 20} MiB")
    name = f"archives, {bomb.stat().st_size} bytes that unpack to ten gigabytes: {whole[:100]}; searched: {found[:60]}; CPU {milliseconds} ms, {grown >> 20} MiB at most"
    return name, "\n".join(failures) or None


def write_pdf(path: Path, number: int) -> None:
    canvas = Canvas(str(path), pagesize=A4)
    for page in range(1, PAGES + 1):
        for line in range(LINES):
            canvas.drawString(60, 780 - line * 60, line_of(number, page, line))
        canvas.showPage()
    canvas.save()


def line_of(number: int, page: int, line: int) -> str:
    return f"Report {number}, page {page}, line {line}: the harbour master counts {page * 40 + line} boats at the quay."


def judge_load(desk: SearchDesk) -> Iterator[CheckResult]:
    """Converts more documents at once than there are cores, and reads a small text meanwhile."""
    uris = [f"report-{number}.pdf" for number in range(PDFS)]
    uris += ["heavy-0.docx", "heavy-1.docx", "big.xlsx", "big.csv", "documents.zip/report-0.pdf", "documents.zip/report-1.pdf", "documents.zip/big.csv"]
    before = memory(desk, "VmRSS")
    reset_peak(desk)
    answers: dict[str, str] = {}

    def read(name: str) -> None:
        arguments = {"uri": f"file:///app/{name}", "_meta": {"dev.refdesk/accept": ["text/markdown"]}}
        answers[name] = attempt(lambda: request(desk, "resources/read", **arguments))

    readers = [threading.Thread(target=read, args=[name]) for name in uris]
    for reader in readers:
        reader.start()
    until(lambda: has_child(desk), "a converter runs", desk=desk)
    small = [attempt(lambda: request(desk, "resources/read", uri="file:///app/small.txt")) for _ in range(5)]
    left = len(uris) - len(answers)
    for reader in readers:
        reader.join()
    grown = memory(desk, "VmHWM") - before
    name = f"documents, {len(uris)} large ones converted at once: the server grows by {grown >> 20} MiB at most"
    failed = {name: text for name, text in answers.items() if text != "ok"}
    yield name, f"wanted under {MOST_BYTES >> 20} MiB" if grown >= MOST_BYTES else None
    yield "documents, all of them are answered", json.dumps(failed) if failed else None
    failure = None if left and small == ["ok"] * 5 else f"{left} left, {small}"
    yield f"documents, 5 small reads are answered while {left} conversions are left", failure


def request(desk: SearchDesk, method: str, **params: Any) -> dict[str, Any]:
    """As the client's, with further members of `_meta`."""
    result = {}
    for message in desk.client.messages(method, **params):
        if "error" in message:
            raise RpcError(message["error"])
        result = message.get("result", result)
    return result


def attempt(work: Callable[[], Any]) -> str:
    try:
        work()
    except (RpcError, OSError) as error:
        return str(error)
    return "ok"


def judge_tokens(desk: SearchDesk, tokenizer: Tokenizer) -> CheckResult:
    """A host with tools only learns of a document, reads its page 37 and searches it: three calls, counted as a model pays."""
    uri = "file:///app/report-0.pdf"

    def tokens(tool: str, **arguments: Any) -> tuple[int, str]:
        content = desk.call(tool, **arguments)["content"]
        text = "\n".join(block.get("text", "") for block in content)
        return tokenizer.count(json.dumps(content, ensure_ascii=False)), text

    told, described = tokens("resources_metadata", uris=[uri])
    page, text = tokens("resources_read", uri=uri, page=37)
    found, matches = tokens("resources_grep", pattern=r"page 37, line [12]:", uri=uri)
    own = tokenizer.count("\n".join(line_of(0, 37, line) for line in range(LINES)))
    failures = []
    if f"{PAGES} pages" not in described:
        failures.append(f"no count of pages: {described}")
    if any(line_of(0, 37, line) not in text.replace("\n", " ") for line in range(LINES)) or "page 36," in text:
        failures.append(f"not page 37: {text[:300]}")
    if matches.count("page 37, line") < 2:
        failures.append(f"not found: {matches[:300]}")
    if told > MOST_METADATA or page > own + MOST_AROUND or found > MOST_FOUND:
        failures.append(f"wanted at most {MOST_METADATA}, {own} + {MOST_AROUND} and {MOST_FOUND}")
    name = f"documents, page 37 of {PAGES} in two calls: {told} and {page} tokens (its text has {own}), and {found} to search it"
    return name, "\n".join(failures) or None


def judge_member(desk: SearchDesk, archive: str, member: str) -> CheckResult:
    """One member of a large archive: the memory that the server takes, and CPU of the first read and of another one."""
    before = memory(desk, "VmRSS")
    reset_peak(desk)
    costs, failures = [], []
    for name in [member, "f7.txt"]:
        begin = cpu_ticks(desk)
        read = request(desk, "resources/read", uri=f"file:///app/{archive}/{name}")
        costs.append((cpu_ticks(desk) - begin) * 1000 // os.sysconf("SC_CLK_TCK"))
        if read["contents"][0].get("text") != f"member {name[1:-4]}\n":
            failures.append(f"{name}: {json.dumps(read)[:300]}")
    grown = memory(desk, "VmHWM") - before
    if grown > MOST_MEMBER_BYTES:
        failures.append(f"wanted at most {MOST_MEMBER_BYTES >> 20} MiB")
    if costs[1] > max(costs[0], 50):
        failures.append("the index is not kept")
    count = MEMBERS if archive.endswith(".zip") else TAR_MEMBERS
    name = f"archives, a member of {archive} with {count}: CPU {costs[0]} ms, another one {costs[1]} ms, {grown >> 20} MiB at most"
    return name, "\n".join(failures) or None


def memory(desk: SearchDesk, field: str) -> int:
    """A field of the status of the server process, in bytes."""
    status = Path(f"/proc/{desk.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) << 10


def reset_peak(desk: SearchDesk) -> None:
    Path(f"/proc/{desk.pid}/clear_refs").write_text("5")


def cpu_ticks(desk: SearchDesk) -> int:
    fields = Path(f"/proc/{desk.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def has_child(desk: SearchDesk) -> bool:
    return any(tasks.read_text().strip() for tasks in Path(f"/proc/{desk.pid}/task").glob("*/children"))


if __name__ == "__main__":
    sys.exit(main())
