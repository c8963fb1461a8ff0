"""Converts the corpus with refdesk and with other converters, and compares what went in with what came out.

`judge.py PROGRAM [MUTATIONS]` runs in the environment that makes the documents. It prints a line of JSON for each check: its
name, and its failure or null. `judge.py PROGRAM 10000 mutations` runs the mutations alone, each in every form.
"""

import json
import os
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

# What is asserted of the reader of PDF that is built in, where pdftotext is not installed.
LEAST_BUILT_IN = {"en": 0.99, "ja": 0.97}

# What no form of a hostile document has: a line of /etc/passwd, and an address that runs a script.
FORBIDDEN = re.compile(r"root:[^:\s]*:0:0|javascript:", re.IGNORECASE)

# A hostile document may take the time and memory of a conversion, and of the program around it.
MOST_SECONDS, MOST_BYTES = 15, 1.2 * (1 << 30)

MUTATIONS = 240

CheckResult = tuple[str, str | None]


def main() -> None:
    program = sys.argv[1]
    mutations = int(sys.argv[2]) if len(sys.argv) > 2 else MUTATIONS
    run_checks = mutation_checks if "mutations" in sys.argv else checks
    with tempfile.TemporaryDirectory() as folder:
        # Forms from the cache of another run cost nothing, and tell nothing.
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        for check, failure in run_checks(program, Path(folder), mutations):
            print(json.dumps([check, failure]), flush=True)


def checks(program: str, folder: Path, mutations: int) -> Iterator[CheckResult]:
    all_cases = []
    for family in FAMILIES:
        cases = made(family, "cases", folder / family)
        all_cases += cases
        yield from judge_cases(program, cases)
        hostile = made(HOSTILE.get(family, family), "hostile", folder / f"{family}-hostile")
        yield from judge_hostile(program, hostile)
        if family == "pdf":
            yield from judge_built_in(program, cases, folder)
    yield from judge_losses(program, folder)
    yield from judge_real(program, folder)
    yield judge_mutations(program, all_cases, folder, mutations)


def mutation_checks(program: str, folder: Path, mutations: int) -> Iterator[CheckResult]:
    cases = [case for family in FAMILIES for case in made(family, "cases", folder / family)]
    yield judge_mutations(program, cases, folder, mutations, in_all_forms=True)


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
        name += f", {costs(outputs)}"
        if rival := judge_rival(kind, group):
            name += f" ({rival})"
        yield name, "\n".join(failures[:20]) or None


def costs(outputs: list[Output]) -> str:
    """The CPU time of all conversions, and the most memory of one of them."""
    seconds, peak = sum(output.cpu_seconds for output in outputs), max(output.peak_bytes for output in outputs)
    return f"CPU {seconds:.2f} s, {peak >> 20} MiB"


def holds(text: str, piece: str) -> bool:
    """Whether a text has the words of a piece; of a piece without words, the piece itself."""
    return plain(piece) in plain(text) if plain(piece) else piece in text


def convert(program: str, path: Path, to: str | None = None, environment: dict[str, str] | None = None) -> Output:
    output = run([program, "convert", str(path), "--to", to or usual_form(path)], environment=environment)
    output.text = re.sub(r"<!-- page \d+ -->", "", output.text)
    return output


def usual_form(path: Path) -> str:
    """The form that a model reads. Images have no Markdown; their text is what a model reads."""
    if path.suffix in {".png", ".jpg", ".jpeg", ".gif", ".webp", ".tiff", ".bmp", ".ico"}:
        return "text/plain"
    return {".svg": "image/svg+xml", ".md": "text/html"}.get(path.suffix, "text/markdown")


def forms_of(program: str, path: Path) -> list[str]:
    """All forms of a document, which the refusal of another one lists; of what is no document, the usual one."""
    refusal = run([program, "convert", str(path), "--to", "application/x-none"]).errors
    listed = re.search(r"there are (.+)", refusal)
    return [form.strip() for form in listed[1].split(",")] if listed else [usual_form(path)]


def judge_rival(kind: str, group: list[Case]) -> str | None:
    """What another converter finds in the same files, and what it takes."""
    if kind == "pdf":
        name, command = "pdftotext", lambda path: [*PDFTOTEXT, str(path), "-"]
    elif kind in PANDOC:
        name, command = "pandoc", lambda path: [*PANDOC[kind], str(path)]
    else:
        return None
    small = [case for case in group if case.path.stat().st_size < 4 << 20]
    if not small:
        return None
    outputs = [run(command(case.path)) for case in small]
    found = [found_in_order(case.text, output.text) for case, output in zip(small, outputs)]
    of_all = "" if len(small) == len(group) else f" of {len(small)} files"
    return f"{name}{of_all}: words {sum(found) / len(found):.4f}, {costs(outputs)}"


