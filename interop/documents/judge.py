"""Converts the corpus with refdesk and with other converters, and compares what went in with what came out.

`judge.py PROGRAM` runs in the environment that makes the documents. It prints a line of JSON for each check: its name, and
its failure or null.
"""

import json
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from case import Case, Output, found_in_order, plain, run, structure_found

FAMILIES = ["word", "slides", "sheets", "pdf", "images", "web", "mail", "books", "man"]
# Families whose hostile documents stand in a file of their own.
HOSTILE = {"pdf": "pdf_hostile"}

# What is asserted of refdesk; of the other converters nothing is.
LEAST_WORDS, LEAST_STRUCTURE = 0.99, 0.95

# Kinds whose structure is not judged, because their files have none.
WITHOUT_STRUCTURE = {"pdf"}

# Other converters: the arguments before the file, and after it.
PANDOC = {kind: ["pandoc", "--from", reader, "--to", "markdown"] for kind, reader in
          {"docx": "docx", "odt": "odt", "rtf": "rtf", "html": "html", "epub": "epub", "ipynb": "ipynb"}.items()}
PDFTOTEXT = ["pdftotext", "-enc", "UTF-8"]

# A hostile document may take the time and memory of a conversion, and of the program around it.
MOST_SECONDS, MOST_BYTES = 15, 1.2 * (1 << 30)

MUTATIONS = 240

CheckResult = tuple[str, str | None]


def main() -> None:
    program = sys.argv[1]
    mutations = int(sys.argv[2]) if len(sys.argv) > 2 else MUTATIONS
    with tempfile.TemporaryDirectory() as folder:
        for check, failure in checks(program, Path(folder), mutations):
            print(json.dumps([check, failure]), flush=True)


def checks(program: str, folder: Path, mutations: int) -> Iterator[CheckResult]:
    all_cases = []
    for family in FAMILIES:
        cases = made(family, "cases", folder / family)
        all_cases += cases
        yield from judge_cases(program, cases)
        hostile = made(HOSTILE.get(family, family), "hostile", folder / f"{family}-hostile")
        yield from judge_hostile(program, hostile)
    yield from judge_losses(program, folder)
    yield judge_mutations(program, all_cases, folder, mutations)


def made(module: str, what: str, folder: Path) -> list:
    """What a module of the corpus makes. The memory that a process takes is counted for those that it starts later, so
    that the documents are made in a process of their own."""
    folder.mkdir()
    with ProcessPoolExecutor(1) as maker:
        return maker.submit(make, module, what, folder).result()


def make(module: str, what: str, folder: Path) -> list:
    return list(getattr(import_module(module), what)(folder))


def judge_cases(program: str, cases: list[Case]) -> Iterator[CheckResult]:
    groups = defaultdict(list)
    for case in cases:
        groups[case.kind, case.language].append(case)
    for (kind, language), group in sorted(groups.items()):
        with ThreadPoolExecutor(2) as pool:
            outputs = list(pool.map(lambda case: convert(program, case.path), group))
        words, structure, failures = 0.0, 0.0, []
        for case, output in zip(group, outputs):
            found, kept = found_in_order(case.text, output.text), structure_found(case, output.text)
            words, structure = words + found / len(group), structure + kept / len(group)
            if output.exit or found < LEAST_WORDS:
                failures.append(f"{case.path.name}: {found:.3f} of the words; {output.errors.strip()[:200]}")
            failures += [f"{case.path.name}: has {text!r}" for text in case.absent if holds(output.text, text)]
        name = f"documents, {kind} {language}: {len(group)} files, words {words:.4f}"
        if kind not in WITHOUT_STRUCTURE:
            name += f", structure {structure:.4f}"
            if structure < LEAST_STRUCTURE:
                failures.append(f"structure {structure:.4f}")
        if rival := rival_words(kind, group):
            name += f" ({rival})"
        yield name, "\n".join(failures[:20]) or None


def holds(text: str, piece: str) -> bool:
    """Whether a text has the words of a piece; of a piece without words, the piece itself."""
    return plain(piece) in plain(text) if plain(piece) else piece in text


