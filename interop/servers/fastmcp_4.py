"""Test server on FastMCP, over stdio."""

from contents import register
from fastmcp import FastMCP

server = FastMCP("fastmcp")
register(server)
server.run(show_banner=False)
