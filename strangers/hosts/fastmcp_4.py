"""What does FastMCP serve, on a pipe?"""

from fastmcp import FastMCP
from shelf import stock

server = FastMCP("fastmcp")
stock(server)
server.run(show_banner=False)
