#!/usr/bin/env -S python3 -B
"""Drives `refdesk pick` and `refdesk top` in a real terminal (tmux), and compares their screens with stored ones.

`interop/screens.py PROGRAM` checks; with `--accept` it stores the screens anew.
"""

import difflib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from processes import HERE, RefdeskProcess

SCREENS = HERE / "screens"
HEIGHT = 18
# The lines of `top`, so that all its tables have room.
TOP_HEIGHT = 36
WIDTHS = (80, 200)
# How long a text may take to appear, and how often the screen is looked at.
TIMEOUT, INTERVAL = 30.0, 0.05

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]

FILES = {
    "README.md": "# Desk\n\nAsk here.\n",
    "src/main.rs": 'fn main() {\n    println!("hello");\n}\n',
    "日本語/はじめに.md": "# はじめに\n\n参考デスクの使い方を説明します。\n",
    "日本語/資料集.md": "# 資料集\n\n索引と検索のための資料です。\n全角の文字は二桁になります。\n",
    "日本語/議事録.txt": "十一月の会議の記録。\n資料を配った。\n",
}
SETTINGS = """
[mounts.desk]
kind = "fs"
path = "desk"
index = true
"""
# What a client watches while `top` is open.
WATCHED = "file:///desk/README.md"
CHOSEN = "file:///desk/%E6%97%A5%E6%9C%AC%E8%AA%9E/%E8%B3%87%E6%96%99%E9%9B%86.md"


class ScreenError(Exception):
    """What was awaited did not appear; the message has the last screen."""


class Terminal:
    """A tmux server of its own, with one window that runs one command and keeps its output and exit status."""

    def __init__(
        self,
        folder: Path,
        width: int,
        command: list[str],
        environment: dict[str, str] | None = None,
        height: int = HEIGHT,
    ) -> None:
        self._height = height
        self._tmux = ["tmux", "-u", "-f", "/dev/null", "-S", str(folder / f"tmux-{time.monotonic_ns()}")]
        self._output = folder / "output"
        self._output.write_bytes(b"")
        line = f"{shlex.join(command)} > {shlex.quote(str(self._output))}; echo ended with $?; exec cat"
        variables = {"LANG": "C.UTF-8", "TERM": "xterm-256color"} | (environment or {})
        self._call("new-session", "-d", "-x", str(width), "-y", str(height), line, environment=variables)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self._call("kill-server")

    def _call(self, *arguments: str, environment: dict[str, str] | None = None) -> str:
        variables = os.environ | (environment or {})
        ran = subprocess.run([*self._tmux, *arguments], check=True, stdout=subprocess.PIPE, env=variables, text=True)
        return ran.stdout

    def press(self, *keys: str) -> None:
        """Presses keys, by their names in tmux."""
        self._call("send-keys", *keys)

    def type(self, text: str) -> None:
        self._call("send-keys", "-l", text)

    def resize(self, width: int) -> None:
        self._call("resize-window", "-x", str(width), "-y", str(self._height))

    def process(self) -> int:
        """The id of the command that runs in the window."""
        shell = self._call("list-panes", "-F", "#{pane_pid}").strip()
        found = subprocess.run(["pgrep", "-P", shell], check=True, stdout=subprocess.PIPE, text=True)
        return int(found.stdout.split()[0])

    def screen(self) -> str:
        lines = self._call("capture-pane", "-p").split("\n")
        return "\n".join(line.rstrip() for line in lines).rstrip("\n") + "\n"

    def output(self) -> str:
        return self._output.read_text()

    def wait(self, is_there: Callable[[str], bool], awaited: str) -> str:
        """Waits until the screen is as it should be; fails after a bound."""
        end = time.monotonic() + TIMEOUT
        while True:
            screen = self.screen()
            if is_there(screen):
                return screen
            if time.monotonic() > end:
                raise ScreenError(f"{awaited} did not appear within {TIMEOUT:.0f} s:\n{screen}")
            time.sleep(INTERVAL)

    def wait_for(self, *texts: str) -> str:
        return self.wait(lambda screen: all(text in screen for text in texts), " and ".join(texts))


