"""Commands against servers that die, flood, go silent or lie, in the middle of a list, a read or a call."""

import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from commands.children import child_of, is_alive
from commands.runs import TIMEOUT, environment, run

CheckResult = tuple[str, str | None]

# A server over stdio; its arguments say what is wrong with it, and at which method.
BROKEN = r"""
import json, sys
fault, stage = sys.argv[1:]
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
RESULTS = {
    "resources/list": {"resources": [{"uri": "a://b/0", "name": "0"}, {"uri": "a://b/1", "name": "1"}]},
    "resources/read": {"contents": [{"uri": "a://b/0", "text": "whole"}]},
    "tools/list": {"tools": [{"name": "tool", "inputSchema": {"type": "object"}}]},
}
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        info = {"name": "broken", "version": "1"}
        capabilities = {"resources": {}, "tools": {}}
        send({"id": id, "result": {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}})
    elif id is None:
        continue
    elif method != stage and method in RESULTS:
        send({"id": id, "result": RESULTS[method]})
    elif method != stage:
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
    elif fault == "is-silent":
        open("reached", "w").close()
    elif fault == "dies":
        # In the middle of the answer.
        sys.stdout.write('{"jsonrpc": "2.0", "id": ' + json.dumps(id) + ', "result": {"con')
        sys.stdout.flush()
        sys.exit(3)
    elif fault == "floods":
        while True:
            send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}})
    elif fault == "circles":
        rows = [{"uri": "a://b/" + str(number), "name": "b"} for number in range(3)]
        send({"id": id, "result": {"resources": rows, "nextCursor": "again"}})
    elif fault == "escapes":
        name = "\x1b]0;owned\x07\x1b[31mred\u202etxt"
        send({"id": id, "result": {"resources": [{"uri": "a://b/c", "name": name, "mimeType": "\x1b[2J"}]}})
"""
# Commands, and the method at which the server breaks.
STAGES = {
    "ls": "resources/list",
    "cat a://b/0": "resources/read",
    "cp -r a://b copied": "resources/read",
    "call tool": "tools/call",
}
# The exit status and the words for each fault.
FAULTS = {
    "dies": (3, "the connection ended"),
    "floods": (3, "did not answer in time"),
    "is-silent": (3, "did not answer in time"),
}


def checks(program: Path, home: Path) -> Iterator[CheckResult]:
    script = home / "broken.py"
    script.write_text(BROKEN)
    server = f"{sys.executable} -B {script}"
    for words, stage in STAGES.items():
        for fault, (status, told) in FAULTS.items():
            seen = run(program, [*words.split(), "--timeout", "3s"], home, f"{server} {fault} {stage}")
            left = [path.name for path in home.glob("copied/*")]
            is_fine = seen.status == status and told in seen.stderr and not seen.stdout and not left
            yield f"{words}, and the server {fault}", None if is_fine else f"{seen.written(home)}left: {left}"
        yield f"Ctrl-C ends {words} and its server", interrupt(program, words.split(), home, f"{server} is-silent {stage}")
    seen = run(program, ["ls"], home, f"{server} circles resources/list")
    is_fine = seen.status == 1 and "go in a circle" in seen.stderr
    yield "ls, and the cursors of the server go in a circle", None if is_fine else seen.written(home)
    seen = run(program, ["ls", "-l"], home, f"{server} escapes resources/list")
    is_fine = seen.status == 0 and b"\x1b" not in seen.stdout and b"a://b/c" in seen.stdout
    yield "names cannot send escape sequences", None if is_fine else seen.written(home)


def interrupt(program: Path, words: list[str], home: Path, server: str) -> str | None:
    """Starts a command whose server never answers, presses Ctrl-C, and waits until both are gone."""
    # The server makes this file when it gets the request that it does not answer.
    reached = home / "reached"
    reached.unlink(missing_ok=True)
    process = subprocess.Popen(
        [str(program), *words, "-s", server],
        env=environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + TIMEOUT
    while not reached.exists() and time.monotonic() < deadline:
        select.select([], [], [], 0.05)
    children = child_of(process.pid)
    process.send_signal(signal.SIGINT)
    status = process.wait(TIMEOUT)
    while any(is_alive(child) for child in children) and time.monotonic() < deadline:
        select.select([], [], [], 0.05)
    left = [child for child in children if is_alive(child)]
    is_fine = status in (130, -signal.SIGINT) and children and not left
    return None if is_fine else f"{status}, {children}, left {left}"
