"""`refdesk doctor` against other servers: what it finds is what the table in docs/doctor.md says.

`python3 -B doctor.py PROGRAM [--accept]` runs it alone; `--accept` writes the table anew: compare each change of it
with the specification by hand.
"""

import contextlib
import difflib
import json
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.parse
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import fixtures
from gateway import EVERYTHING
from processes import BUILD, FIXTURE, HERE, NODE, START_TIMEOUT, RefdeskProcess, ServerProcess, free_port

CheckResult = tuple[str, str | None]

DOCUMENT = HERE.parent / "docs/doctor.md"
TABLE_START = "<!-- servers: written by interop/doctor.py -->\n\n"
TABLE_END = "\n\n<!-- end of servers -->"
HEAD = (
    "| server | transport | revisions | errors | warnings | advice |\n"
    "| --- | --- | --- | --- | --- | --- |\n"
)
SEVERITIES = ["error", "warning", "advice"]
# The tool of the fixture that changes a resource.
CHANGE = "test_trigger_resource_change"
# A server that starts slowly on a loaded machine is not a finding.
REQUEST_TIMEOUT = "60s"
TIMEOUT = 600.0


@dataclass(frozen=True)
class ExaminedServer:
    """One server, as the table names it, and how to reach it."""

    name: str
    transport: str
    # Over stdio, the program and its arguments; over HTTP, the URL alone.
    target: list[str]
    # A tool that changes a resource.
    change: str | None = None


def checks(program: Path) -> Iterator[CheckResult]:
    """Examines all servers; a row that differs from the table is a failure."""
    table = written_table()
    for server, row in rows(program):
        known = [line for line in table if line.startswith(f"| {server.name} | {server.transport} |")]
        yield f"doctor of {server.name}, {server.transport}", difference(known, row)


def rows(program: Path) -> Iterator[tuple[ExaminedServer, str]]:
    with ExitStack() as stack:
        for server in servers(program, stack):
            yield server, row(server, examine(program, server))


def servers(program: Path, stack: ExitStack) -> Iterator[ExaminedServer]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    refdesk = stack.enter_context(RefdeskProcess(program, fixtures.write_files(folder)))
    yield ExaminedServer("refdesk", "stdio", ["--", *refdesk.stdio_command])
    yield ExaminedServer("refdesk", "HTTP", [refdesk.url])

    def over_http(command: list[str], path: str = "/mcp") -> list[str]:
        port = free_port()
        started = [str(port) if word == "PORT" else word for word in command]
        server = stack.enter_context(ServerProcess(started, {"PORT": str(port)}, port))
        # Some print their address before they listen.
        wait_until_listening(server.url)
        return [server.url.removesuffix("/mcp") + path]

    sdk = version("everything", "@modelcontextprotocol/sdk")
    name = f"`server-everything` {version('everything')} (TypeScript SDK {sdk})"
    everything = [str(NODE), str(EVERYTHING)]
    yield ExaminedServer(name, "stdio", ["--", *everything, "stdio"])
    yield ExaminedServer(name, "HTTP", over_http([*everything, "streamableHttp"]))
    yield ExaminedServer(name, "HTTP+SSE", over_http([*everything, "sse"], "/sse"))
    name = f"TypeScript `@modelcontextprotocol/server` {version('typescript-2-server')}"
    typescript = [str(NODE), f"{HERE}/servers/typescript_2.mjs", f"{BUILD}/typescript-2-server"]
    yield ExaminedServer(name, "stdio", ["--", *typescript])
    yield ExaminedServer(name, "HTTP", over_http([*typescript, "PORT"]))
    for folder_name, label, script in [
        ("python-1", "Python `mcp`", "python_1.py"),
        ("python-2", "Python `mcp`", "python_2.py"),
        ("fastmcp", "FastMCP", "fastmcp_4.py"),
    ]:
        name = f"{label} {version(folder_name)}"
        command = [f"{BUILD}/{folder_name}/bin/python", "-B", f"{HERE}/servers/{script}"]
        yield ExaminedServer(name, "stdio", ["--", *command])
        yield ExaminedServer(name, "HTTP", over_http([*command, "http", "PORT"]))
        if folder_name != "fastmcp":
            yield ExaminedServer(name, "HTTP+SSE", over_http([*command, "sse", "PORT"], "/sse"))
    name = f"`rmcp` {locked_version('rmcp')} (the fixture of this repository)"
    yield ExaminedServer(name, "stdio", ["--", str(FIXTURE), "--stdio"], CHANGE)
    yield ExaminedServer(name, "HTTP", over_http([str(FIXTURE)]), CHANGE)


def wait_until_listening(url: str) -> None:
    end = time.monotonic() + START_TIMEOUT
    address = urllib.parse.urlsplit(url)
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection((address.hostname, address.port)):
            return
        time.sleep(0.05)


def version(folder: str, package: str | None = None) -> str:
    """The version of the first package of an installation, or of one that it needs."""
    if package:
        return json.loads((BUILD / folder / "node_modules" / package / "package.json").read_text())["version"]
    packages = tomllib.loads((HERE / "versions.toml").read_text())[folder]
    [first, *_] = packages.get("npm") or packages["pip"]
    return first.replace("==", "@").rsplit("@", 1)[1]


def locked_version(crate: str) -> str:
    """The version of a crate that the fixture is built with."""
    packages = tomllib.loads((HERE.parent / "Cargo.lock").read_text())["package"]
    return next(package["version"] for package in packages if package["name"] == crate)


def examine(program: Path, server: ExaminedServer) -> dict:
    """The report of an examination."""
    change = ["--change", server.change] if server.change else []
    command = [str(program), "doctor", "--json", "--timeout", REQUEST_TIMEOUT, *change, *server.target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def row(server: ExaminedServer, report: dict) -> str:
    """The report as a row of the table."""
    announced = [check["outcome"] for check in report.get("checks", []) if check["id"] == "change-announced"]
    if server.change and announced != ["passed"]:
        return f"| {server.name} | {server.transport} | the change by {server.change}: {announced} |"
    if "error" in report:
        return f"| {server.name} | {server.transport} | {report['error'].strip()} |"
    reached = [tried["revision"] for tried in report["revisions"] if tried["reached"]]
    is_all = len(reached) == len(report["revisions"])
    revisions = "all five" if is_all else f"{reached[-1]} to {reached[0]}" if reached[1:] else "".join(reached)
    cells = [server.name, server.transport, revisions or "none"]
    for severity in SEVERITIES:
        found = [finding["id"] for finding in report["findings"] if finding["severity"] == severity]
        cells.append(", ".join(f"`{rule}`" for rule in dict.fromkeys(found)) or "–")
    return f"| {' | '.join(cells)} |"


def written_table() -> list[str]:
    _, rest = DOCUMENT.read_text().split(TABLE_START)
    table, _ = rest.split(TABLE_END)
    return table.removeprefix(HEAD).splitlines()


def difference(known: list[str], row: str) -> str | None:
    return "\n".join(difflib.ndiff(known, [row])) if known != [row] else None


def accept(program: Path) -> None:
    found = [row for _, row in rows(program)]
    text = DOCUMENT.read_text()
    before, rest = text.split(TABLE_START)
    _, after = rest.split(TABLE_END)
    DOCUMENT.write_text(before + TABLE_START + HEAD + "\n".join(found) + TABLE_END + after)


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    if "--accept" in sys.argv:
        accept(program)
        return 0
    failures = [(check, failure) for check, failure in checks(program) if failure]
    for check, failure in failures:
        print(f"FAILED {check}\n{failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