class Recorder:
    """Compares screens with the stored ones, or stores them."""

    def __init__(self, accepts: bool) -> None:
        self._accepts = accepts

    def check(self, name: str, terminal: Terminal, *texts: str, part: Callable[[str], str] = str) -> CheckResult:
        """Waits until the screen has `texts` and is the stored one."""
        file = SCREENS / f"{name}.txt"
        try:
            screen = part(terminal.wait_for(*texts))
            if self._accepts:
                SCREENS.mkdir(exist_ok=True)
                file.write_text(settled(terminal, part))
                return f"screen {name} (stored)", None
            stored = file.read_text() if file.is_file() else ""
            terminal.wait(lambda screen: part(screen) == stored, f"the stored screen {name}")
            return f"screen {name}", None
        except ScreenError as error:
            stored = file.read_text() if file.is_file() else ""
            screen = part(terminal.screen())
            lines = difflib.unified_diff(stored.splitlines(), screen.splitlines(), "stored", "shown", lineterm="")
            return f"screen {name}", "\n".join([str(error).splitlines()[0], *lines])


def settled(terminal: Terminal, part: Callable[[str], str]) -> str:
    """The screen once it has not changed for ten looks."""
    screens = [part(terminal.screen())]
    terminal.wait(
        lambda screen: screens.append(part(screen)) is None and screens[-10:] == [screens[-1]] * 10,
        "a screen that stays",
    )
    return screens[-1]


