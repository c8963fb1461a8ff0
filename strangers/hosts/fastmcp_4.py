"""Test server on FastMCP, over stdio."""

from fastmcp import FastMCP
from shelf import stock

server = FastMCP("fastmcp")
stock(server)
server.run(show_banner=False)
