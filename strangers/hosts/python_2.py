"""Test server on the official Python SDK, over stdio."""

from mcp.server.mcpserver import MCPServer
from shelf import stock

server = MCPServer("python-2")
stock(server)
server.run()
