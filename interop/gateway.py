"""Checks of other MCP servers behind refdesk as a gateway."""

import base64
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fixtures
from http_client import HttpClient, RpcError
from processes import BUILD, FIXTURE, HERE, NODE, RefdeskProcess, ServerProcess, free_port

sys.path.append(str(HERE / "servers"))
import contents  # noqa: E402

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]
# The name of a check, and the function that runs it and returns the failure if there is one.
Check = tuple[str, Callable[[], str | None]]

EVERYTHING = BUILD / "everything/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
NOT_FOUND = -32602


@dataclass(frozen=True)
class MountedServer:
    """One server behind refdesk, and its expected contents, under the server's own names."""

    name: str
    # By URI.
    contents: dict[str, str | bytes]
    template: str
    # A URI of the template, and a part of its text.
    expanded: tuple[str, str]
    # Name, arguments, and a part of the result.
    tool: tuple[str, dict[str, Any], str]
    prompt: tuple[str, dict[str, Any], str]
    # Whether the server may list resources that are not in `contents`.
    lists_more: bool = False
    # A URI, and the tool that changes its resource.
    change: tuple[str, str] | None = None
    # Empty for a server that is mounted by URL.
    command: list[str] = field(default_factory=list)

    def public_uri(self, uri: str) -> str:
        return f"{self.name}+{uri}"


SDK_SERVER = {
    "contents": {"note://one": contents.TEXT, "note://blob": contents.BLOB},
    "template": "note://item/{id}",
    "expanded": ("note://item/7", "item 7"),
    "tool": ("echo", {"message": "ahoy"}, "Echo: ahoy"),
    "prompt": ("greet", {"name": "Ada"}, "Ada"),
}
EVERYTHING_SERVER = {
    "contents": {},
    "template": "demo://resource/dynamic/text/{resourceId}",
    "expanded": ("demo://resource/dynamic/text/1", "Resource 1"),
    "tool": ("echo", {"message": "ahoy"}, "Echo: ahoy"),
    "prompt": ("simple-prompt", {}, "prompt"),
    "lists_more": True,
}
SERVERS = [
    MountedServer("everything", command=[str(NODE), str(EVERYTHING), "stdio"], **EVERYTHING_SERVER),
    MountedServer("everything-web", **EVERYTHING_SERVER),
    MountedServer(
        "python", command=[f"{BUILD}/python-2/bin/python", "-B", f"{HERE}/servers/python_2.py"], **SDK_SERVER
    ),
    MountedServer(
        "fastmcp", command=[f"{BUILD}/fastmcp/bin/python", "-B", f"{HERE}/servers/fastmcp_4.py"], **SDK_SERVER
    ),
    MountedServer(
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
        change=("test://watched-resource", "test_trigger_resource_change"),
    ),
]


