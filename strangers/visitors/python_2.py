"""Test client on the Python SDK 2.x, in either era: stdio, Streamable HTTP, HTTP+SSE."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import watching
from errand import ERRAND, Errand
from mcp import Client, MCPError, StdioServerParameters, UriTemplate, types
from mcp.client.sse import sse_client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated, Subscription


class Visit(Errand):
    refusal = MCPError

    def __init__(self, client: Client) -> None:
        self.client = client

    async def list_page(self, cursor: str | None) -> types.ListResourcesResult:
        return await self.client.list_resources(cursor=cursor)

    async def list_templates(self) -> types.ListResourceTemplatesResult:
        return await self.client.list_resource_templates()

    async def read(self, uri: str) -> types.ReadResourceResult:
        return await self.client.read_resource(uri)

    def expand(self, template: str, values: dict[str, str]) -> str:
        return UriTemplate.parse(template).expand(values)

    async def complete(self, template: str, name: str, value: str) -> types.CompleteResult:
        ref = types.ResourceTemplateReference(type="ref/resource", uri=template)
        return await self.client.complete(ref, {"name": name, "value": value})

    async def list_tools(self) -> types.ListToolsResult:
        return await self.client.list_tools()

    async def call(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        return await self.client.call_tool(name, arguments)


class Ear(watching.Ear):
    """Notifications of a session, from subscribe to unsubscribe."""

    def __init__(self) -> None:
        super().__init__()
        self.client = Client(server(), mode=ERRAND["era"], message_handler=self.take)

    async def subscribe(self, uri: str) -> None:
        await self.client.subscribe_resource(uri)

    async def unsubscribe(self, uri: str) -> None:
        await self.client.unsubscribe_resource(uri)

    async def take(self, message: Any) -> None:
        self.hear(said(message))


class StreamEar(Ear):
    """Notifications of the modern era: one listen stream per subscription."""

    def __init__(self) -> None:
        super().__init__()
        self._streams: dict[str, tuple[AbstractAsyncContextManager[Subscription], asyncio.Task[None]]] = {}
        # A closed stream hides late notifications, so the raw messages are recorded as well.
        self._beside = watching.Ear()

    async def attend_to_lists(self) -> None:
        await self._open(watching.LISTS, resources_list_changed=True)

    async def subscribe(self, uri: str) -> None:
        await self._open(uri, resource_subscriptions=[uri])

    async def unsubscribe(self, uri: str) -> None:
        stream, reading = self._streams.pop(uri)
        await stream.__aexit__(None, None, None)
        await reading

    async def take(self, message: Any) -> None:
        self._beside.hear(said(message))

    async def until(self, notice: str) -> None:
        await super().until(notice)
        await self._beside.until(notice)

    def taken(self) -> list[str]:
        heard, beside = super().taken(), self._beside.taken()
        assert sorted(heard) == sorted(beside), f"the streams delivered {heard}, but the messages were {beside}"
        return beside

    async def close(self) -> None:
        for key in list(self._streams):
            await self.unsubscribe(key)

    async def _open(self, key: str, **wishes: Any) -> None:
        stream = self.client.listen(**wishes)
        subscription = await stream.__aenter__()
        granted = subscription.honored.model_dump(exclude_none=True)
        assert granted == wishes, f"asked for {wishes}, granted {granted}"
        self._streams[key] = stream, asyncio.create_task(self._read(subscription))

    async def _read(self, subscription: Subscription) -> None:
        async for event in subscription:
            self.hear(said(event))


def said(message: Any) -> str:
    match message:
        case types.ResourceUpdatedNotification(params=about) | (ResourceUpdated() as about):
            return about.uri
        case types.ResourceListChangedNotification() | ResourcesListChanged():
            return watching.LISTS
    return repr(message)


def server() -> object:
    match ERRAND["transport"]:
        case "stdio":
            program, *arguments = ERRAND["command"]
            return StdioServerParameters(command=program, args=arguments)
        case "http":
            return ERRAND["url"]
        case "sse":
            return sse_client(ERRAND["url"])
    raise ValueError(ERRAND["transport"])


@asynccontextmanager
async def listening() -> AsyncIterator[Ear]:
    ear = Ear() if ERRAND["era"] == "legacy" else StreamEar()
    async with ear.client:
        yield ear
        if isinstance(ear, StreamEar):
            await ear.close()


async def main() -> None:
    if "watch" in ERRAND:
        return await watching.report(listening(), listening())
    async with Client(server(), mode=ERRAND["era"]) as client:
        await Visit(client).report(client.protocol_version)


asyncio.run(main())
