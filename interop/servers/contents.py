"""The resources, tool and prompt that all servers in this folder serve."""

TEXT = "one note\n"
BLOB = bytes(range(256))


def register(server) -> None:
    """Registers everything on a server with the decorators that MCPServer and FastMCP share."""

    @server.resource("note://one", name="one", mime_type="text/plain")
    def one() -> str:
        return TEXT

    @server.resource("note://blob", name="blob", mime_type="application/octet-stream")
    def blob() -> bytes:
        return BLOB

    @server.resource("note://item/{id}", name="item", mime_type="text/plain")
    def item(id: str) -> str:
        return f"item {id}"

    @server.tool()
    def echo(message: str) -> str:
        """Returns the message."""
        return f"Echo: {message}"

    @server.prompt()
    def greet(name: str) -> str:
        """Asks for a greeting."""
        return f"Say hello to {name}."