def checks(program: Path) -> Iterator[CheckResult]:
    """Mounts all servers in one refdesk, beside a folder, and checks each of them."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = free_port()
        everything = ServerProcess([str(NODE), str(EVERYTHING), "streamableHttp"], {"PORT": str(port)}, port)
        urls = {
            "everything-web": stack.enter_context(everything).url,
            "fixture": stack.enter_context(ServerProcess([str(FIXTURE)])).url,
        }
        settings = fixtures.write_files(folder)
        with settings.open("a") as file:
            for server in SERVERS:
                url, command = urls.get(server.name), json.dumps(server.command)
                target = f"url = {json.dumps(url)}" if url else f"command = {command}"
                file.write(f'\n[mounts.{server.name}]\nkind = "upstream"\n{target}\n')
        refdesk = stack.enter_context(RefdeskProcess(program, settings))
        client = HttpClient(refdesk.url)
        templates = client.all_pages("resources/templates/list", "resourceTemplates")
        lists = {
            "resources": [resource["uri"] for resource in client.all_pages("resources/list", "resources")],
            "templates": [template["uriTemplate"] for template in templates],
        }
        missing = sorted(set(fixtures.RESOURCE_URIS) - set(lists["resources"]))
        yield "gateway: lists the folder beside the servers", f"not listed: {missing}" if missing else None
        for server in SERVERS:
            for name, check in server_checks(server, client, lists):
                yield f"gateway to {server.name}: {name}", failure_of(check)


def failure_of(check: Callable[[], str | None]) -> str | None:
    """Runs a check; an exception is a failure too."""
    try:
        return check()
    except (RpcError, OSError, KeyError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def server_checks(server: MountedServer, client: HttpClient, lists: dict[str, list[str]]) -> Iterator[Check]:
    listed = [uri for uri in lists["resources"] if uri.startswith(f"{server.name}+")]
    expected = {server.public_uri(uri): content for uri, content in server.contents.items()}

    def check_list() -> str | None:
        is_complete = set(listed) >= set(expected) and (set(listed) == set(expected) or server.lists_more) and listed
        return None if is_complete and len(listed) == len(set(listed)) else f"got {listed}"

    def check_content(uri: str, content: str | bytes | None) -> str | None:
        [part] = client.request("resources/read", uri=uri)["contents"]
        received = part["text"] if "text" in part else base64.b64decode(part["blob"])
        is_right = part["uri"] == uri and (content is None and received or received == content)
        return None if is_right else f"got {part}"

    def check_text(uri: str, text: str) -> str | None:
        [part] = client.request("resources/read", uri=uri)["contents"]
        return None if part["uri"] == uri and text in part["text"] else f"got {part}"

    def check_tool() -> str | None:
        name, arguments, text = server.tool
        result = client.request("tools/call", name=f"{server.name}_{name}", arguments=arguments)
        return None if text in result["content"][0]["text"] else f"got {result}"

    def check_prompt() -> str | None:
        name, arguments, text = server.prompt
        result = client.request("prompts/get", name=f"{server.name}_{name}", arguments=arguments)
        return None if text in result["messages"][0]["content"]["text"] else f"got {result}"

    def check_missing() -> str | None:
        uri = server.public_uri("none://such")
        try:
            return f"got {client.request('resources/read', uri=uri)}"
        except RpcError as error:
            code_and_uri = error.code, error.data.get("uri")
            return None if code_and_uri == (NOT_FOUND, uri) else f"got the error {code_and_uri}"

    def check_state() -> str | None:
        [part] = client.request("resources/read", uri=f"refdesk://mounts/{server.name}")["contents"]
        state = json.loads(part["text"])["state"]
        return None if state == "ready" else f"the state is {state}"

    def check_notification() -> str | None:
        upstream_uri, tool = server.change
        uri = server.public_uri(upstream_uri)
        messages = client.messages("subscriptions/listen", notifications={"resourceSubscriptions": [uri]})
        acknowledged = next(messages)["params"]["notifications"]
        client.request("tools/call", name=f"{server.name}_{tool}", arguments={})
        notification = next(messages)
        messages.close()
        is_right = acknowledged == {"resourceSubscriptions": [uri]} and notification["params"].get("uri") == uri
        return check_text(uri, "version 1") if is_right else f"acknowledged {acknowledged}, notified {notification}"

    yield "lists its resources under its name", check_list
    for uri in listed:
        yield f"reads {uri}", lambda uri=uri: check_content(uri, expected.get(uri))
    template = server.public_uri(server.template)
    yield "lists its template", lambda: None if template in lists["templates"] else f"got {lists['templates']}"
    uri, text = server.expanded
    yield "reads an expanded template", lambda: check_text(server.public_uri(uri), text)
    yield "calls a tool", check_tool
    yield "gets a prompt", check_prompt
    yield f"gets error {NOT_FOUND} for a missing URI", check_missing
    if server.change:
        yield "is notified of a change", check_notification
    yield "reports the state ready", check_state
