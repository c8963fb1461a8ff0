"""What do the small servers of this folder hold? The same, whoever serves it."""

TEXT = "one note\n"
BLOB = bytes(range(256))


def stock(server) -> None:
    """Puts everything on a server whose decorators are those of MCPServer and of FastMCP."""

    @server.resource("note://one", name="one", mime_type="text/plain")
    def one() -> str:
        return TEXT

    @server.resource("note://blob", name="blob", mime_type="application/octet-stream")
    def blob() -> bytes:
        return BLOB

    @server.resource("note://shelf/{place}", name="shelf", mime_type="text/plain")
    def shelf(place: str) -> str:
        return f"what lies at {place}"

    @server.tool()
    def echo(message: str) -> str:
        """Says it again."""
        return f"Echo: {message}"

    @server.prompt()
    def greet(who: str) -> str:
        """Greets somebody."""
        return f"Say hello to {who}."
