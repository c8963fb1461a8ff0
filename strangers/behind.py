"""Checks of other MCP servers behind refdesk as a gateway."""

import base64
import json
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fixtures
from asker import Asker, Refused
from desk import BUILD, FIXTURE, HERE, NODE, Desk, Host

sys.path.append(str(HERE / "hosts"))
import shelf  # noqa: E402

Finding = tuple[str, str | None]

EVERYTHING = BUILD / "everything/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
NOT_FOUND = -32602


@dataclass(frozen=True)
class Mounted:
    """One server behind refdesk, and its expected contents, by its own names."""

    name: str
    contents: dict[str, str | bytes]
    template: str
    expanded: tuple[str, str]
    tool: tuple[str, dict[str, Any], str]
    prompt: tuple[str, dict[str, Any], str]
    more: bool = False
    changes: tuple[str, str] | None = None
    command: list[str] = field(default_factory=list)

    def public(self, uri: str) -> str:
        return f"{self.name}+{uri}"


SMALL = {
    "contents": {"note://one": shelf.TEXT, "note://blob": shelf.BLOB},
    "template": "note://shelf/{place}",
    "expanded": ("note://shelf/7", "what lies at 7"),
    "tool": ("echo", {"message": "ahoy"}, "Echo: ahoy"),
    "prompt": ("greet", {"who": "Ada"}, "Ada"),
}
WITH_EVERYTHING = {
    "contents": {},
    "template": "demo://resource/dynamic/text/{resourceId}",
    "expanded": ("demo://resource/dynamic/text/1", "Resource 1"),
    "tool": ("echo", {"message": "ahoy"}, "Echo: ahoy"),
    "prompt": ("simple-prompt", {}, "prompt"),
    "more": True,
}
MOUNTED = [
    Mounted("everything", command=[str(NODE), str(EVERYTHING), "stdio"], **WITH_EVERYTHING),
    Mounted("everything-web", **WITH_EVERYTHING),
    Mounted("python", command=[f"{BUILD}/python-2/bin/python", "-B", f"{HERE}/hosts/python_2.py"], **SMALL),
    Mounted("fastmcp", command=[f"{BUILD}/fastmcp/bin/python", "-B", f"{HERE}/hosts/fastmcp_4.py"], **SMALL),
    Mounted(
        "fixture",
        contents={
            "test://static-text": "This is the content of the static text resource.",
            "test://static-binary": fixtures.PIXEL,
            "test://watched-resource": "version 0",
        },
        template="test://template/{id}/data",
        expanded=("test://template/7/data", '"id":"7"'),
        tool=("test_simple_text", {}, "simple text"),
        prompt=("test_prompt_with_arguments", {"arg1": "Ada", "arg2": "Grace"}, "Grace"),
        changes=("test://watched-resource", "test_trigger_resource_change"),
    ),
]


def findings(program: Path) -> Iterator[Finding]:
    """Mounts all servers in one refdesk, beside a folder, and checks each of them."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        port = free_port()
        everything = Host([str(NODE), str(EVERYTHING), "streamableHttp"], {"PORT": str(port)}, port)
        urls = {
            "everything-web": opened.enter_context(everything).url,
            "fixture": opened.enter_context(Host([str(FIXTURE)])).url,
        }
        settings = fixtures.lay_out(folder)
        with settings.open("a") as file:
            for mounted in MOUNTED:
                where = f"url = {json.dumps(urls[mounted.name])}" if mounted.name in urls else ""
                where = where or f"command = {json.dumps(mounted.command)}"
                file.write(f'\n[mounts.{mounted.name}]\nkind = "upstream"\n{where}\n')
        desk = opened.enter_context(Desk(program, settings))
        asker = Asker(desk.url)
        lists = {
            "resources": [each["uri"] for each in asker.all("resources/list", "resources")],
            "templates": [each["uriTemplate"] for each in asker.all("resources/templates/list", "resourceTemplates")],
        }
        missing = sorted(set(fixtures.LISTED) - set(lists["resources"]))
        yield "behind: the folder beside them is listed", f"not listed: {missing}" if missing else None
        for mounted in MOUNTED:
            for check, look in looks(mounted, asker, lists):
                yield f"behind {mounted.name}: {check}", complaint_of(look)


def free_port() -> int:
    """A free port, for a server that cannot choose one itself."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def complaint_of(look: Callable[[], str | None]) -> str | None:
    try:
        return look()
    except (Refused, OSError, KeyError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


Look = tuple[str, Callable[[], str | None]]


def looks(mounted: Mounted, asker: Asker, lists: dict[str, list[str]]) -> Iterator[Look]:
    own = [uri for uri in lists["resources"] if uri.startswith(f"{mounted.name}+")]
    known = {mounted.public(uri): content for uri, content in mounted.contents.items()}

    def listed() -> str | None:
        is_right = set(own) >= set(known) and (set(own) == set(known) or mounted.more) and own
        return None if is_right and len(own) == len(set(own)) else f"got {own}"

    def read(uri: str, content: str | bytes | None) -> str | None:
        [part] = asker.ask("resources/read", uri=uri)["contents"]
        given = part["text"] if "text" in part else base64.b64decode(part["blob"])
        is_right = part["uri"] == uri and (content is None and given or given == content)
        return None if is_right else f"got {part}"

    def says(uri: str, words: str) -> str | None:
        [part] = asker.ask("resources/read", uri=uri)["contents"]
        return None if part["uri"] == uri and words in part["text"] else f"got {part}"

    def called() -> str | None:
        name, arguments, words = mounted.tool
        result = asker.ask("tools/call", name=f"{mounted.name}_{name}", arguments=arguments)
        return None if words in result["content"][0]["text"] else f"got {result}"

    def filled() -> str | None:
        name, arguments, words = mounted.prompt
        result = asker.ask("prompts/get", name=f"{mounted.name}_{name}", arguments=arguments)
        return None if words in result["messages"][0]["content"]["text"] else f"got {result}"

    def refused() -> str | None:
        uri = mounted.public("none://such")
        try:
            return f"got {asker.ask('resources/read', uri=uri)}"
        except Refused as refusal:
            said = refusal.code, refusal.data.get("uri")
            return None if said == (NOT_FOUND, uri) else f"refused with {said}"

    def ready() -> str | None:
        [part] = asker.ask("resources/read", uri=f"refdesk://mounts/{mounted.name}")["contents"]
        state = json.loads(part["text"])["state"]
        return None if state == "ready" else f"the state is {state}"

    def heard() -> str | None:
        local, tool = mounted.changes
        uri = mounted.public(local)
        messages = asker.hear("subscriptions/listen", notifications={"resourceSubscriptions": [uri]})
        agreed = next(messages)["params"]["notifications"]
        asker.ask("tools/call", name=f"{mounted.name}_{tool}", arguments={})
        told = next(messages)
        messages.close()
        is_right = agreed == {"resourceSubscriptions": [uri]} and told["params"].get("uri") == uri
        return says(uri, "version 1") if is_right else f"acknowledged {agreed}, notified {told}"

    yield "lists its resources under its name", listed
    for uri in own:
        yield f"reads {uri}", lambda uri=uri: read(uri, known.get(uri))
    template = mounted.public(mounted.template)
    yield "lists its template", lambda: None if template in lists["templates"] else f"got {lists['templates']}"
    uri, words = mounted.expanded
    yield "reads an expanded template", lambda: says(mounted.public(uri), words)
    yield "calls a tool", called
    yield "fills in a prompt", filled
    yield f"is refused a missing URI with {NOT_FOUND}", refused
    if mounted.changes:
        yield "is notified of a change", heard
    yield "reports the state ready", ready
