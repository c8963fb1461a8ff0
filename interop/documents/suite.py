"""Runs the judge of conversions in the environment that makes the documents."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from processes import BUILD

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]


def checks(program: Path) -> Iterator[CheckResult]:
    command = [BUILD / "documents/bin/python", "-B", Path(__file__).with_name("judge.py"), program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as judge:
        for line in judge.stdout:
            check, failure = json.loads(line)
            yield check, failure
    yield "documents: the judge ends", None if judge.returncode == 0 else f"exit {judge.returncode}"
