"""Test client on the Inspector's CLI: one command per request; no completion and no error codes."""

import json
import subprocess
import sys
import tempfile
from typing import Any

ERRAND = json.loads(sys.argv[1])
INSPECTOR = sys.argv[2:]
PATIENCE = 60


def main() -> None:
    outcome = {
        "revision": attempt(lambda: ask("initialize")["protocolVersion"]),
        "pages": attempt(lambda: [[listed["uri"] for listed in ask("resources/list")["resources"]]]),
        "contents": {uri: attempt(lambda: read(uri)) for uri in ERRAND["read"]},
        "templates": attempt(templates),
        "expanded": attempt(lambda: read(expand(**ERRAND["expand"]))),
        "missing": attempt(missing),
    }
    print(json.dumps(outcome))


def attempt(step: Any) -> dict[str, Any]:
    """Runs one step and catches its failure, so that the other steps still run."""
    try:
        return {"gave": step()}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


class Refused(Exception):
    """The server answered with an error. Failures of the Inspector itself have another code."""


def ask(method: str, *options: str) -> dict[str, Any]:
    where = [ERRAND["url"]] if ERRAND["transport"] == "http" else ["--", *ERRAND["command"]]
    how = ["--cli", "--protocol-era", ERRAND["era"], "--method", method, *options, "--format", "json", "--quiet"]
    # HOME is a temporary folder: the Inspector stores a catalog and secrets there.
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [*INSPECTOR, *how, *where], env={"HOME": home}, capture_output=True, text=True, timeout=PATIENCE
        )
    if done.returncode:
        error = json.loads(done.stderr)["error"]
        raise (Refused if error["code"] == "error" else OSError)(error["message"])
    return json.loads(done.stdout)["result"]


def read(uri: str) -> list[dict[str, Any]]:
    return ask("resources/read", "--uri", uri)["contents"]


def templates() -> list[str]:
    return [listed["uriTemplate"] for listed in ask("resources/templates/list")["resourceTemplates"]]


def expand(template: str, values: dict[str, str]) -> str:
    return template.format(**values)


def missing() -> str:
    try:
        found = read(ERRAND["missing"])
    except Refused as refused:
        return str(refused)
    raise AssertionError(f"read a missing resource: {found}")


main()
