"""Commands on terminals of their own: widths, colours, highlighted code, images, forms, and their end with the terminal."""

import base64
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from commands.children import child_of, is_alive
from commands.runs import TIMEOUT, environment, run

CheckResult = tuple[str, str | None]

# The smallest GIF: one pixel.
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
COLORS = re.compile(r"\x1b\[[0-9;]*m")
# The question of what a terminal can do, and answers with and without sixel graphics.
ATTRIBUTES, WITH_SIXEL, WITHOUT_SIXEL = b"\x1b[c", b"\x1b[?62;4;22c", b"\x1b[?62;22c"


def checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    yield from width_checks(program, home, desk)
    yield from color_checks(program, home, desk)
    yield from highlight_checks(program, home, desk)
    yield from image_checks(program, home, desk)
    yield from form_checks(program, home, desk)
    yield from hangup_checks(program, home, desk)


def width_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    for words in ["ls -l desk", "ls --tree desk", "ls --tree -l desk", "stat desk/long.txt", "get", "call"]:
        for columns in [40, 120]:
            screen, status = on_terminal([str(program), *words.split()], environment(home), desk, columns)
            longest = max((width(line) for line in screen.splitlines()), default=0)
            is_fine = status == 0 and 0 < longest <= columns
            yield f"{words} fits {columns} columns", None if is_fine else f"{status}, {longest} columns:\n{screen[:600]}"
    screen, _ = on_terminal([str(program), "ls", "--tree", "desk"], environment(home), desk, 80)
    yield "a tree shows Japanese names", None if "資料/" in screen and "設計.md" in screen else screen[:600]


def color_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    colors = colorful(home)
    screen, _ = on_terminal([str(program), "ls", "desk"], colors, desk, 80)
    yield "collections have a colour on a terminal", None if "\x1b[1;34m" in screen else repr(screen[:300])
    screen, _ = on_terminal([str(program), "ls", "desk"], colors | {"NO_COLOR": "1"}, desk, 80)
    yield "NO_COLOR is respected", None if "\x1b[" not in screen else repr(screen[:300])
    pager = colors | {"PAGER": "sed -n '1s/^/paged: /p'"}
    screen, _ = on_terminal([str(program), "cat", "desk/long.txt"], pager, desk, 80)
    yield "a long text goes to the pager", None if screen.startswith("paged: line") else repr(screen[:300])


def highlight_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    """Highlighted code is the file, in colours: nothing is lost or added, however large it is."""
    line = 'let step_{0} = wait(&"<a> & \'b\' {0}", {0}); // 手順 {0} <&>\n'
    for name, count in [("small.rs", 3), ("large.rs", 9_000)]:
        code = "fn main() {\n" + "".join(line.format(number) for number in range(count)) + "}\n"
        (desk / name).write_text(code)
        screen, status = on_terminal([str(program), "cat", "--no-pager", f"desk/{name}"], colorful(home), desk, 80)
        has_colors = "\x1b[35mlet\x1b[0m" in screen
        is_fine = status == 0 and has_colors and COLORS.sub("", screen) == code
        yield f"{name} in colours is the file", None if is_fine else f"{status}, {first_difference(COLORS.sub('', screen), code)}"
    screen, _ = on_terminal([str(program), "cat", "desk/large.rs", "--lines", "8000-8001"], colorful(home), desk, 80)
    wanted = "".join(line.format(number) for number in (7998, 7999))
    yield "lines far into it too", None if COLORS.sub("", screen) == wanted else repr(screen[:300])


