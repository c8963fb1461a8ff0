"""Minimal MCP client: JSON over HTTP, revision 2026-07-28, standard library only."""

import base64
import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

REVISION = "2026-07-28"
TIMEOUT = 60
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "interop", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class RpcError(Exception):
    """The server answered with a JSON-RPC error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.data: dict[str, Any] = error.get("data") or {}


class HttpClient:
    """Sends requests to one URL, each on a new connection."""

    def __init__(self, url: str) -> None:
        self.url = urlsplit(url)

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a request and returns its result."""
        for message in self.messages(method, **params):
            if "error" in message:
                raise RpcError(message["error"])
            if "result" in message:
                return message["result"]
        raise RpcError({"code": 0, "message": "the response has no result"})

    def all_pages(self, method: str, member: str) -> list[dict[str, Any]]:
        """Reads all pages of a list."""
        items, params = [], {}
        while True:
            page = self.request(method, **params)
            items += page[member]
            if "nextCursor" not in page:
                return items
            params = {"cursor": page["nextCursor"]}

    def messages(self, method: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Sends a request and yields every message of the response; closing the iterator closes the connection."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": META | params.get("_meta", {})}})
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": method,
        }
        if name := params.get("name") or params.get("uri"):
            headers["Mcp-Name"] = name if name.isascii() else f"=?base64?{base64.b64encode(name.encode()).decode()}?="
        connection = http.client.HTTPConnection(self.url.netloc, timeout=TIMEOUT)
        try:
            connection.request("POST", self.url.path, body.encode(), headers)
            response = connection.getresponse()
            if "text/event-stream" not in response.getheader("Content-Type", ""):
                yield json.loads(response.read())
                return
            for line in response:
                if line.startswith(b"data:") and line[5:].strip():
                    yield json.loads(line[5:])
        finally:
            connection.close()
