"""Test client on the Python SDK 2.x, in either era: stdio, Streamable HTTP, HTTP+SSE."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import subscriptions
from client_requests import REQUESTS, ClientRequests
from mcp import Client, MCPError, StdioServerParameters, UriTemplate, types
from mcp.client.sse import sse_client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated, Subscription


class SdkRequests(ClientRequests):
    error_type = MCPError

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


class SessionRecorder(subscriptions.NotificationRecorder):
    """Notifications of a session, from subscribe to unsubscribe."""

    def __init__(self) -> None:
        super().__init__()
        self.client = Client(server(), mode=REQUESTS["era"], message_handler=self.handle_message)

    async def subscribe(self, uri: str) -> None:
        await self.client.subscribe_resource(uri)

    async def unsubscribe(self, uri: str) -> None:
        await self.client.unsubscribe_resource(uri)

    async def handle_message(self, message: Any) -> None:
        self.record(recorded_form(message))


class StreamRecorder(SessionRecorder):
    """Notifications of the modern era: one listen stream per subscription."""

    def __init__(self) -> None:
        super().__init__()
        self._streams: dict[str, tuple[AbstractAsyncContextManager[Subscription], asyncio.Task[None]]] = {}
        # A closed stream hides late notifications, so the raw messages are recorded as well.
        self._raw_messages = subscriptions.NotificationRecorder()

    async def subscribe_to_lists(self) -> None:
        await self._open(subscriptions.LIST_CHANGED, resources_list_changed=True)

    async def subscribe(self, uri: str) -> None:
        await self._open(uri, resource_subscriptions=[uri])

    async def unsubscribe(self, uri: str) -> None:
        stream, reader = self._streams.pop(uri)
        await stream.__aexit__(None, None, None)
        await reader

    async def handle_message(self, message: Any) -> None:
        self._raw_messages.record(recorded_form(message))

    async def wait_for(self, notification: str) -> None:
        await super().wait_for(notification)
        await self._raw_messages.wait_for(notification)

    def drain(self) -> list[str]:
        streamed, raw = super().drain(), self._raw_messages.drain()
        assert sorted(streamed) == sorted(raw), f"the streams delivered {streamed}, but the messages were {raw}"
        return raw

    async def close(self) -> None:
        for key in list(self._streams):
            await self.unsubscribe(key)

    async def _open(self, key: str, **requested: Any) -> None:
        stream = self.client.listen(**requested)
        subscription = await stream.__aenter__()
        accepted = subscription.honored.model_dump(exclude_none=True)
        assert accepted == requested, f"requested {requested}, the server accepted {accepted}"
        self._streams[key] = stream, asyncio.create_task(self._read(subscription))

    async def _read(self, subscription: Subscription) -> None:
        async for event in subscription:
            self.record(recorded_form(event))


def recorded_form(message: Any) -> str:
    """The URI of an update, LIST_CHANGED, or the text of an unexpected message."""
    match message:
        case types.ResourceUpdatedNotification(params=update) | (ResourceUpdated() as update):
            return update.uri
        case types.ResourceListChangedNotification() | ResourcesListChanged():
            return subscriptions.LIST_CHANGED
    return repr(message)


def server() -> object:
    match REQUESTS["transport"]:
        case "stdio":
            program, *arguments = REQUESTS["command"]
            return StdioServerParameters(command=program, args=arguments)
        case "http":
            return REQUESTS["url"]
        case "sse":
            return sse_client(REQUESTS["url"])
    raise ValueError(REQUESTS["transport"])


@asynccontextmanager
async def connect_recorder() -> AsyncIterator[SessionRecorder]:
    recorder = SessionRecorder() if REQUESTS["era"] == "legacy" else StreamRecorder()
    async with recorder.client:
        yield recorder
        if isinstance(recorder, StreamRecorder):
            await recorder.close()


async def main() -> None:
    if "watch" in REQUESTS:
        return await subscriptions.report_notifications(connect_recorder(), connect_recorder())
    async with Client(server(), mode=REQUESTS["era"]) as client:
        await SdkRequests(client).report_requests(client.protocol_version)


asyncio.run(main())
