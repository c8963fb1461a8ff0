"""Runs the judges of conversions and of a server of documents, in the environment that makes the documents."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from processes import BUILD

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]

ARGUMENTS = {"judge.py": [], "serving.py": ["--json"]}


def checks(program: Path) -> Iterator[CheckResult]:
    for script in ["judge.py", "serving.py"]:
        command = [BUILD / "documents/bin/python", "-B", Path(__file__).with_name(script), program, *ARGUMENTS[script]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as judge:
            for line in judge.stdout:
                check, failure = json.loads(line)
                yield check, failure
        yield f"documents: {script} ends", None if judge.returncode == 0 else f"exit {judge.returncode}"
