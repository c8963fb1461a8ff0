"""The refdesk under attack: its process, its log and its memory, and an honest client beside the attack."""

import json
import os
import re
import resource
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import attacks.wire as wire
from attacks.tally import Tally

START_TIMEOUT = 20.0
STOP_TIMEOUT = 15.0
# An honest request may wait this long beside an attack. Generous, because a debug build may run on a busy machine.
PATIENCE = 8.0
MEMORY_LIMIT_MB = 400
TEXT = "# Desk\n\nAsk here.\n"


def write_tree(folder: Path) -> None:
    """The folder that every refdesk of this suite serves."""
    for path, text in {"README.md": TEXT, "docs/a.md": "alpha\n", "docs/b.md": "beta\n"}.items():
        file = folder / "project" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class Target:
    """A refdesk over HTTP. Leaving the context checks that it lives, did not panic and stayed within its memory."""

    def __init__(
        self,
        program: Path,
        folder: Path,
        tally: Tally,
        settings: str = "",
        *,
        token: str | None = None,
        files: int | None = None,
        memory_limit_mb: int = MEMORY_LIMIT_MB,
    ) -> None:
        self.folder, self.tally, self.token, self.memory_limit_mb = folder, tally, token, memory_limit_mb
        write_tree(folder)
        self.settings = folder / "refdesk.toml"
        self.settings.write_text(settings + '\n[mounts.project]\nkind = "fs"\npath = "project"\n')
        self.log = folder / "log.txt"
        self._program, self._files = program, files
        self.process: subprocess.Popen[bytes] | None = None

    def command(self, *arguments: str) -> list[str]:
        return [str(self._program), "serve", "--settings", str(self.settings), *arguments]

    def environment(self) -> dict[str, str]:
        return os.environ | {"XDG_STATE_HOME": str(self.folder / "state"), "REFDESK_LOG": "warn"}

    def __enter__(self) -> "Target":
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command("--listen", "127.0.0.1:0"),
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=self._limit_files if self._files else None,
            )
        end = time.monotonic() + START_TIMEOUT
        while not (found := re.search(r"http://(127\.0\.0\.1):(\d+)/mcp", self.log.read_text(errors="replace"))):
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit("refdesk did not start:\n" + self.log.read_text(errors="replace"))
            time.sleep(0.02)
        self.address = (found.group(1), int(found.group(2)))
        return self

    def _limit_files(self) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (self._files, self._files))

    def __exit__(self, kind: object, *_: object) -> None:
        lives = self.process.poll() is None
        self.tally.expect(lives, "the process lives", self.last_log())
        if lives:
            peak = self.peak_mb()
            self.tally.peak_mb = max(self.tally.peak_mb, peak)
            limit = self.memory_limit_mb
            self.tally.expect(peak <= limit, f"memory stays under {limit} MB", f"{peak} MB")
        self.tally.expect(self.stop() in (0, None), "it stops when told to", self.last_log())
        self.tally.expect("panicked" not in self.log.read_text(errors="replace"), "no panic", self.last_log())

    def stop(self) -> int | None:
        """Sends SIGTERM; returns the exit code, or -9 if it had to be killed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def peak_mb(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) // 1024

    def resident_mb(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) // 1024

    def cpu_seconds(self) -> float:
        """The time that the process has computed, which a busy machine does not lengthen much."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def last_log(self) -> str:
        return self.log.read_text(errors="replace")[-600:]

    def connect(self, timeout: float = 20.0) -> wire.Connection:
        return wire.Connection(self.address, timeout)

    def call(self, method: str, token: str | None = None, **params: Any) -> dict[str, Any]:
        """Sends one stateless request on a new connection; returns the JSON-RPC message of the answer.

        The server may close the connection before it has read headers that are too long; the reset can overtake
        its answer.
        """
        with self.connect() as connection:
            try:
                return connection.exchange(wire.stateless(method, params, token=token or self.token)).message()
            except (BrokenPipeError, ConnectionResetError):
                return {"error": {"message": "the server closed the connection"}}

    def tool(self, tool: str, token: str | None = None, /, **arguments: Any) -> dict[str, Any]:
        return self.call("tools/call", token, name=tool, arguments=arguments)

    def is_answering(self) -> bool:
        return read_text(self.call("resources/read", uri="file:///project/README.md")) == TEXT

    def honest(self, attack: str, patience: float = PATIENCE) -> "HonestClient":
        return HonestClient(self, attack, patience)


def read_text(message: dict[str, Any]) -> str | None:
    contents = message.get("result", {}).get("contents")
    return contents[0].get("text") if contents else None


class HonestClient:
    """A client that reads a file again and again during an attack, each time on a new connection."""

    def __init__(self, target: Target, attack: str, patience: float) -> None:
        self._target, self._attack, self._patience = target, attack, patience
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.answers = 0
        self.slowest = 0.0
        self.failure: str | None = None

    def __enter__(self) -> "HonestClient":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(60)
        tally = self._target.tally
        tally.expect(not self.failure and self.answers, f"an honest client beside {self._attack}", self.failure)
        is_soon = self.slowest <= self._patience
        tally.expect(is_soon, f"an honest client waits beside {self._attack}", f"{self.slowest:.1f} s")

    def _run(self) -> None:
        while not (self._stop.is_set() and self.answers) and not self.failure:
            started = time.monotonic()
            try:
                message = self._target.call("resources/read", uri="file:///project/README.md")
                if read_text(message) != TEXT:
                    self.failure = f"a wrong answer: {message}"
            except (OSError, ValueError) as error:
                self.failure = f"{type(error).__name__}: {error}"
            self.slowest = max(self.slowest, time.monotonic() - started)
            self.answers += 1
            self._stop.wait(0.03)


class StdioTarget:
    """A refdesk over pipes; every line is one message."""

    def __init__(self, target: Target) -> None:
        self.log = target.folder / "stdio-log.txt"
        self._tally = target.tally
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                target.command("--stdio"),
                env=target.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def __enter__(self) -> "StdioTarget":
        return self

    def __exit__(self, *_: object) -> None:
        self._tally.expect(self.process.poll() is None, "the process on a pipe lives", self.log.read_text()[-600:])
        self.process.stdin.close()
        self._tally.attempt("it ends with its input", lambda: self.process.wait(STOP_TIMEOUT) == 0)
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self._tally.expect("panicked" not in self.log.read_text(errors="replace"), "no panic on a pipe")

    def send(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        return json.loads(self.process.stdout.readline())
