"""The commands that are run against each server, and how a run is written down."""

import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 60.0

# The rest of a line with an age: priority, audience, and a URI or a place in a tree.
AFTER_AGE = r" +\S+ +\S+ +(?:\S+://|[│├└ ]*── )"
# What differs from run to run: ages, times, etags, temporary folders.
CHANGING = [
    (re.compile(r"\b\d{4}-\d\d-\d\dT[0-9:.]+Z"), "<time>"),
    (re.compile(r"created at .*"), "created at <time>"),
    # The text of that resource has the time in it, which is longer from ten o'clock on.
    (re.compile(r"(dynamic/text/\d+\nmimeType +\S+\nsize +)\d+"), r"\1<size>"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "<etag>"),
    # A column of ages is as wide as the longest.
    (re.compile(rf"(?m)^(\S+ +\S+) +\d+(?:s|m|h|d|mo|y)({AFTER_AGE})"), r"\1  <age>\2"),
    (re.compile(rf"(?m)^(\S+ +\S+) +-({AFTER_AGE})"), r"\1  -\2"),
]

# The commands that every server can answer, with what that server has.
PLAIN = ["ls", "ls -l", "ls --tree", "ls --all --json", "get", "call", "cat nowhere://x", "stat nowhere://x"]


@dataclass(frozen=True)
class Run:
    """One command, what it printed, and how it ended."""

    command: str
    stdout: bytes
    stderr: str
    status: int

    def written(self, folder: Path) -> str:
        """The run as a snapshot has it."""
        try:
            out = self.stdout.decode()
        except UnicodeDecodeError:
            out = f"<{len(self.stdout)} bytes>\n"
        if out and not out.endswith("\n"):
            out += "\n<no newline at the end>\n"
        text = f"$ refdesk {self.command}\n{out}"
        text += "".join(f"! {line}\n" for line in self.stderr.splitlines())
        if self.status:
            text += f"[exit {self.status}]\n"
        for pattern, word in CHANGING:
            text = pattern.sub(word, text)
        return text.replace(str(folder), "<folder>")


def environment(home: Path) -> dict[str, str]:
    """The environment of a person without settings, servers or colours."""
    kept = {name: os.environ[name] for name in ["PATH", "LANG"] if name in os.environ}
    return kept | {"HOME": str(home), "NO_COLOR": "1", "REFDESK_START_WAIT": "60s"}


def run(program: Path, words: list[str], home: Path, server: str | None, cwd: Path | None = None) -> Run:
    """Runs `refdesk` with these words against a server, or without one in `cwd`."""
    more = {} if server is None else {"REFDESK_SERVER": server}
    process = subprocess.Popen(
        [str(program), *words],
        env=environment(home) | more,
        cwd=cwd or home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    told = b""
    if words[0] == "watch":
        # It says that it watches, or why it cannot; then a person has seen enough.
        told = process.stderr.readline()
        if told.startswith(b"watching"):
            process.send_signal(signal.SIGINT)
    try:
        out, errors = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    shown = " ".join(word if re.fullmatch(r"[^\s'\"*|]+", word) else f"'{word}'" for word in words)
    return Run(shown, out, (told + errors).decode(errors="replace"), process.returncode)