def checks(program: Path, accepts: bool = False) -> Iterator[CheckResult]:
    """Runs all checks with the debug or release program."""
    recorder = Recorder(accepts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in FILES.items():
            file = folder / "desk" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        settings = folder / "refdesk.toml"
        settings.write_text(SETTINGS)
        with RefdeskProcess(program, settings) as refdesk:
            yield "the index is complete", wait_for_index(program, refdesk.url)
            for width in WIDTHS:
                yield from pick_checks(program, refdesk.url, folder, width, recorder)
            yield from leave_checks(program, refdesk.url, folder)
            yield from live_pick_check(program, refdesk.url, folder)
            yield from live_check(program, refdesk.url, folder)
            yield from lost_server_check(program, refdesk, folder)
        (folder / "desk/new.md").unlink()
        with RefdeskProcess(program, settings) as refdesk:
            yield "the index is complete again", wait_for_index(program, refdesk.url)
            yield from top_checks(program, refdesk.url, folder, recorder)
        yield from other_server_checks(program, folder, recorder)


def wait_for_index(program: Path, url: str) -> str | None:
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        told = subprocess.run([str(program), "top", "--json", "--server", url], check=True, stdout=subprocess.PIPE)
        [mount] = json.loads(told.stdout)["mounts"]
        if mount.get("index", {}).get("complete") and mount["index"]["indexed"] == len(FILES):
            return None
        time.sleep(INTERVAL)
    return f"the index is not complete: {mount}"


def pick_checks(program: Path, url: str, folder: Path, width: int, recorder: Recorder) -> Iterator[CheckResult]:
    """Opens, searches, filters, looks and chooses."""
    with Terminal(folder, width, [str(program), "pick", "--server", url]) as terminal:
        yield recorder.check(f"pick-tree-{width}", terminal, "日本語", "README.md", "Esc leave")
        terminal.press("Down", "Down", "Down", "Right")
        terminal.wait_for("議事録.txt")
        terminal.press("Down", "Down", "Down")
        yield recorder.check(f"pick-preview-{width}", terminal, "議事録.txt", "索引と検索のための資料です。")
        terminal.type("資料")
        yield recorder.check(f"pick-search-{width}", terminal, "in the content", "desk/日本語/資料集.md", "tokens", "# 資料集")
        terminal.press("C-f")
        terminal.type("plain")
        yield recorder.check(f"pick-filter-{width}", terminal, "> type     plain", "filter: type plain")
        terminal.press("C-u", "Enter")
        terminal.wait_for("1 of ")
        terminal.press("Tab")
        yield recorder.check(f"pick-chosen-{width}", terminal, "1 chosen", "* desk/日本語/資料集.md")
        terminal.press("?", "BSpace", "F1")
        yield recorder.check(f"pick-keys-{width}", terminal, " Keys ", "search names and content")
        terminal.press("Escape")
        terminal.resize(60)
        terminal.wait(lambda screen: "│" not in screen and "1 chosen" in screen, "the view at 60 columns")
        terminal.press("Enter")
        yield from_screen(f"pick ends at {width} columns", lambda: terminal.wait_for("ended with 0"))
        printed = terminal.output()
        yield f"pick prints the URI at {width} columns", None if printed == f"{CHOSEN}\n" else repr(printed)


def from_screen(name: str, look: Callable[[], object]) -> CheckResult:
    try:
        look()
        return name, None
    except ScreenError as error:
        return name, str(error)


def leave_checks(program: Path, url: str, folder: Path) -> Iterator[CheckResult]:
    """Leaves in each way: the terminal is as before, the status is 130, and nothing is printed."""
    pick = [str(program), "pick", "--server", url]
    ways: dict[str, Callable[[Terminal], object]] = {
        "Esc": lambda terminal: terminal.press("Escape"),
        "Ctrl-C": lambda terminal: terminal.press("C-c"),
        "SIGTERM": lambda terminal: os.kill(terminal.process(), 15),
        "SIGINT": lambda terminal: os.kill(terminal.process(), 2),
    }
    for name, leave in ways.items():
        with Terminal(folder, 80, pick, {"NO_COLOR": "1"}) as terminal:
            terminal.wait_for("README.md")
            leave(terminal)

            def is_restored() -> None:
                screen = terminal.wait_for("ended with 130")
                if "README.md" in screen:
                    raise ScreenError(f"the view is still there:\n{screen}")
                # Only a terminal in its usual mode echoes what is typed.
                terminal.type("typed after it")
                terminal.wait_for("typed after it")

            yield from_screen(f"pick leaves by {name} and gives the terminal back", is_restored)
            yield f"pick prints nothing after {name}", terminal.output() or None
    with Terminal(folder, 80, [*pick, "--pack"]) as terminal:
        terminal.wait_for("README.md")
        terminal.type("README")
        terminal.wait_for("desk/README.md")
        terminal.press("Enter")
        yield from_screen("pick --pack ends", lambda: terminal.wait_for("ended with 0"))
        wanted = "## file:///desk/README.md\n\n```\n# Desk\n\nAsk here.\n```\n\n"
        yield "pick --pack prints Markdown", None if terminal.output() == wanted else repr(terminal.output())
    no_terminal = ["setsid", *pick]
    ran = subprocess.run(no_terminal, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    refused = ran.returncode == 1 and "needs a terminal" in ran.stderr and not ran.stdout
    yield "pick without a terminal says what to use instead", None if refused else f"{ran}"


def steady_part(screen: str) -> str:
    """The screen of `top` without what differs in each run: versions, counts of requests, times, and requests of its own."""
    lines = []
    for line in screen.splitlines():
        line = re.sub(r"refdesk \d\S+", "refdesk VERSION", line)
        line = re.sub(r"(requests) [\d,]+", r"\1 N", line)
        # A client: its requests, watches, and when it was seen last.
        line = re.sub(r"^(  c\d+ .* (?:http|stdio)) +[\d,]+ +(\d+) +\d+ +\S+$", r"\1  N  \2  N  <age>", line)
        line = re.sub(r" +\d+(?:s|m|h) ago +", "  <age>  ", line)
        line = re.sub(r" +\d+ ms ", "  <time> ", line)
        # Its columns are as wide as the ages and times below it.
        if line.startswith("  WHEN "):
            line = re.sub(r"(?<=\S) {2,}", "  ", line)
        is_request = line.startswith("  <age>  c")
        if not is_request or WATCHED in line:
            lines.append(re.sub(r"(?<=\S) {3,}", "  ", line) if "<age>" in line else line)
    return "\n".join(lines) + "\n"


def top_checks(program: Path, url: str, folder: Path, recorder: Recorder) -> Iterator[CheckResult]:
    """Mounts, a client that watches and has read a file, its subscription, and its requests."""
    refdesk = [str(program), "watch", "--revision", "2025-11-25", "--server", url, WATCHED]
    watching = subprocess.Popen(refdesk, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        watching.stderr.readline()
        for width in WIDTHS:
            with Terminal(folder, width, [str(program), "top", "--server", url], height=TOP_HEIGHT) as terminal:
                texts = ("Mounts (1)", "desk", "ready", "Clients (2)", "2025-11-25", "Subscriptions", WATCHED, "q leave")
                yield recorder.check(f"top-{width}", terminal, *texts, part=steady_part)
                terminal.press("q")
                yield from_screen(f"top ends at {width} columns", lambda: terminal.wait_for("ended with 0"))
    finally:
        watching.terminate()
        watching.wait()


def live_pick_check(program: Path, url: str, folder: Path) -> Iterator[CheckResult]:
    """A file that comes and goes while the picker is open."""
    file = folder / "desk/arrival.md"
    with Terminal(folder, 80, [str(program), "pick", "--server", url]) as terminal:
        terminal.wait_for("README.md")
        file.write_text("# Arrival\n")
        yield from_screen("pick shows a new file", lambda: terminal.wait_for("arrival.md"))
        file.unlink()
        is_gone = lambda screen: "arrival.md" not in screen and "README.md" in screen  # noqa: E731
        yield from_screen("pick no longer shows a file that is gone", lambda: terminal.wait(is_gone, "a list without it"))
        terminal.press("Escape")


def live_check(program: Path, url: str, folder: Path) -> Iterator[CheckResult]:
    """A new file appears in the index, and the view follows."""
    with Terminal(folder, 120, [str(program), "top", "--server", url]) as terminal:
        terminal.wait_for(f"indexed {len(FILES)} of {len(FILES)}")
        (folder / "desk/new.md").write_text("# New\n")
        more = len(FILES) + 1
        yield from_screen("top follows a change", lambda: terminal.wait_for(f"indexed {more} of {more}"))


def lost_server_check(program: Path, refdesk: RefdeskProcess, folder: Path) -> Iterator[CheckResult]:
    """The server ends while the picker is open. Ends `refdesk`, so it is the last check with it."""
    with Terminal(folder, 80, [str(program), "pick", "--timeout", "3s", "--server", refdesk.url]) as terminal:
        terminal.wait_for("日本語")
        refdesk.kill()
        terminal.press("End", "Right")
        yield from_screen("pick tells of a lost server", lambda: terminal.wait_for("the server cannot be"))
        terminal.press("Escape")
        yield from_screen("pick can be left without a server", lambda: terminal.wait_for("ended with 130"))


def other_server_checks(program: Path, folder: Path, recorder: Recorder) -> Iterator[CheckResult]:
    """A server without lists of collections, with and without baskets."""
    plain = shlex.join([sys.executable, "-B", str(HERE / "servers/plain_list.py")])
    with Terminal(folder, 80, [str(program), "pick", "--json", "--server", plain]) as terminal:
        terminal.wait_for("note://box", "memo:loose")
        terminal.press("Right")
        terminal.wait_for("today")
        terminal.press("Down", "Right")
        terminal.wait_for("会議.txt")
        terminal.press("Down")
        yield recorder.check("pick-implied-80", terminal, "deep", "c.txt", "the text of")
        terminal.press("Tab")
        terminal.type("loose")
        terminal.wait_for("1 of ")
        terminal.press("Tab", "Enter")
        yield from_screen("pick ends on a server with a flat list", lambda: terminal.wait_for("ended with 0"))
        wanted = ["note://box/today/%E4%BC%9A%E8%AD%B0.txt", "memo:loose"]
        printed = terminal.output()
        is_right = printed.startswith("[") and json.loads(printed) == wanted
        yield "pick --json prints an array", None if is_right else repr(printed)
    with Terminal(folder, 80, [str(program), "pick", "--save", "review", "--server", f"{plain} --baskets"]) as terminal:
        terminal.wait_for("note://box")
        terminal.type("c.txt")
        terminal.wait_for("1 of ")
        terminal.press("Enter")
        yield from_screen("pick --save ends", lambda: terminal.wait_for("ended with 0"))
        printed = terminal.output()
        yield "pick --save prints the basket", None if printed == "basket://review\n" else repr(printed)
    refusals = {
        "pick --save on a server without baskets": (["pick", "--save", "review"], 1, "keeps no baskets"),
        "pick --save with a wrong name": (["pick", "--save", "a b"], 2, "1 to 64 letters"),
        "top on another server": (["top", "--once"], 1, "shows a refdesk"),
    }
    for name, (arguments, status, words) in refusals.items():
        command = [str(program), *arguments, "--server", plain]
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        is_refused = ran.returncode == status and words in ran.stderr and not ran.stdout
        yield f"{name} says what to do", None if is_refused else f"{ran}"


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--accept"]
    program = Path(next(iter(arguments), "")).resolve()
    if not program.is_file():
        sys.exit("usage: interop/screens.py PROGRAM [--accept]")
    failures = 0
    for name, failure in checks(program, "--accept" in sys.argv):
        print(f"{'FAILED' if failure else 'ok  '} {name}", flush=True)
        if failure:
            print(failure, flush=True)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
