"""Raw HTTP/1.1: requests byte by byte as an attacker writes them, and their answers."""

import base64
import json
import socket
from dataclasses import dataclass
from typing import Any

REVISION = "2026-07-28"
SESSION_REVISION = "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "attacks", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def body_of(method: str, params: dict[str, Any], number: Any = 1) -> bytes:
    meta = META | params.get("_meta", {})
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params | {"_meta": meta}}).encode()


def stateless(method: str, params: dict[str, Any], *, token: str | None = None, close: bool = False) -> bytes:
    """A whole request of 2026-07-28."""
    headers = {"MCP-Protocol-Version": REVISION, "Mcp-Method": method}
    if name := params.get("name") or params.get("uri"):
        plain = name.isascii() and name.isprintable() and name == name.strip() and not name.startswith("=?")
        encoded = base64.b64encode(name.encode("utf-8", "replace")).decode()
        headers["Mcp-Name"] = name if plain else f"=?base64?{encoded}?="
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if close:
        headers["Connection"] = "close"
    return post(body_of(method, params), headers)


def post(body: bytes, headers: dict[str, str] | None = None, *, path: str = "/mcp") -> bytes:
    """A POST with the usual headers; `headers` replaces or adds."""
    usual = {
        "Host": "127.0.0.1",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
    }
    return head(f"POST {path} HTTP/1.1", usual | (headers or {})) + body


def in_session(method: str, params: dict[str, Any], session: str | None, token: str | None = None) -> bytes:
    """A request of 2025-11-25."""
    headers = {"MCP-Protocol-Version": SESSION_REVISION}
    if session:
        headers["Mcp-Session-Id"] = session
    if token:
        headers["Authorization"] = f"Bearer {token}"
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return post(json.dumps(message).encode(), headers)


def initialize(token: str | None = None) -> bytes:
    client = {"name": "attacks", "version": "1"}
    params = {"protocolVersion": SESSION_REVISION, "capabilities": {}, "clientInfo": client}
    return in_session("initialize", params, None, token)


def head(first: str, headers: dict[str, str]) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; status 0 if the server closed the connection instead."""

    status: int
    headers: dict[str, str]
    body: bytes

    def message(self) -> dict[str, Any]:
        """The last JSON-RPC message; an answer without one becomes an error with the HTTP status as its code."""
        if not self.body:
            return {"error": {"code": self.status, "message": "no body"}}
        if "event-stream" in self.headers.get("content-type", ""):
            lines = [line[5:] for line in self.body.split(b"\n") if line.startswith(b"data:") and line[5:].strip()]
            return json.loads(lines[-1])
        return json.loads(self.body)

    def code(self) -> int | None:
        """The JSON-RPC error code, if the answer is an error."""
        try:
            return self.message().get("error", {}).get("code")
        except (ValueError, IndexError, AttributeError):
            return None


class Connection:
    """One TCP connection."""

    def __init__(self, address: tuple[str, int], timeout: float) -> None:
        self.socket = socket.create_connection(address, timeout)
        self._file = self.socket.makefile("rb")

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def exchange(self, data: bytes) -> Answer:
        """Sends bytes and reads one answer; a connection that the server closes early is an answer too."""
        try:
            self.send(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return self.answer()

    def line(self) -> bytes:
        return self._file.readline()

    def ends(self) -> bool:
        """Waits until the open stream ends, or for the timeout."""
        try:
            while self.chunk():
                pass
        except (ConnectionResetError, ValueError):
            return True
        except TimeoutError:
            return False
        return True

    def answer(self) -> Answer:
        try:
            status, headers = self.answer_head()
            while status == 100:
                status, headers = self.answer_head()
            return Answer(status, headers, self._body(status, headers) if status else b"")
        except ConnectionResetError:
            return Answer(0, {}, b"")

    def answer_head(self) -> tuple[int, dict[str, str]]:
        """The status and headers of the next answer."""
        first = self._file.readline()
        if not first:
            return 0, {}
        headers = {}
        while (line := self._file.readline().strip()):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return int(first.split()[1]), headers

    def _body(self, status: int, headers: dict[str, str]) -> bytes:
        if "chunked" in headers.get("transfer-encoding", ""):
            return b"".join(iter(self.chunk, b""))
        if "content-length" in headers:
            return self._file.read(int(headers["content-length"]))
        return b"" if status in (202, 204) else self._file.read()

    def chunk(self) -> bytes:
        """The next chunk of a chunked body; empty at the end."""
        size = int(self._file.readline().split(b";")[0] or b"0", 16)
        data = self._file.read(size)
        self._file.readline()
        return data
