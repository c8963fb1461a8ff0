"""Commands under rough conditions: closed pipes, terminals of any width, servers that die, flood or go silent."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from commands.runs import TIMEOUT, environment, run
from processes import ServerProcess

CheckResult = tuple[str, str | None]

# A server over stdio whose first argument says what is wrong with it.
BROKEN = r"""
import json, sys
fault = sys.argv[1]
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "server/discover":
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
    elif method == "initialize":
        info = {"name": "broken", "version": "1"}
        send({"id": id, "result": {"protocolVersion": "2025-06-18", "capabilities": {"resources": {}}, "serverInfo": info}})
    elif id is None:
        continue
    elif fault == "dies":
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
    elif fault == "silent":
        continue
"""


def checks(program: Path) -> Iterator[CheckResult]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        desk = home / "desk"
        (desk / "資料").mkdir(parents=True)
        (desk / "資料/設計.md").write_text("# 設計\n")
        (desk / "long.txt").write_text("line\n" * 200_000)
        for number in range(300):
            (desk / f"a-name-that-is-rather-long-{number:03}.txt").write_text("x")
        yield from pipe_checks(program, home, desk)
        yield from terminal_checks(program, home, desk)
        yield from broken_checks(program, home)
        yield from hangup_checks(program, home, desk)
        yield from daemon_checks(program, home, desk)
        yield from restart_checks(program, home, desk)


def pipe_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    """A reader that closes the pipe early ends the command without an error."""
    for words in ["cat desk/long.txt", "ls -l desk", "find txt", "grep -n 150000 line"]:
        command = f"set -o pipefail; {program} {words} | head -n 1"
        done = subprocess.run(
            ["bash", "-c", command],
            env=environment(home),
            cwd=desk,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        is_fine = done.returncode == 0 and done.stdout.count("\n") == 1 and not done.stderr
        yield f"{words} | head -n 1", None if is_fine else f"{done.returncode} {done.stdout[:200]!r} {done.stderr!r}"


def terminal_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    for columns in [40, 120]:
        screen, status = on_terminal([str(program), "ls", "-l", "desk"], environment(home), desk, columns)
        longest = max((width(line) for line in screen.splitlines()), default=0)
        is_fine = status == 0 and longest <= columns and "299.txt" in screen
        yield f"ls -l fits {columns} columns", None if is_fine else f"{status}, {longest} columns:\n{screen[:600]}"
    screen, status = on_terminal([str(program), "ls", "--tree", "desk"], environment(home), desk, 80)
    yield "a tree shows Japanese names", None if "資料/" in screen and "設計.md" in screen else screen[:600]
    colors = {key: value for key, value in environment(home).items() if key != "NO_COLOR"} | {"TERM": "xterm"}
    screen, _ = on_terminal([str(program), "ls", "desk"], colors, desk, 80)
    yield "collections have a colour on a terminal", None if "\x1b[1;34m" in screen else repr(screen[:300])
    screen, _ = on_terminal([str(program), "ls", "desk"], colors | {"NO_COLOR": "1"}, desk, 80)
    yield "NO_COLOR is respected", None if "\x1b[" not in screen else repr(screen[:300])
    pager = colors | {"PAGER": "sed -n '1s/^/paged: /p'"}
    screen, _ = on_terminal([str(program), "cat", "desk/long.txt"], pager, desk, 80)
    yield "a long text goes to the pager", None if screen.startswith("paged: line") else repr(screen[:300])
    form = [str(program), "call", "ask", "-s", f"{sys.executable} -c '{ASKING}'"]
    screen, status = on_terminal(form, environment(home), desk, 80, typed=["Ada\n", "\n"])
    is_fine = status == 0 and 'hello {"name": "Ada"}' in screen.replace("\r", "")
    yield "a tool that asks back gets the answer of a person", None if is_fine else f"{status}\n{screen}"


# A server with a tool that asks for a name.
ASKING = r"""
import json, sys
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send({"id": id, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
              "serverInfo": {"name": "asking", "version": "1"}}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]}})
    elif method == "tools/call":
        call = id
        send({"id": "question", "method": "elicitation/create", "params": {"message": "Who are you?",
              "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}})
    elif id == "question":
        text = "hello " + json.dumps(message["result"].get("content"))
        send({"id": call, "result": {"content": [{"type": "text", "text": text}]}})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
"""


def broken_checks(program: Path, home: Path) -> Iterator[CheckResult]:
    script = home / "broken.py"
    script.write_text(BROKEN)
    server = f"{sys.executable} -B {script}"
    expected = {
        "dies": (3, "the connection ended"),
        "floods": (3, "did not answer in time"),
        "circles": (1, "go in a circle"),
        "silent": (3, "did not answer in time"),
    }
    for fault, (status, words) in expected.items():
        seen = run(program, ["ls", "--timeout", "3s"], home, f"{server} {fault}")
        is_fine = seen.status == status and words in seen.stderr
        yield f"ls, and the server {fault}", None if is_fine else seen.written(home)
    seen = run(program, ["ls", "-l"], home, f"{server} escapes")
    is_fine = seen.status == 0 and b"\x1b" not in seen.stdout and b"a://b/c" in seen.stdout
    yield "names cannot send escape sequences", None if is_fine else seen.written(home)
    process = subprocess.Popen(
        [str(program), "ls", "-s", f"{server} silent"],
        env=environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + TIMEOUT
    while not child_of(process.pid) and time.monotonic() < deadline:
        select.select([], [], [], 0.05)
    children = child_of(process.pid)
    process.send_signal(signal.SIGINT)
    status = process.wait(TIMEOUT)
    while any(is_alive(child) for child in children) and time.monotonic() < deadline:
        select.select([], [], [], 0.05)
    left = [child for child in children if is_alive(child)]
    is_fine = status in (130, -signal.SIGINT) and children and not left
    yield "Ctrl-C ends the command and its server", None if is_fine else f"{status}, {children}, left {left}"


def hangup_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    """A full-screen view ends with its terminal."""
    for view in ["pick"]:
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(desk)
            os.execve(program, ["refdesk", view], environment(home) | {"TERM": "xterm"})
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        screen = b""
        deadline = time.monotonic() + TIMEOUT
        # The first frame has the name of the mount.
        while b"desk" not in screen and time.monotonic() < deadline:
            if select.select([terminal], [], [], 1.0)[0]:
                screen += os.read(terminal, 65_536)
        children = child_of(pid)
        os.close(terminal)
        while is_alive(pid) and time.monotonic() < deadline:
            select.select([], [], [], 0.05)
        ended = not is_alive(pid)
        if not ended:
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        while any(is_alive(child) for child in children) and time.monotonic() < deadline:
            select.select([], [], [], 0.05)
        left = [child for child in children if is_alive(child)]
        yield f"{view} ends with its terminal", None if ended and not left else f"{ended}, left {left}, {screen[-300:]!r}"


def daemon_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    """A server in the background is found again, and stopped."""
    below = desk / "資料"
    started = run(program, ["serve", "--daemon"], home, None, desk)
    try:
        yield "a server starts in the background", None if started.status == 0 else started.written(home)
        again = run(program, ["serve", "--daemon"], home, None, desk)
        yield "it starts once", None if b"runs already" in again.stdout else again.written(home)
        seen = run(program, ["ls"], home, None, below)
        is_fine = b"file:///desk/" in seen.stdout
        yield "a command in a folder below uses it", None if is_fine else seen.written(home)
        seen = run(program, ["find", "設計"], home, None, desk)
        yield "paths are those of the folder", None if seen.stdout.decode() == "資料/設計.md\n" else seen.written(home)
        words = ["--count", "1", "--json", "desk/long.txt", "--exec", "echo $REFDESK_URI"]
        watching = start_watch(program, words, home, desk)
        (desk / "long.txt").write_text("changed\n")
        out, _ = watching.communicate(timeout=TIMEOUT)
        is_fine = '"kind":"updated"' in out and out.endswith("file:///desk/long.txt\n") and watching.returncode == 0
        yield "a change is told, and a command runs", None if is_fine else f"{watching.returncode} {out}"
    finally:
        stopped = run(program, ["serve", "--stop"], home, None, desk)
    yield "it stops", None if stopped.status == 0 else stopped.written(home)


def start_watch(program: Path, words: list[str], home: Path, cwd: Path) -> subprocess.Popen[str]:
    """Starts `refdesk watch` and waits until it watches."""
    watching = subprocess.Popen(
        [str(program), "watch", *words],
        env=environment(home),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watching.stderr.readline()
    return watching


def restart_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    """`watch` goes on when its server is killed and comes back at the same address."""
    command = [str(program), "serve", str(desk), "--listen"]
    watching = None
    try:
        with ServerProcess([*command, "127.0.0.1:0"], environment(home)) as first:
            words = ["--count", "2", "--json", "--server", first.url, "file:///desk/long.txt"]
            watching = start_watch(program, words, home, home)
            first.kill()
        port = first.url.split(":")[2].split("/")[0]
        with ServerProcess([*command, f"127.0.0.1:{port}"], environment(home)):
            back = watching.stdout.readline()
            yield "a watch says that its server came back", None if '"reconnected"' in back else repr(back)
            (desk / "long.txt").write_text("changed again\n")
            out, _ = watching.communicate(timeout=TIMEOUT)
            is_fine = '"kind":"updated"' in out and watching.returncode == 0
            yield "and tells the next change", None if is_fine else f"{watching.returncode} {out}"
    finally:
        if watching is not None and watching.poll() is None:
            watching.kill()


def on_terminal(
    command: list[str], variables: dict[str, str], cwd: Path, columns: int, typed: list[str] | None = None
) -> tuple[str, int]:
    """Runs a command on a terminal of its own; returns the screen and the exit status.

    Each text of `typed` is sent after the next prompt, which ends with a colon and a space."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, variables | {"TERM": variables.get("TERM", "xterm")})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    screen, waiting, answered = b"", list(typed or []), 0
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 1.0)
        if not ready:
            continue
        try:
            more = os.read(terminal, 65_536)
        except OSError:
            break
        if not more:
            break
        screen += more
        if waiting and screen.endswith(b": ") and len(screen) > answered:
            answered = len(screen) + len(waiting[0]) + 1
            os.write(terminal, waiting.pop(0).encode())
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return screen.decode(errors="replace").replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)


def width(line: str) -> int:
    """The columns of a line without escape sequences; wide letters take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def child_of(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    own = [int(child) for child in path.read_text().split()] if path.exists() else []
    return own + [deeper for child in own for deeper in child_of(child)]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"
