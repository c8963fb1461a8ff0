"""Checks of the page in Chromium. The checks themselves are the Node program beside this file.

`python3 -B page/suite.py PROGRAM [--accept] [SUBJECT…]` runs them alone; `--accept` takes the screenshots of docs/images anew.
The subjects are sources, walks (or one of browse, search, previews, forms, basket, settings and live), elsewhere, lists,
preferences, accessibility, hostile, guards, crowd and screenshots. With EXPLORER=FOLDER the files of the page come from that
folder, so that a change needs no build.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from processes import BUILD, NODE, STOP_TIMEOUT  # noqa: E402


def checks(program: Path, words: list[str] | None = None) -> Iterator[tuple[str, str | None]]:
    process = subprocess.Popen(
        [str(NODE), str(HERE / "main.mjs"), str(program), *(words or [])],
        env=os.environ | {"INTEROP_BUILD": str(BUILD)},
        # Its end tells the program that nobody reads on.
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    failed, other = 0, []
    try:
        for line in process.stdout:
            if not line.startswith("{"):
                other.append(line)
                continue
            result = json.loads(line)
            failed += bool(result["failure"])
            yield result["check"], result["failure"]
        process.wait(STOP_TIMEOUT)
    finally:
        # The program then ends its servers and its browser.
        process.stdin.close()
        process.wait()
    is_whole = process.returncode == (1 if failed else 0)
    yield "page: the checks run to their end", None if is_whole else f"exit code {process.returncode}\n{''.join(other)}"


def main() -> int:
    failed = 0
    for check, failure in checks(Path(sys.argv[1]).resolve(), sys.argv[2:]):
        print(f"{'FAILED' if failure else 'ok  '} {check}" + (f"\n{failure}" if failure else ""), flush=True)
        failed += bool(failure)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
