"""Test server on the official Python SDK, over stdio; `http PORT` and `sse PORT` are the other transports."""

import sys

from contents import register
from mcp.server.mcpserver import MCPServer

TRANSPORTS = {"http": "streamable-http", "sse": "sse"}

server = MCPServer("python-2")
register(server)
match sys.argv[1:]:
    case [transport, port]:
        server.run(TRANSPORTS[transport], port=int(port))
    case _:
        server.run()
