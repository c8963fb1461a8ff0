"""Test server on the official Python SDK, over stdio: names, descriptions and results that hold markup and scripts."""

from typing import Annotated

from mcp.server.mcpserver import Elicit, ElicitationResult, MCPServer, Resolve
from mcp.types import ImageContent, TextContent
from pydantic import BaseModel, Field

SCRIPT = "<img src=x onerror=\"canary('{0}')\"><script>canary('{0}')</script><svg onload=\"canary('{0}')\">"
REMOTE = '<img src="http://evil.example/{0}.png"><iframe src="http://evil.example/{0}"></iframe>'
LINK = "[press](javascript:canary('{0}'))"

server = MCPServer("hostile-words")


def words(place: str) -> str:
    return f"{place} {SCRIPT.format(place)} {REMOTE.format(place)} {LINK.format(place)}"


class Question(BaseModel):
    name: str = Field(title=words("field-title"), description=words("field-description"))


@server.tool(name="shout", title=words("tool-title"), description=words("tool-description"))
def shout() -> list[TextContent | ImageContent]:
    picture = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0iY2FuYXJ5KDEpIi8+"
    return [
        TextContent(type="text", text=words("tool-result")),
        ImageContent(type="image", data=picture, mime_type="image/svg+xml"),
    ]


def question() -> Elicit[Question]:
    return Elicit(words("question"), Question)


@server.tool(name="ask", description="asks")
def ask(answer: Annotated[ElicitationResult[Question], Resolve(question)]) -> str:
    return f"{answer.action} {words('answer')}"


@server.prompt(name="say", title=words("prompt-title"), description=words("prompt-description"))
def say() -> str:
    return words("prompt")


@server.resource(
    "words://one",
    name="one",
    title=words("resource-title"),
    description=words("resource-description"),
    mime_type="text/html",
)
def one() -> str:
    return f"<!doctype html><title>x</title>{words('upstream-html')}<a href=\"javascript:canary('link')\">press</a>"


@server.resource("words://two", name="two", mime_type="text/markdown")
def two() -> str:
    return f"# {words('upstream-markdown')}\n\n{LINK.format('markdown-link')}\n\n![x](http://evil.example/picture.png)\n"


server.run()
