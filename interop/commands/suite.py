"""Commands of the terminal against refdesk and other servers: what they print is what the snapshots have.

`python3 -B commands/suite.py PROGRAM [--accept]` runs them alone; `--accept` writes the snapshots anew.
"""

import difflib
import os
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from processes import BUILD, HERE, NODE, ServerProcess  # noqa: E402

from commands import rough, shells  # noqa: E402
from commands.runs import PLAIN, environment, run  # noqa: E402

CheckResult = tuple[str, str | None]

SNAPSHOTS = Path(__file__).resolve().parent / "snapshots"
EVERYTHING = BUILD / "everything/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
FILES = {
    "README.md": "# The desk\n\nAsk here for cursors.\n",
    "src/main.rs": 'fn main() {\n    println!("hello");\n}\n',
    "src/lib.rs": "//! Cursors.\npub fn cursor() {}\n",
    "資料/設計.md": "# 設計\n\nカーソルは署名される。\n",
    "data.bin": bytes(range(256)),
    "list.csv": "name,count\npen,3\n",
}

DOCUMENT = "demo://resource/static/document/features.md"
OF_EVERYTHING = [
    "ls demo://resource/static/document",
    f"cat {DOCUMENT} --lines 1-3",
    f"stat {DOCUMENT}",
    "stat demo://resource/dynamic/text/1",
    "find feature",
    "grep -n 3 -i tools",
    "search -n 2 subscriptions logging",
    "get demo://resource/dynamic/text/{resourceId} resourceId=7",
    "get demo://resource/dynamic/text/{resourceId} nothing=7",
    "call echo message=hello",
    "call echo",
    "call ekko",
    "call get-sum a=1 b=two",
    "call get-sum a=1 b=2 --json",
    "call get-resource-links count=2",
    "call trigger-elicitation-request",
    "pack anything",
    f"watch {DOCUMENT}",
    "watch",
    f"cp {DOCUMENT} copied",
    "cp -r demo://resource/static/document copied",
    "cp -r demo://resource/nothing copied",
]
OF_NOTES = [
    "cat note://one",
    "cat note://blob",
    "cat note://blob --bytes 0-1 --json",
    "stat note://one",
    "find on",
    "grep note",
    "search note",
    "get note://item/{id} id=7",
    "get item id=7",
    "call echo message=hello --json",
    "ls --mime text/plain",
    "ls --name nothing",
    "pack anything",
    "watch note://one",
    "watch",
    "cp note://blob copied",
    "cp -r note:// copied",
]
OF_REFDESK = [
    "ls desk",
    "ls -l desk",
    "ls file:///desk/src",
    "ls --all --name *.rs",
    "ls --all --sort size --limit 3",
    "ls desk --sort name --limit 2",
    "ls --tree -l --sort name desk",
    "ls --tree --name *.rs",
    "cat desk/README.md",
    "cat README.md --lines 3",
    "cat desk/README.md --bytes 0-4",
    "cat desk/README.md --tokens 3",
    "cat desk/list.csv --accept text/markdown",
    "cat desk/data.bin",
    "cat desk/資料/設計.md file:///desk/none src/lib.rs",
    "stat desk/README.md",
    "find 設計",
    "find cursor",
    "grep -i cursor",
    "grep -C 1 println desk/src",
    "grep -l -i cursor",
    "grep hello src/main.rs",
    "grep (",
    "search --json -n 1 署名",
    "call resources_read uri=desk/README.md max_lines=1",
    "pack --budget 300 cursors",
    "pack --budget 300 --json cursors",
    "get file:///desk/{+path} path=README.md --json",
    "watch desk/none",
    "watch desk/README.md",
    "cp desk/src copied",
    "cp -r desk/src copied",
    "cp -r desk/src copied",
]


def checks(program: Path) -> Iterator[CheckResult]:
    """Runs everything; a difference from a snapshot is a failure."""
    for name, written in snapshots(program):
        path = SNAPSHOTS / f"{name}.txt"
        wanted = path.read_text() if path.exists() else ""
        yield f"commands against {name}", difference(wanted, written)
    yield from rough.checks(program)
    yield from shells.checks(program)


def snapshots(program: Path) -> Iterator[tuple[str, str]]:
    """The name of each server, and everything that was run against it."""
    node = shlex.quote(str(NODE))
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        web = ServerProcess([str(NODE), str(EVERYTHING), "streamableHttp"], {"PORT": str(port)}, port)
        yield "everything", written(program, home, [*PLAIN, *OF_EVERYTHING], f"{node} {EVERYTHING} stdio")
        # Over HTTP the server says the same.
        clear_copies(home)
        yield "everything-http", written(program, home, [*PLAIN, *OF_EVERYTHING], stack.enter_context(web).url)
        for name, script in [("python-2", "python_2.py"), ("fastmcp", "fastmcp_4.py")]:
            server = f"{BUILD}/{name}/bin/python -B {HERE}/servers/{script}"
            clear_copies(home)
            yield name, written(program, home, [*PLAIN, *OF_NOTES], server)
        desk = home / "desk"
        write_files(desk)
        yield "refdesk", written(program, home, [*PLAIN, *OF_REFDESK], None, desk)


def clear_copies(home: Path) -> None:
    """Removes what the commands of the server before copied."""
    shutil.rmtree(home / "copied", ignore_errors=True)


def written(program: Path, home: Path, commands: list[str], server: str | None, cwd: Path | None = None) -> str:
    runs = [run(program, words(command), home, server, cwd) for command in commands]
    return "\n".join(one.written(home) for one in runs)


def words(command: str) -> list[str]:
    """The words of a command; only spaces divide them."""
    return command.split(" ")


def write_files(folder: Path) -> None:
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def difference(wanted: str, seen: str) -> str | None:
    lines = difflib.unified_diff(wanted.splitlines(), seen.splitlines(), "snapshot", "seen", lineterm="", n=2)
    return "\n".join(lines) or None


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    if "--accept" in sys.argv:
        for name, text in snapshots(program):
            (SNAPSHOTS / f"{name}.txt").write_text(text)
        return 0
    failed = 0
    for check, failure in checks(program):
        print(f"{'FAILED' if failure else 'ok  '} {check}", *([failure] if failure else []), sep="\n", flush=True)
        failed += bool(failure)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
