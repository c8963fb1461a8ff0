"""Completion at a Tab in real shells: URIs, values of variables and arguments of tools come from the server."""

import json
import os
import pty
import re
import select
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from commands.runs import TIMEOUT, environment, run
from processes import ServerProcess

CheckResult = tuple[str, str | None]

# The command that starts each shell without anybody's settings, and the line that loads the completion.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source <(refdesk completions bash)"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "autoload -Uz compinit; compinit -u -D; source <(refdesk completions zsh)",
    ),
    "fish": (["fish", "--no-config", "-i"], "refdesk completions fish | source"),
}
# What is typed, and what the shell makes of it.
TYPED = [
    ("refdesk cat file:///desk/de", "file:///desk/decisions/"),
    ("refdesk cat file:///desk/資", "file:///desk/資料/"),
    ("refdesk cat desk/gl", "cat desk/glossary.md"),
    ("refdesk cat gl", "cat glossary.md"),
    ("refdesk cat decisions/o", "cat decisions/one.md"),
    ("refdesk call resources_read ur", "resources_read uri="),
    ("refdesk get 'file:///desk/{+path}' path=gl", "path=glossary.md"),
]
# Colours and movements of the cursor.
SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07|\r|\x07")


def checks(program: Path) -> Iterator[CheckResult]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        desk = home / "desk"
        (desk / "decisions").mkdir(parents=True)
        (desk / "decisions/one.md").write_text("one")
        (desk / "glossary.md").write_text("words")
        (desk / "資料").mkdir()
        (desk / "資料/設計.md").write_text("# 設計\n")
        (home / "bin").mkdir()
        (home / "bin/refdesk").symlink_to(program)
        for shell in SHELLS:
            for typed, wanted in TYPED:
                screen = complete(shell, typed, wanted, home, desk)
                yield f"{shell}: a Tab after {typed!r}", None if wanted in screen else repr(screen[-400:])
        yield from token_checks(program, home)


def token_checks(program: Path, home: Path) -> Iterator[CheckResult]:
    """A header of the command line is sent for its completion too."""
    vault = home / "vault"
    vault.mkdir()
    (vault / "treasure.md").write_text("gold")
    made = json.loads(run(program, ["token", "new", "ada", "--json"], home, None).stdout)
    settings = home / "vault.toml"
    settings.write_text(f'[mounts.vault]\nkind = "fs"\npath = "{vault}"\n\n{made["settings"]}')
    command = [str(program), "serve", "--settings", str(settings), "--listen", "127.0.0.1:0"]
    with ServerProcess(command, environment(home)) as server:
        start = f"refdesk cat -s {server.url}"
        for shell in SHELLS:
            typed = f'{start} --header "Authorization: Bearer {made["token"]}" file:///vault/tr'
            screen = complete(shell, typed, "file:///vault/treasure.md", home, home)
            is_fine = "file:///vault/treasure.md" in screen
            yield f"{shell}: a Tab sends the token of --header", None if is_fine else repr(screen[-400:])


def complete(shell: str, typed: str, wanted: str, home: Path, cwd: Path) -> str:
    """Types into a shell on a terminal, presses Tab, and returns the screen from there on."""
    command, load = SHELLS[shell]
    variables = environment(home)
    variables |= {"PATH": f"{home}/bin:{variables['PATH']}", "TERM": "xterm"}
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, variables)
    try:
        # The quotes keep the echo of the line from being taken for its output.
        os.write(terminal, f"{load}; echo lo'ad'ed\n".encode())
        read_until(terminal, "loaded")
        os.write(terminal, f"{typed}\t".encode())
        return read_until(terminal, wanted)
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


def read_until(terminal: int, wanted: str) -> str:
    """Reads the screen until it has a text, or for as long as a Tab may take."""
    screen = b""
    deadline = time.monotonic() + TIMEOUT / 2
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.5)
        if ready:
            try:
                screen += os.read(terminal, 65_536)
            except OSError:
                break
        shown = SEQUENCES.sub("", screen.decode(errors="replace"))
        if wanted in shown:
            return shown
    return SEQUENCES.sub("", screen.decode(errors="replace"))
