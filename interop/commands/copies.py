"""`refdesk cp` on a terminal: it shows its progress, is interrupted in the middle of a file, and goes on there."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import termios
import time
from collections.abc import Iterator
from pathlib import Path

from commands.runs import TIMEOUT, environment, run

CheckResult = tuple[str, str | None]

SIZE = 256 << 20
# The progress of the second mebibyte or a later one.
PROGRESS = re.compile(rb"\r0 of 2, (?:[2-9]|\d\d+)(?:\.\d)?M")


def checks(program: Path, home: Path) -> Iterator[CheckResult]:
    vault, copied = home / "vault", home / "vault-copy"
    vault.mkdir()
    with (vault / "large.bin").open("wb") as file:
        # The first bytes and the last ones differ from those between them.
        file.write(bytes(range(256)))
        file.truncate(SIZE - 256)
        file.seek(SIZE - 256)
        file.write(bytes(range(255, -1, -1)))
    (vault / "small.txt").write_text("small\n")
    screen, status = press_ctrl_c([str(program), "cp", "-r", "vault", str(copied)], home, vault)
    part = copied / "large.bin.refdesk-part"
    size = part.stat().st_size if part.exists() else 0
    is_fine = PROGRESS.search(screen) and status == 130 and 0 < size < SIZE
    yield "cp shows its progress, and Ctrl-C leaves a part", None if is_fine else f"{status}, {size}, {screen[-300:]!r}"
    seen = run(program, ["cp", "-r", "--json", "vault", str(copied)], home, None, vault)
    told = json.loads(seen.stdout or b"{}")
    is_fine = seen.status == 0 and told["copied"] == 2 and told["bytes"] == SIZE + 6 - size
    yield "the next run reads only the rest", None if is_fine else f"{size} {seen.written(home)}"
    names = sorted(path.name for path in copied.iterdir())
    is_same = names == ["large.bin", "small.txt"] and same_bytes(vault / "large.bin", copied / "large.bin")
    yield "and the copy is the file", None if is_same else f"{names}"
    for path in [*vault.iterdir(), *copied.iterdir()]:
        path.unlink()


def same_bytes(one: Path, other: Path) -> bool:
    with one.open("rb") as first, other.open("rb") as second:
        while piece := first.read(1 << 20):
            if piece != second.read(1 << 20):
                return False
        return not second.read(1)


def press_ctrl_c(command: list[str], home: Path, cwd: Path) -> tuple[bytes, int]:
    """Runs a command on a terminal until it shows progress, and presses Ctrl-C there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, environment(home) | {"TERM": "xterm"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    screen, is_pressed = b"", False
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1.0)[0]:
            continue
        try:
            screen += os.read(terminal, 65_536)
        except OSError:
            break
        if not is_pressed and PROGRESS.search(screen):
            os.write(terminal, b"\x03")
            is_pressed = True
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return screen, os.waitstatus_to_exitcode(status)