def judge_built_in(program: str, cases: list[Case], folder: Path) -> Iterator[CheckResult]:
    """PDF where pdftotext is not installed: the path of programs leads to an empty folder."""
    (folder / "no-programs").mkdir()
    environment = os.environ | {"PATH": str(folder / "no-programs")}
    for language, least in LEAST_BUILT_IN.items():
        group = [case for case in cases if case.language == language]
        outputs = [convert(program, case.path, environment=environment) for case in group]
        found = [found_in_order(case.text, output.text) for case, output in zip(group, outputs)]
        failures = [f"{case.path.name}: {output.errors.strip()[:200]}" for case, output in zip(group, outputs) if output.exit]
        share = sum(found) / len(found)
        if share < least:
            worst = sorted((share, case.path.name) for share, case in zip(found, group))[:5]
            failures.append(f"wanted {least}; {worst}")
        yield f"documents, pdf {language} without pdftotext: {len(group)} files, words {share:.4f}, {costs(outputs)}", "\n".join(failures) or None


def judge_losses(program: str, folder: Path) -> Iterator[CheckResult]:
    """Text of a PDF that cannot be read is said, and real documents have the words that pdftotext finds."""
    for path, sentence in made("pdf", "losses", folder / "losses"):
        text = convert(program, path).text
        yield f"documents, lost text is said: {path.name}", None if sentence in text else text[:500]


def judge_real(program: str, folder: Path) -> Iterator[CheckResult]:
    """Real documents have the words that another reader finds in them, in order."""
    for case in made("real", "cases", folder / "real"):
        output = convert(program, case.path, case.form)
        found = found_in_order(case.text, output.text)
        name = f"documents, real {case.kind} {case.language} {case.path.name}: {found:.4f} of the words of {case.reader}, {costs([output])}"
        yield name, None if found >= case.least else f"wanted {case.least}; {output.errors.strip()[:300]}"


def judge_hostile(program: str, hostile: list[tuple[str, Path]]) -> Iterator[CheckResult]:
    for name, path in hostile:
        forms = forms_of(program, path)
        outputs = [convert(program, path, form) for form in forms]
        failures = [f"{form}: {failure}" for form, output in zip(forms, outputs) if (failure := hostile_failure(output))]
        said = outputs[0].errors.strip().splitlines()[0][:120] if outputs[0].exit else "converted"
        yield f"documents, hostile {name}, forms {len(forms)}: {said}", "\n".join(failures) or None


def hostile_failure(output: Output) -> str | None:
    if output.exit not in (0, 1):
        return f"exit {output.exit}: {output.errors[-500:]}"
    if output.exit == 1 and not output.errors.strip().startswith("error: "):
        return f"no clear error: {output.errors[-500:]}"
    if "crashed" in output.errors:
        return f"the converter crashed: {output.errors[-500:]}"
    if output.cpu_seconds > MOST_SECONDS or output.peak_bytes > MOST_BYTES:
        return f"{output.cpu_seconds:.1f} s, {output.peak_bytes >> 20} MiB"
    if found := FORBIDDEN.search(output.text):
        return f"it has {output.text[max(found.start() - 100, 0) : found.end() + 100]!r}"
    return None


def judge_mutations(program: str, cases: list[Case], folder: Path, count: int, *, in_all_forms: bool = False) -> CheckResult:
    """Documents with changed bytes end in a result or in an error, and never in a crash of the program."""
    dice = random.Random(20_931)
    small = [case for case in cases if case.path.stat().st_size < 200_000]
    forms = {}
    for case in small:
        if case.path.suffix not in forms:
            forms[case.path.suffix] = forms_of(program, case.path)

    def attempt(number: int, case: Case, seed: int) -> tuple[Path, list[Output]]:
        path = folder / f"mutated-{number}{case.path.suffix}"
        path.write_bytes(mutated(case.path.read_bytes(), random.Random(seed)))
        wanted = forms[case.path.suffix]
        wanted = wanted if in_all_forms else [wanted[seed % len(wanted)]]
        outputs = [convert(program, path, form) for form in wanted]
        path.unlink()
        return path, outputs

    crashed, conversions, bad = 0, 0, []
    with ThreadPoolExecutor(2) as pool:
        tasks = [pool.submit(attempt, number, dice.choice(small), dice.randrange(1 << 30)) for number in range(count)]
        for task in tasks:
            path, outputs = task.result()
            conversions += len(outputs)
            crashed += sum("crashed" in output.errors for output in outputs)
            bad += [f"{path.name}: exit {output.exit}: {output.errors[-300:]}" for output in outputs if output.exit not in (0, 1)]
    name = f"documents, {count} mutated, {conversions} conversions: {crashed} converters crashed, the program never"
    return name, "\n".join(bad[:10]) or None


def mutated(content: bytes, dice: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(dice.randint(1, 12)):
        data[dice.randrange(len(data))] = dice.randrange(256)
    if dice.random() < 0.3:
        del data[dice.randrange(len(data)) :]
    return bytes(data)


if __name__ == "__main__":
    main()
