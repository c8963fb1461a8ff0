"""Runs the judges of search in the environment that has the other search engines: questions, packs, freshness."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from processes import BUILD

# Enough to see a failure that is not rare; by hand, the judges run with their defaults.
BUDGETS, ROUNDS = 120, 5

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]


def checks(program: Path) -> Iterator[CheckResult]:
    # Settings and index are shared, so that the pages are indexed once.
    with tempfile.TemporaryDirectory() as folder:
        yield from run("judge.py", program, "--folder", folder)
        yield from run("packs.py", program, "--folder", folder, "--budgets", str(BUDGETS))
    yield from run("freshness.py", program, "--rounds", str(ROUNDS))


def run(script: str, program: Path, *arguments: str) -> Iterator[CheckResult]:
    command = [BUILD / "search/bin/python", "-B", Path(__file__).with_name(script), program, "--json", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as judge:
        for line in judge.stdout:
            check, failure = json.loads(line)
            yield check, failure
    yield f"search, {script} ends", None if judge.returncode == 0 else f"exit {judge.returncode}"
