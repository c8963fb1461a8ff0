"""Test server on the official Python SDK 1.x, over stdio; `http PORT` and `sse PORT` are the other transports."""

import sys

from contents import register
from mcp.server.fastmcp import FastMCP

TRANSPORTS = {"http": "streamable-http", "sse": "sse"}

match sys.argv[1:]:
    case [name, port]:
        server, transport = FastMCP("python-1", port=int(port)), TRANSPORTS[name]
    case _:
        server, transport = FastMCP("python-1"), "stdio"
register(server)
server.run(transport)
