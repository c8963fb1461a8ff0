"""Test client on the Python SDK 1.x: stdio, Streamable HTTP, HTTP+SSE."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import subscriptions
from client_requests import REQUESTS, ClientRequests
from mcp import ClientSession, McpError, StdioServerParameters, stdio_client, types
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl


class SdkRequests(ClientRequests):
    error_type = McpError

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


class SessionRecorder(subscriptions.NotificationRecorder):
    def __init__(self) -> None:
        super().__init__()
        self.session: ClientSession

    async def subscribe(self, uri: str) -> None:
        await self.session.subscribe_resource(AnyUrl(uri))

    async def unsubscribe(self, uri: str) -> None:
        await self.session.unsubscribe_resource(AnyUrl(uri))

    async def handle_message(self, message: Any) -> None:
        match getattr(message, "root", message):
            case types.ResourceUpdatedNotification(params=params):
                self.record(str(params.uri))
            case types.ResourceListChangedNotification():
                self.record(subscriptions.LIST_CHANGED)
            case unexpected:
                self.record(repr(unexpected))


def transport() -> AbstractAsyncContextManager[tuple[Any, ...]]:
    match REQUESTS["transport"]:
        case "stdio":
            program, *arguments = REQUESTS["command"]
            return stdio_client(StdioServerParameters(command=program, args=arguments))
        case "http":
            return streamable_http_client(REQUESTS["url"])
        case "sse":
            return sse_client(REQUESTS["url"])
    raise ValueError(REQUESTS["transport"])


@asynccontextmanager
async def connect_recorder() -> AsyncIterator[SessionRecorder]:
    recorder = SessionRecorder()
    handler = recorder.handle_message
    async with transport() as (read, write, *_), ClientSession(read, write, message_handler=handler) as session:
        await session.initialize()
        recorder.session = session
        yield recorder


async def main() -> None:
    if "watch" in REQUESTS:
        return await subscriptions.report_notifications(connect_recorder(), connect_recorder())
    async with transport() as (read, write, *_), ClientSession(read, write) as session:
        initialized = await session.initialize()
        await SdkRequests(session).report_requests(str(initialized.protocolVersion))


asyncio.run(main())
