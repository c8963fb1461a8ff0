"""Test server on FastMCP, over stdio; `http PORT` is the other transport."""

import sys

from contents import register
from fastmcp import FastMCP

server = FastMCP("fastmcp")
register(server)
match sys.argv[1:]:
    case ["http", port]:
        server.run(transport="http", port=int(port), show_banner=False)
    case _:
        server.run(show_banner=False)
