"""Starts and stops refdesk and other HTTP servers, and defines the build paths."""

import os
import queue
import re
import subprocess
import threading
from collections import deque
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")).resolve()
BUILD = TARGET / "strangers"
NODE = BUILD / "node-22/node_modules/node/bin/node"
FIXTURE = TARGET / "debug/fixture"

OPENS_WITHIN = 20.0
CLOSES_WITHIN = 10.0


class Host:
    """An HTTP server process that prints its URL."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None, port: int | None = None) -> None:
        self._port = port
        self.last_words: deque[str] = deque(maxlen=40)
        self._address: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(
            command,
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._listener = threading.Thread(target=self._hear_out, daemon=True)
        self._listener.start()

    def __enter__(self) -> "Host":
        try:
            address = self._address.get(timeout=OPENS_WITHIN)
        except queue.Empty:
            address = None
        if address is None:
            self.__exit__()
            raise SystemExit("a server did not print its URL:\n" + "".join(self.last_words))
        self.url = address
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=CLOSES_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def is_open(self) -> bool:
        return self._process.poll() is None

    def _hear_out(self) -> None:
        for line in self._process.stdout:
            self.last_words.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+/mcp", line):
                self._address.put(found.group())
            elif self._port and re.search(rf"listening on port {self._port}\b", line):
                self._address.put(f"http://127.0.0.1:{self._port}/mcp")
        self._address.put(None)


class Desk(Host):
    """One refdesk over HTTP for all clients, and the command that starts another on a pipe."""

    def __init__(self, program: Path, settings: Path) -> None:
        serve = [str(program), "serve", "--settings", str(settings)]
        self.on_pipe = [*serve, "--stdio"]
        super().__init__([*serve, "--listen", "127.0.0.1:0"])
