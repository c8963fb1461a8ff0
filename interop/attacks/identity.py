"""Attacks on identity: cursors, sessions and handles of others, tokens, and what access rules deny."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attacks.wire as wire
from attacks.tally import Tally
from attacks.target import TEXT, Target, read_text

DENIED = "denied-7c41"
RULES = """
[[access]]
allow = ["**"]
principals = ["ada"]

[[mounts.notes.resources]]
uri = "note://open"
name = "open"
text = "open"

[[mounts.notes.resources]]
uri = "note://{denied}"
name = "{denied}"
text = "{denied}"

[[mounts.notes.templates]]
uri = "note://{denied}/{{id}}"
name = "{denied}"
text = "{denied} {{id}}"
values = {{ id = ["{denied}-1", "{denied}-2"] }}

[mounts.notes]
kind = "static"
access = [{{ allow = ["/open"], principals = ["bob"] }}]

[mounts.{denied}]
kind = "static"

[[mounts.{denied}.resources]]
uri = "other://{denied}"
name = "{denied}"
text = "{denied}"

[mounts.files]
kind = "fs"
path = "files"
access = [
    {{ deny = ["{denied}*", "**/{denied}*"], principals = ["bob"] }},
    {{ allow = ["docs/**", "seen.txt"], principals = ["bob"] }},
]
"""


def new_token(program: Path, name: str, *arguments: str) -> tuple[str, str]:
    """A token, and the settings that accept it."""
    printed = subprocess.run(
        [program, "token", "new", name, *arguments], check=True, capture_output=True, text=True
    ).stdout
    lines = printed.splitlines()
    token = next(line for line in lines if line.startswith("rdk_"))
    start = next(number for number, line in enumerate(lines) if line.startswith("[tokens"))
    table = "\n".join(lines[start : start + 3]).split("\n\n")[0]
    return token, table + "\n"


def run(program: Path, folder: Path) -> Iterator[Tally]:
    (folder / "tokens").mkdir()
    (folder / "rules").mkdir()
    yield from run_tokens(program, folder / "tokens")
    yield from run_rules(program, folder / "rules")


def run_tokens(program: Path, folder: Path) -> Iterator[Tally]:
    tally = Tally("cursors, sessions and tokens")
    ada, ada_table = new_token(program, "ada")
    bob, bob_table = new_token(program, "bob")
    old, old_table = new_token(program, "old")
    old_table += "expires = 2001-01-01\n"
    tables = ada_table + bob_table + old_table
    for number in range(250):
        (folder / f"project/many/{number:03}.txt").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"project/many/{number:03}.txt").write_text(str(number))
    with Target(program, folder, tally, "[server]\npage_size = 10\n" + tables, token=ada) as target:
        with target.honest("forged cursors and tokens"):
            try_cursors(target, tally, bob)
            try_sessions(target, tally, ada, bob)
            try_handles(target, tally, ada, bob)
            try_tokens(target, tally, ada, old)
            try_revoking(target, tally, bob, bob_table)
    yield tally


def try_cursors(target: Target, tally: Tally, bob: str) -> None:
    cursor = target.call("resources/list", uri="file:///project/many/")["result"]["nextCursor"]
    other = target.tool("resources_list", collection="file:///project/many/")["result"]
    forged = {
        "empty": "",
        "truncated": cursor[:-1],
        "halved": cursor[: len(cursor) // 2],
        "longer": cursor + "A",
        "doubled": cursor * 2,
        "huge": cursor * 20_000,
        "reversed": cursor[::-1],
        "not base64": "\u00e9\u0000 %",
        "a number": 7,
        "an object": {"a": cursor},
    }
    for place in range(0, len(cursor), 3):
        letter = "A" if cursor[place] != "A" else "B"
        forged[f"changed at {place}"] = cursor[:place] + letter + cursor[place + 1 :]
    for name, value in forged.items():
        message = target.call("resources/list", uri="file:///project/many/", cursor=value)
        tally.expect(message.get("error", {}).get("code") == -32602, f"a cursor that is {name}", message)
    for method, params in {
        "resources/list": {"uri": "file:///project/docs/"},
        "resources/templates/list": {},
        "tools/list": {},
        "prompts/list": {},
    }.items():
        message = target.call(method, cursor=cursor, **params)
        tally.expect("error" in message, f"a cursor of another list in {method}", message)
    structured = other.get("structuredContent", {})
    tally.expect(structured.get("cursor") or structured.get("nextCursor"), "a tool gives a cursor", other)
    mixed = target.tool("resources_grep", pattern="x", cursor=cursor)
    tally.expect(mixed["result"].get("isError"), "a cursor of a list in a search", mixed)


def try_sessions(target: Target, tally: Tally, ada: str, bob: str) -> None:
    with target.connect() as connection:
        session = connection.exchange(wire.initialize(ada)).headers.get("mcp-session-id", "")
        tally.expect(session, "a session opens")
        own = connection.exchange(wire.in_session("resources/list", {}, session, ada))
        tally.expect(own.status == 200, "the owner uses its session", own.status)
        for name, (used, token) in {
            "another principal": (session, bob),
            "truncated": (session[:-1], ada),
            "longer": (session + "0", ada),
            "upper case": (session.upper() + "X", ada),
            "huge": ("a" * 20_000, ada),
            "guessed": ("00000000-0000-0000-0000-000000000000", ada),
        }.items():
            answer = connection.exchange(wire.in_session("resources/list", {}, used, token))
            tally.expect(answer.status == 404, f"a session id: {name}", answer.status)
            headers = {"Host": "127.0.0.1", "Mcp-Session-Id": used, "Authorization": f"Bearer {token}"}
            for first in ("DELETE /mcp HTTP/1.1", "GET /mcp HTTP/1.1"):
                accept = {"Accept": "text/event-stream"}
                answer = connection.exchange(wire.head(first, headers | accept))
                tally.expect(answer.status == 404, f"{first[:6]} of a session id: {name}", answer.status)
        own = connection.exchange(wire.in_session("resources/list", {}, session, ada))
        tally.expect(own.status == 200, "the session survived", own.status)


def try_handles(target: Target, tally: Tally, ada: str, bob: str) -> None:
    watched = target.tool("resources_watch", ada, uris=["file:///project/README.md"])["result"]
    handle = watched.get("structuredContent", {}).get("handle", "")
    tally.expect(handle, "a watch has a handle", watched)
    for name, (token, used) in {
        "another principal": (bob, handle),
        "truncated": (ada, handle[:8]),
        "empty": (ada, ""),
        "huge": (ada, handle * 10_000),
    }.items():
        for tool, more in {"resources_changes": {}, "resources_unwatch": {}}.items():
            message = target.tool(tool, token, handle=used, **more)
            failed = "error" in message or message["result"].get("isError")
            tally.expect(failed, f"{tool} with a handle: {name}", message)
    shown = str(target.call("resources/read", bob, uri="refdesk://subscriptions"))
    tally.expect(handle[:8] not in shown and "README" not in shown, "another's watches are not shown", shown)
    own = target.tool("resources_changes", ada, handle=handle)["result"]
    tally.expect(not own.get("isError"), "the owner's handle works on", own)


def try_tokens(target: Target, tally: Tally, ada: str, old: str) -> None:
    request = wire.body_of("resources/read", {"uri": "file:///project/README.md"})
    usual = {"MCP-Protocol-Version": wire.REVISION, "Mcp-Method": "resources/read"}
    usual["Mcp-Name"] = "file:///project/README.md"
    for name, value in {
        "missing": None,
        "empty": "",
        "only the scheme": "Bearer",
        "a space": "Bearer ",
        "wrong": "Bearer rdk_" + "A" * 43,
        "expired": f"Bearer {old}",
        "another scheme": f"Basic {ada}",
        "no scheme": ada,
        "lower case": f"Bearer {ada.lower()}",
        "truncated": f"Bearer {ada[:-1]}",
        "longer": f"Bearer {ada}A",
        "doubled": f"Bearer {ada} {ada}",
        "a list": f"Bearer {ada}, Bearer {ada}",
        "quoted": f'Bearer "{ada}"',
        "huge": "Bearer " + ada * 200,
        "not ASCII": "Bearer \u00e9\u00ff",
        "a hash": "Bearer blake3:" + "0" * 64,
    }.items():
        headers = usual | ({"Authorization": value} if value is not None else {})
        with target.connect() as connection:
            answer = connection.exchange(wire.post(request, headers))
        tally.expect(answer.status == 401, f"a token: {name}", answer.status)
        tally.expect(TEXT.encode() not in answer.body, f"a token: {name}, no content")
        tally.expect("Bearer" in answer.headers.get("www-authenticate", ""), f"a token: {name}, a challenge")
    for query in ("token", "access_token", "authorization", "bearer", "api_key"):
        with target.connect() as connection:
            answer = connection.exchange(wire.post(request, usual, path=f"/mcp?{query}={ada}"))
        tally.expect(answer.status == 401, f"a token in the query as {query}", answer.status)
    with target.connect() as connection:
        twice = wire.post(request, usual | {"Authorization": f"Bearer {ada}", "authorization": "Bearer x"})
        tally.expect(connection.exchange(twice).status in (400, 401), "two tokens")
    tally.expect(ada not in target.log.read_text() and old not in target.log.read_text(), "no token in the log")


def try_revoking(target: Target, tally: Tally, bob: str, bob_table: str) -> None:
    """A stream ends when its token is revoked, and the token opens nothing more."""
    with target.connect(20) as stream:
        wanted = {"notifications": {"resourcesListChanged": True}}
        stream.send(wire.stateless("subscriptions/listen", wanted, token=bob))
        status, _ = stream.answer_head()
        tally.expect(status == 200, "a stream opens", status)
        target.settings.write_text(target.settings.read_text().replace(bob_table, ""))
        tally.expect(stream.ends(), "a revoked stream ends")
    with target.connect() as connection:
        refused = connection.exchange(wire.stateless("resources/list", {}, token=bob)).status
        tally.expect(refused == 401, "a revoked token", refused)


def run_rules(program: Path, folder: Path) -> Iterator[Tally]:
    tally = Tally("access rules")
    ada, ada_table = new_token(program, "ada")
    bob, bob_table = new_token(program, "bob")
    for path in (f"{DENIED}.txt", f"{DENIED}/a.txt", f"docs/{DENIED}.md", "docs/seen.md", "seen.txt", "other/docs/x.txt"):
        file = folder / "files" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("seen" if "seen" in path else DENIED)
    rules = RULES.format(denied=DENIED)
    with Target(program, folder, tally, ada_table + bob_table + rules, token=ada) as target:
        with target.honest("a principal that may see little"):
            try_rules(target, tally, bob)
        everything = str(target.call("resources/list", ada, uri="file:///files/"))
        tally.expect(DENIED in everything, "the other principal sees everything", everything)
    yield tally


def try_rules(target: Target, tally: Tally, bob: str) -> None:
    def nothing_denied(attack: str, message: dict[str, Any], *repeated: str) -> None:
        text = str(message)
        # An error repeats what the client itself sent.
        for sent in sorted(repeated, key=len, reverse=True):
            text = text.replace(sent, "")
        tally.expect(DENIED not in text, attack, text)
        tally.expect(message.get("error", {}).get("code") != -32603, f"{attack}, no internal error", text)

    for method in ("resources/list", "resources/templates/list", "tools/list", "prompts/list", "server/discover"):
        params: dict[str, Any] = {}
        for page in range(20):
            message = target.call(method, bob, **params)
            nothing_denied(f"{method} page {page}", message)
            if not (cursor := message.get("result", {}).get("nextCursor")):
                break
            params = {"cursor": cursor}
    uris = [
        f"file:///files/{DENIED}.txt",
        f"file:///files/{DENIED}/",
        f"file:///files/{DENIED}/a.txt",
        f"file:///files/docs/{DENIED}.md",
        # The rule allows `docs` at the top only.
        "file:///files/other/docs/x.txt",
        "file:///files/other/",
        f"file:///files/docs/../{DENIED}.txt",
        f"file:///files/%64{DENIED[1:]}.txt",
        f"note://{DENIED}",
        f"note://{DENIED}/{DENIED}-1",
        f"other://{DENIED}",
        f"refdesk://mounts/{DENIED}",
        "refdesk://mounts",
        "refdesk://mounts/files",
        "refdesk://mounts/notes",
        "refdesk://subscriptions",
        "file:///files/",
        "file:///files/docs/",
    ]
    for uri in uris:
        for method in ("resources/read", "resources/metadata", "resources/list", "resources/directory/read"):
            nothing_denied(f"{method} {uri}", target.call(method, bob, uri=uri), uri)
        window = {"dev.refdesk/window": {"offset": 0, "length": 10}}
        nothing_denied(f"a window of {uri}", target.call("resources/read", bob, uri=uri, _meta=window), uri)
        for tool, arguments in {
            "resources_read": {"uri": uri},
            "resources_metadata": {"uris": [uri]},
            "resources_read_embedded": {"uris": [uri]},
            "resources_watch": {"uris": [uri]},
            "resources_list": {"collection": uri, "recursive": True},
            "resources_grep": {"collection": uri, "pattern": "[a-z]"},
        }.items():
            nothing_denied(f"{tool} {uri}", target.tool(tool, bob, **arguments), uri)
    for arguments in ({}, {"recursive": True}, {"sort": "name"}, {"sort": "size", "recursive": True}, {"name": "denied"}):
        nothing_denied(f"resources_list {arguments}", target.tool("resources_list", bob, **arguments))
    for pattern in (".", "denied", "7c41", "(?i)DENIED"):
        nothing_denied(f"grep {pattern}", target.tool("resources_grep", bob, pattern=pattern))
    nothing_denied("resources_templates", target.tool("resources_templates", bob))
    for template, variable, value in (
        ("file:///files/{+path}", "path", ""),
        ("file:///files/{+path}", "path", "de"),
        ("file:///files/{+path}", "path", "docs/d"),
        (f"note://{DENIED}/{{id}}", "id", ""),
    ):
        reference = {"type": "ref/resource", "uri": template}
        message = target.call("completion/complete", bob, ref=reference, argument={"name": variable, "value": value})
        nothing_denied(f"completion {template} {value}", message, template)
    try_listening(target, tally, bob, uris)


def try_listening(target: Target, tally: Tally, bob: str, uris: list[str]) -> None:
    """A subscription to what is denied is not granted, and tells of no change."""
    with target.connect(10) as stream:
        denied = [uri for uri in uris if DENIED in uri]
        wanted = {"resourceSubscriptions": [*denied, "file:///files/seen.txt"]}
        stream.send(wire.stateless("subscriptions/listen", {"notifications": wanted}, token=bob))
        stream.answer_head()
        first = stream.chunk()
        tally.expect(DENIED.encode() not in first, "a denied subscription is not granted", first)
        for path in (f"{DENIED}.txt", "seen.txt"):
            (target.folder / "files" / path).write_text(f"{DENIED if DENIED in path else 'seen'} {time.monotonic()}")
        seen = b""
        while b"seen.txt" not in seen:
            seen += stream.chunk()
        tally.expect(DENIED.encode() not in seen, "a denied change is not told", seen)
