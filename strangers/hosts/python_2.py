"""What does the official Python SDK serve, on a pipe?"""

from mcp.server.mcpserver import MCPServer
from shelf import stock

server = MCPServer("python-2")
stock(server)
server.run()
