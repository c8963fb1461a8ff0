"""Test server on the official Python SDK, over stdio."""

from contents import register
from mcp.server.mcpserver import MCPServer

server = MCPServer("python-2")
register(server)
server.run()