def convert(program: str, path: Path, to: str = "text/markdown") -> Output:
    # Images have no Markdown; their text is what a model reads.
    form = "text/plain" if path.suffix in {".png", ".jpg", ".jpeg", ".gif", ".webp", ".tiff", ".bmp", ".ico"} else to
    form = "image/svg+xml" if path.suffix == ".svg" else form
    form = "text/html" if path.suffix == ".md" else form
    output = run([program, "convert", str(path), "--to", form])
    output.text = re.sub(r"<!-- page \d+ -->", "", output.text)
    return output


def rival_words(kind: str, group: list[Case]) -> str | None:
    """What another converter finds in the same files."""
    if kind == "pdf":
        name, command = "pdftotext", lambda path: [*PDFTOTEXT, str(path), "-"]
    elif kind in PANDOC:
        name, command = "pandoc", lambda path: [*PANDOC[kind], str(path)]
    else:
        return None
    small = [case for case in group if case.path.stat().st_size < 4 << 20]
    found = [found_in_order(case.text, run(command(case.path)).text) for case in small]
    return f"{name}: words {sum(found) / len(found):.4f}" if found else None


def judge_losses(program: str, folder: Path) -> Iterator[CheckResult]:
    """Text of a PDF that cannot be read is said, and real documents have the words that pdftotext finds."""
    for path, sentence in made("pdf", "losses", folder / "losses"):
        text = convert(program, path).text
        yield f"documents, lost text is said: {path.name}", None if sentence in text else text[:500]
    for case in made("pdf", "real", folder / "real"):
        found = import_module("pdf").words_found(case.text, convert(program, case.path).text)
        name = f"documents, real {case.path.name}: {found:.4f} of the words of pdftotext"
        yield name, None if found >= LEAST_WORDS else f"wanted {LEAST_WORDS}"


def judge_hostile(program: str, hostile: list[tuple[str, Path]]) -> Iterator[CheckResult]:
    for name, path in hostile:
        output = convert(program, path)
        failure = None
        if output.exit not in (0, 1):
            failure = f"exit {output.exit}: {output.errors[-500:]}"
        elif output.exit == 1 and not output.errors.strip().startswith("error: "):
            failure = f"no clear error: {output.errors[-500:]}"
        elif "crashed" in output.errors:
            failure = f"the converter crashed: {output.errors[-500:]}"
        elif output.cpu_seconds > MOST_SECONDS or output.peak_bytes > MOST_BYTES:
            failure = f"{output.cpu_seconds:.1f} s, {output.peak_bytes >> 20} MiB"
        said = output.errors.strip().splitlines()[0][:120] if output.exit else "converted"
        yield f"documents, hostile {name}: {said}", failure


def judge_mutations(program: str, cases: list[Case], folder: Path, count: int) -> CheckResult:
    """Documents with changed bytes end in a result or in an error, and never in a crash of the program."""
    dice = random.Random(20_931)
    small = [case for case in cases if case.path.stat().st_size < 200_000]
    tasks = []
    for number in range(count):
        case = dice.choice(small)
        data = bytearray(case.path.read_bytes())
        for _ in range(dice.randint(1, 12)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        if dice.random() < 0.3:
            del data[dice.randrange(len(data)):]
        path = folder / f"mutated-{number}{case.path.suffix}"
        path.write_bytes(data)
        tasks.append(path)

    def attempt(path: Path) -> tuple[Path, Output]:
        output = convert(program, path)
        path.unlink()
        return path, output

    crashed, bad = 0, []
    with ThreadPoolExecutor(2) as pool:
        for path, output in pool.map(attempt, tasks):
            crashed += "crashed" in output.errors
            if output.exit not in (0, 1):
                bad.append(f"{path.name}: exit {output.exit}: {output.errors[-300:]}")
    name = f"documents, {count} mutated: {crashed} converters crashed, the program never"
    return name, "\n".join(bad[:10]) or None


if __name__ == "__main__":
    main()
