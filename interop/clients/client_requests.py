"""The requests of the Python clients, shared by both SDK generations; results use wire names."""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

REQUESTS = json.loads(sys.argv[1])


async def attempt(step: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
    """Runs one step and catches its failure, so that the other steps still run."""
    try:
        return {"result": await step()}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def to_wire(model: Any) -> dict[str, Any]:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class ClientRequests:
    """The steps. Each SDK generation implements list, read, expand, complete, call, and names its error type."""

    error_type: type[Exception]

    async def list_page(self, cursor: str | None) -> Any: ...
    async def list_templates(self) -> Any: ...
    async def read(self, uri: str) -> Any: ...
    def expand(self, template: str, values: dict[str, str]) -> str: ...
    async def complete(self, template: str, name: str, value: str) -> Any: ...
    async def list_tools(self) -> Any: ...
    async def call(self, name: str, arguments: dict[str, Any]) -> Any: ...

    async def report_requests(self, revision: str) -> None:
        """Runs the steps and prints the outcome."""
        contents = {uri: await attempt(lambda: self.contents(uri)) for uri in REQUESTS["read"]}
        outcome = {
            "revision": {"result": revision},
            "pages": await attempt(self.pages),
            "contents": contents,
            "templates": await attempt(self.templates),
            "expanded": await attempt(self.expanded_contents),
            "completions": [await attempt(lambda: self.completion(request)) for request in REQUESTS["complete"]],
            "missing": await attempt(self.missing_error),
            "tools": await attempt(self.tools),
            "tool_results": await self.tool_results(),
        }
        print(json.dumps(outcome))

    async def pages(self) -> list[list[str]]:
        pages, cursor = [], None
        while not pages or cursor is not None:
            page = to_wire(await self.list_page(cursor))
            pages.append([resource["uri"] for resource in page["resources"]])
            cursor = page.get("nextCursor")
        return pages

    async def contents(self, uri: str) -> list[dict[str, Any]]:
        return to_wire(await self.read(uri))["contents"]

    async def templates(self) -> list[str]:
        templates = to_wire(await self.list_templates())["resourceTemplates"]
        return [template["uriTemplate"] for template in templates]

    async def expanded_contents(self) -> list[dict[str, Any]]:
        return await self.contents(self.expand(**REQUESTS["expand"]))

    async def completion(self, request: dict[str, str]) -> dict[str, Any]:
        return to_wire(await self.complete(**request))["completion"]

    async def tools(self) -> list[str]:
        return [tool["name"] for tool in to_wire(await self.list_tools())["tools"]]

    async def tool_results(self) -> list[dict[str, Any]]:
        """Calls each tool. The SDK has listed the tools by now, so it validates results against their schemas."""
        outcomes, handle = [], None
        for request in REQUESTS["call"]:
            arguments = request["arguments"] | ({"handle": handle} if request.get("needs_handle") else {})
            outcome = await attempt(lambda: self.tool_result(request["name"], arguments))
            handle = (outcome.get("result", {}).get("structuredContent") or {}).get("handle", handle)
            outcomes.append(outcome)
        return outcomes

    async def tool_result(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return to_wire(await self.call(name, arguments))

    async def missing_error(self) -> dict[str, Any]:
        """Reads a missing resource and returns the JSON-RPC error."""
        try:
            result = await self.read(REQUESTS["missing"])
        except self.error_type as exception:
            return {"code": exception.error.code, "data": exception.error.data}
        raise AssertionError(f"read a missing resource: {result}")
