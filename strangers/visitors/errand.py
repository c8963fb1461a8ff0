"""The requests of the Python clients, shared by both SDK generations; results use wire names."""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

ERRAND = json.loads(sys.argv[1])


async def attempt(step: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
    """Runs one step and catches its failure, so that the other steps still run."""
    try:
        return {"gave": await step()}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def on_wire(model: Any) -> dict[str, Any]:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Errand:
    """The steps. Each SDK generation implements list, read, expand, complete, call, and names its error type."""

    refusal: type[Exception]

    async def list_page(self, cursor: str | None) -> Any: ...
    async def list_templates(self) -> Any: ...
    async def read(self, uri: str) -> Any: ...
    def expand(self, template: str, values: dict[str, str]) -> str: ...
    async def complete(self, template: str, name: str, value: str) -> Any: ...
    async def list_tools(self) -> Any: ...
    async def call(self, name: str, arguments: dict[str, Any]) -> Any: ...

    async def report(self, revision: str) -> None:
        contents = {uri: await attempt(lambda: self.contents(uri)) for uri in ERRAND["read"]}
        outcome = {
            "revision": {"gave": revision},
            "pages": await attempt(self.walk),
            "contents": contents,
            "templates": await attempt(self.templates),
            "expanded": await attempt(self.expanded),
            "completed": [await attempt(lambda: self.completed(ask)) for ask in ERRAND["complete"]],
            "missing": await attempt(self.missing),
            "tools": await attempt(self.tools),
            "called": await self.called(),
        }
        print(json.dumps(outcome))

    async def walk(self) -> list[list[str]]:
        pages, cursor = [], None
        while not pages or cursor is not None:
            page = on_wire(await self.list_page(cursor))
            pages.append([resource["uri"] for resource in page["resources"]])
            cursor = page.get("nextCursor")
        return pages

    async def contents(self, uri: str) -> list[dict[str, Any]]:
        return on_wire(await self.read(uri))["contents"]

    async def templates(self) -> list[str]:
        listed = on_wire(await self.list_templates())["resourceTemplates"]
        return [template["uriTemplate"] for template in listed]

    async def expanded(self) -> list[dict[str, Any]]:
        return await self.contents(self.expand(**ERRAND["expand"]))

    async def completed(self, ask: dict[str, str]) -> dict[str, Any]:
        return on_wire(await self.complete(**ask))["completion"]

    async def tools(self) -> list[str]:
        return [tool["name"] for tool in on_wire(await self.list_tools())["tools"]]

    async def called(self) -> list[dict[str, Any]]:
        """Calls each tool. The SDK has listed the tools by now, so it validates results against their schemas."""
        outcomes, handle = [], None
        for ask in ERRAND["call"]:
            arguments = ask["arguments"] | ({"handle": handle} if ask.get("handled") else {})
            outcome = await attempt(lambda: self.one_call(ask["name"], arguments))
            handle = (outcome.get("gave", {}).get("structuredContent") or {}).get("handle", handle)
            outcomes.append(outcome)
        return outcomes

    async def one_call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return on_wire(await self.call(name, arguments))

    async def missing(self) -> dict[str, Any]:
        try:
            found = await self.read(ERRAND["missing"])
        except self.refusal as refused:
            return {"code": refused.error.code, "data": refused.error.data}
        raise AssertionError(f"read a missing resource: {found}")
