"""Test server on the official Python SDK, over stdio: a tool that asks back, a prompt, and a template."""

from typing import Annotated

from mcp.server.mcpserver import Elicit, ElicitationResult, MCPServer, Resolve
from pydantic import BaseModel, Field

server = MCPServer("asking")


class Table(BaseModel):
    """What the tool asks for."""

    name: str = Field(title="Your name", description="Under which the table is kept")
    window: bool = Field(default=False, title="At the window")


def under_which_name(people: int) -> Elicit[Table]:
    return Elicit(f"A table for {people}: under which name?", Table)


@server.tool()
def book_table(people: int, table: Annotated[ElicitationResult[Table], Resolve(under_which_name)]) -> str:
    """Books a table, and asks under which name."""
    if table.action != "accept":
        return f"No table: {table.action}."
    place = "at the window" if table.data.window else "inside"
    return f"A table for {people} {place}, for {table.data.name}."


@server.prompt()
def invite(guest: str) -> str:
    """Writes an invitation."""
    return f"Invite {guest} to dinner."


@server.resource("menu://{course}", name="menu", mime_type="text/plain")
def menu(course: str) -> str:
    return f"The {course} of today."


server.run()
