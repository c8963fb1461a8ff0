"""Test client on the Inspector's CLI: one command per request; no completion and no error codes."""

import json
import subprocess
import sys
import tempfile
from typing import Any

REQUESTS = json.loads(sys.argv[1])
INSPECTOR = sys.argv[2:]
TIMEOUT = 60


def main() -> None:
    outcome = {
        "revision": attempt(lambda: request("initialize")["protocolVersion"]),
        "pages": attempt(lambda: [[resource["uri"] for resource in request("resources/list")["resources"]]]),
        "contents": {uri: attempt(lambda: read(uri)) for uri in REQUESTS["read"]},
        "templates": attempt(templates),
        "expanded": attempt(lambda: read(expand(**REQUESTS["expand"]))),
        "missing": attempt(missing_error),
    }
    print(json.dumps(outcome))


def attempt(step: Any) -> dict[str, Any]:
    """Runs one step and catches its failure, so that the other steps still run."""
    try:
        return {"result": step()}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


class ServerError(Exception):
    """The server answered with an error. Failures of the Inspector itself have another code."""


def request(method: str, *parameters: str) -> dict[str, Any]:
    server = [REQUESTS["url"]] if REQUESTS["transport"] == "http" else ["--", *REQUESTS["command"]]
    era = ["--protocol-era", REQUESTS["era"]]
    options = ["--cli", *era, "--method", method, *parameters, "--format", "json", "--quiet"]
    # HOME is a temporary folder: the Inspector stores a catalog and secrets there.
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.run(
            [*INSPECTOR, *options, *server], env={"HOME": home}, capture_output=True, text=True, timeout=TIMEOUT
        )
    if process.returncode:
        error = json.loads(process.stderr)["error"]
        raise (ServerError if error["code"] == "error" else OSError)(error["message"])
    return json.loads(process.stdout)["result"]


def read(uri: str) -> list[dict[str, Any]]:
    return request("resources/read", "--uri", uri)["contents"]


def templates() -> list[str]:
    return [template["uriTemplate"] for template in request("resources/templates/list")["resourceTemplates"]]


def expand(template: str, values: dict[str, str]) -> str:
    return template.format(**values)


def missing_error() -> str:
    """Reads a missing resource and returns the error message."""
    try:
        contents = read(REQUESTS["missing"])
    except ServerError as error:
        return str(error)
    raise AssertionError(f"read a missing resource: {contents}")


main()
