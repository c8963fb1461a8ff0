"""Starts and stops refdesk and other HTTP servers, and defines the build paths."""

import os
import queue
import re
import socket
import subprocess
import threading
from collections import deque
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")).resolve()
BUILD = TARGET / "interop"
NODE = BUILD / "node-22/node_modules/node/bin/node"
FIXTURE = TARGET / "debug/fixture"

START_TIMEOUT = 20.0
STOP_TIMEOUT = 10.0


def free_port() -> int:
    """A free port, for a server that cannot choose one itself."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


class ServerProcess:
    """An HTTP server process that prints its URL, or the port that it was given."""

    # How many lines of its output are kept.
    KEPT_LINES = 40

    def __init__(self, command: list[str], environment: dict[str, str] | None = None, port: int | None = None) -> None:
        self._port = port
        self.last_output: deque[str] = deque(maxlen=self.KEPT_LINES)
        self._urls: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(
            command,
            # A loaded machine starts servers slowly; lists must not go without them.
            env=os.environ | {"REFDESK_START_WAIT": "60s"} | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read_output, daemon=True)
        self._reader.start()

    def __enter__(self) -> "ServerProcess":
        try:
            url = self._urls.get(timeout=START_TIMEOUT)
        except queue.Empty:
            url = None
        if url is None:
            self.__exit__()
            raise SystemExit("a server did not print its URL:\n" + "".join(self.last_output))
        self.url = url
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """Ends the process without a warning, as `kill -9` does."""
        self._process.kill()
        self._process.wait()

    def _read_output(self) -> None:
        for line in self._process.stdout:
            self.last_output.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+/mcp", line):
                self._urls.put(found.group())
            elif self._port and re.search(rf"(on port |127\.0\.0\.1:){self._port}\b", line):
                self._urls.put(f"http://127.0.0.1:{self._port}/mcp")
        # The process has closed its output.
        self._urls.put(None)


class RefdeskProcess(ServerProcess):
    """A refdesk over HTTP, and the command that starts another with the same settings over stdio."""

    def __init__(self, program: Path, settings: Path) -> None:
        serve = [str(program), "serve", "--settings", str(settings)]
        self.stdio_command = [*serve, "--stdio"]
        super().__init__([*serve, "--listen", "127.0.0.1:0"])
