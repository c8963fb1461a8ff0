"""Commands under rough conditions: closed pipes, terminals of any width, broken servers, servers that come back."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from commands import broken, copies, terminals
from commands.runs import TIMEOUT, environment, run
from processes import ServerProcess

CheckResult = tuple[str, str | None]


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
        yield from terminals.checks(program, home, desk)
        yield from broken.checks(program, home)
        yield from copies.checks(program, home)
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
        watching = start_watch(program, ["--count", "1", "desk/long.txt"], home, desk)
        (desk / "long.txt").write_text("changed for a person\n")
        out, _ = watching.communicate(timeout=TIMEOUT)
        is_fine = re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  updated  file:///desk/long\.txt\n", out)
        yield "a person reads a change in a line", None if is_fine else f"{watching.returncode} {out!r}"
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