def image_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    (desk / "dot.gif").write_bytes(GIF)
    command = [str(program), "cat", "desk/dot.gif"]
    plain = environment(home)
    screen, _ = on_terminal(command, plain | {"TERM": "xterm-kitty"}, desk, 80)
    found = re.search(r"\x1b_Ga=T,f=100,m=0;([A-Za-z0-9+/=]+)\x1b\\", screen)
    is_png = found and base64.b64decode(found[1]).startswith(b"\x89PNG")
    yield "kitty gets a GIF as PNG", None if is_png else repr(screen[:300])
    screen, _ = on_terminal(command, plain | {"TERM_PROGRAM": "iTerm.app"}, desk, 80)
    wanted = f"size={len(GIF)};preserveAspectRatio=1:{base64.b64encode(GIF).decode()}\x07"
    yield "iTerm2 gets the GIF itself", None if wanted in screen else repr(screen[:300])
    screen, status = on_terminal(command, plain, desk, 80, answers={ATTRIBUTES: WITH_SIXEL})
    is_drawn = re.search(r'\x1bP0;1;0q"1;1;1;1#0;2;0;0;0.*\x1b\\', screen, re.DOTALL)
    yield "a terminal with sixel gets pixels", None if status == 0 and is_drawn else f"{status} {screen[:300]!r}"
    screen, status = on_terminal(command, plain, desk, 80, answers={ATTRIBUTES: WITHOUT_SIXEL})
    is_told = status == 1 and "not text: write it to a file" in screen
    yield "other terminals get words", None if is_told else f"{status} {screen[:300]!r}"


def form_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    form = [str(program), "call", "ask", "-s", f"{sys.executable} -c '{ASKING}'"]
    screen, status = on_terminal(form, environment(home), desk, 80, typed=["Ada\n", "36\n", "\n"])
    is_fine = status == 0 and 'hello {"age": 36, "name": "Ada"}' in screen
    is_fine = is_fine and 0 < screen.find("name:") < screen.find("age [integer]")
    yield "a tool that asks back gets the answers of a person, in its order", None if is_fine else f"{status}\n{screen}"


# A server with a tool that asks for a name and an age, in this order.
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
              "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]}}})
    elif id == "question":
        text = "hello " + json.dumps(message["result"].get("content"), sort_keys=True)
        send({"id": call, "result": {"content": [{"type": "text", "text": text}]}})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
"""


def hangup_checks(program: Path, home: Path, desk: Path) -> Iterator[CheckResult]:
    """A full-screen view ends with its terminal."""
    started = run(program, ["serve", "--daemon"], home, None, desk)
    try:
        yield "a server for the views", None if started.status == 0 else started.written(home)
        yield "top ends with its terminal", hang_up(program, "top", home, desk)
    finally:
        run(program, ["serve", "--stop"], home, None, desk)
    # This one starts a server of its own.
    yield "pick ends with its terminal", hang_up(program, "pick", home, desk)


def hang_up(program: Path, view: str, home: Path, desk: Path) -> str | None:
    """Opens a view, closes its terminal, and waits until it and its children are gone."""
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
    return None if ended and not left and b"desk" in screen else f"{ended}, left {left}, {screen[-300:]!r}"


def colorful(home: Path) -> dict[str, str]:
    """The environment of a terminal with colours."""
    return {key: value for key, value in environment(home).items() if key != "NO_COLOR"} | {"TERM": "xterm"}


def first_difference(seen: str, wanted: str) -> str:
    at = next((at for at, (one, other) in enumerate(zip(seen, wanted)) if one != other), min(len(seen), len(wanted)))
    return f"{len(seen)} letters instead of {len(wanted)}; from {at} on {seen[at:at + 80]!r} instead of {wanted[at:at + 80]!r}"


def on_terminal(
    command: list[str],
    variables: dict[str, str],
    cwd: Path,
    columns: int,
    typed: list[str] | None = None,
    answers: dict[bytes, bytes] | None = None,
) -> tuple[str, int]:
    """Runs a command on a terminal of its own; returns the screen and the exit status.

    Each text of `typed` is sent after the next prompt, which ends with a colon and a space. The terminal replies
    to each question of `answers` once."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, variables | {"TERM": variables.get("TERM", "xterm")})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    screen, waiting, answered, replies = b"", list(typed or []), 0, dict(answers or {})
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
        for question in [question for question in replies if question in screen]:
            os.write(terminal, replies.pop(question))
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return screen.decode(errors="replace").replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)


def width(line: str) -> int:
    """The columns of a line without escape sequences; wide letters take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in COLORS.sub("", line))
