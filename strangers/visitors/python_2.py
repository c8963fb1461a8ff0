"""How does the Python SDK 2.x come to the desk, in either era?"""

import asyncio

from errand import ERRAND, Errand
from mcp import Client, MCPError, StdioServerParameters, UriTemplate, types
from mcp.client.sse import sse_client


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


async def main() -> None:
    async with Client(server(), mode=ERRAND["era"]) as client:
        await Visit(client).report(client.protocol_version)


asyncio.run(main())
