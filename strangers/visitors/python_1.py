"""Test client on the Python SDK 1.x: stdio, Streamable HTTP, HTTP+SSE."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import watching
from errand import ERRAND, Errand
from mcp import ClientSession, McpError, StdioServerParameters, stdio_client, types
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl


class Visit(Errand):
    refusal = McpError

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def list_page(self, cursor: str | None) -> types.ListResourcesResult:
        return await self.session.list_resources(params=types.PaginatedRequestParams(cursor=cursor))

    async def list_templates(self) -> types.ListResourceTemplatesResult:
        return await self.session.list_resource_templates()

    async def read(self, uri: str) -> types.ReadResourceResult:
        return await self.session.read_resource(AnyUrl(uri))

    def expand(self, template: str, values: dict[str, str]) -> str:
        # This generation has no URI templates; its users format strings.
        return template.format(**values)

    async def complete(self, template: str, name: str, value: str) -> types.CompleteResult:
        ref = types.ResourceTemplateReference(type="ref/resource", uri=template)
        return await self.session.complete(ref, {"name": name, "value": value})

    async def list_tools(self) -> types.ListToolsResult:
        return await self.session.list_tools()

    async def call(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        return await self.session.call_tool(name, arguments)


class Ear(watching.Ear):
    def __init__(self) -> None:
        super().__init__()
        self.session: ClientSession

    async def subscribe(self, uri: str) -> None:
        await self.session.subscribe_resource(AnyUrl(uri))

    async def unsubscribe(self, uri: str) -> None:
        await self.session.unsubscribe_resource(AnyUrl(uri))

    async def take(self, message: Any) -> None:
        match getattr(message, "root", message):
            case types.ResourceUpdatedNotification(params=params):
                self.hear(str(params.uri))
            case types.ResourceListChangedNotification():
                self.hear(watching.LISTS)
            case other:
                self.hear(repr(other))


def transport() -> AbstractAsyncContextManager[tuple[Any, ...]]:
    match ERRAND["transport"]:
        case "stdio":
            program, *arguments = ERRAND["command"]
            return stdio_client(StdioServerParameters(command=program, args=arguments))
        case "http":
            return streamable_http_client(ERRAND["url"])
        case "sse":
            return sse_client(ERRAND["url"])
    raise ValueError(ERRAND["transport"])


@asynccontextmanager
async def listening() -> AsyncIterator[Ear]:
    ear = Ear()
    async with transport() as (read, write, *_), ClientSession(read, write, message_handler=ear.take) as session:
        await session.initialize()
        ear.session = session
        yield ear


async def main() -> None:
    if "watch" in ERRAND:
        return await watching.report(listening(), listening())
    async with transport() as (read, write, *_), ClientSession(read, write) as session:
        opening = await session.initialize()
        await Visit(session).report(str(opening.protocolVersion))


asyncio.run(main())
