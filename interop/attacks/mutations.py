"""20,000 random requests: mutations of valid ones with a fixed seed, over HTTP and stdio."""

import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attacks.wire as wire
from attacks.tally import Tally
from attacks.target import StdioTarget, Target

SEED = 20261115
OVER_HTTP = 10_000
OVER_STDIO = 10_000
README = "file:///project/README.md"
VALID: list[tuple[str, dict[str, Any]]] = [
    ("server/discover", {}),
    ("resources/list", {}),
    ("resources/list", {"uri": "file:///project/docs/"}),
    ("resources/list", {"cursor": "AAAA"}),
    ("resources/read", {"uri": README}),
    ("resources/read", {"uri": README, "_meta": {"dev.refdesk/window": {"offset": 3, "length": 5}}}),
    ("resources/read", {"uri": README, "_meta": {"dev.refdesk/window": {"start_line": 1, "max_lines": 2}}}),
    ("resources/metadata", {"uri": README}),
    ("resources/templates/list", {}),
    ("tools/list", {}),
    ("prompts/list", {}),
    ("tools/call", {"name": "resources_list", "arguments": {"uri": "**/*.md", "sort": "name"}}),
    ("tools/call", {"name": "resources_read", "arguments": {"uri": README, "start_line": 1, "max_lines": 1}}),
    ("tools/call", {"name": "resources_metadata", "arguments": {"uris": [README]}}),
    ("tools/call", {"name": "resources_grep", "arguments": {"pattern": "a", "context": 1, "max_matches": 5}}),
    ("tools/call", {"name": "resources_read_embedded", "arguments": {"uris": [README], "max_bytes": 100}}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "file:///project/{+path}"},
            "argument": {"name": "path", "value": "do"},
        },
    ),
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}),
    ("ping", {}),
    ("logging/setLevel", {"level": "debug"}),
]
ODD = [
    None, True, -1, 0, 2**53, 2**64, -(2**63) - 1, 1.5, 1e308, "", " ", "\x00", "\ud83d\ude00", "a" * 9000, "../..",
    "%", "%zz", "%00", "[", "(", "{", "**", "file:///", "://", [], {}, [[]], [None] * 200, {"": {}}, {"a": [1, {"b": 2}]},
    "2026-07-28", "resources/read", -0.0, "NaN", "\u202e", "\u2028", "\n",
]  # fmt: skip


def mutate(choice: random.Random, value: Any) -> Any:
    """Replaces, removes, doubles or keeps parts of a value."""
    if choice.random() < 0.12:
        return choice.choice(ODD)
    if isinstance(value, dict):
        items = [(key, mutate(choice, part)) for key, part in value.items() if choice.random() > 0.06]
        if choice.random() < 0.08:
            items.append((str(choice.choice(ODD))[:50], choice.choice(ODD)))
        return dict(items)
    if isinstance(value, list):
        return [mutate(choice, part) for part in value] * choice.choice((1, 1, 1, 0, 3))
    if isinstance(value, str) and choice.random() < 0.15:
        place = choice.randrange(len(value) + 1)
        return value[:place] + choice.choice(("", "\x00", "%", "..", "/", "\u00e9", "{", "x" * 100)) + value[place + 1 :]
    if isinstance(value, int) and choice.random() < 0.3:
        return value + choice.choice((-1, 1, -(2**31), 2**31, 2**63))
    return value


def mutated_message(choice: random.Random, number: int) -> tuple[str, dict[str, Any], bytes]:
    method, params = choice.choice(VALID)
    meta = wire.META | params.get("_meta", {})
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params | {"_meta": meta}}
    changed = mutate(choice, message)
    data = json.dumps(changed).encode()
    if choice.random() < 0.1:
        mangled = bytearray(data)
        for _ in range(choice.randrange(1, 4)):
            mangled[choice.randrange(len(mangled))] = choice.randrange(256)
        data = bytes(mangled)
    return method, params, data


def run(program: Path, folder: Path) -> Iterator[Tally]:
    tally = Tally("random requests")
    with Target(program, folder, tally) as target:
        with target.honest("random requests"):
            threads = [
                threading.Thread(target=try_over_http, args=(target, tally, random.Random(SEED + number), OVER_HTTP // 2))
                for number in range(2)
            ]
            for thread in threads:
                thread.start()
            try_over_stdio(target, tally, random.Random(SEED - 1))
            for thread in threads:
                thread.join()
    yield tally


def try_over_http(target: Target, tally: Tally, choice: random.Random, count: int) -> None:
    connection = target.connect()
    for number in range(count):
        method, params, data = mutated_message(choice, number)
        headers = {"MCP-Protocol-Version": wire.REVISION, "Mcp-Method": method}
        if name := params.get("name") or params.get("uri"):
            headers["Mcp-Name"] = name
        for name in list(headers):
            if choice.random() < 0.02:
                headers[name] = choice.choice(("", "x", "=?base64?AA?=", "\u00e9", "a" * 500))
        data = data.replace(b"\n", b" ")
        try:
            answer = connection.exchange(wire.post(data, headers))
        except TimeoutError:
            answer = wire.Answer(599, {}, b"no answer in 20 seconds")
        tally.expect(answer.status < 500 or answer.status == 503, "a random request over HTTP", answer.status, data)
        if answer.status == 0 or answer.status == 599 or answer.headers.get("connection", "").lower() == "close":
            connection.close()
            connection = target.connect()
    connection.close()


def try_over_stdio(target: Target, tally: Tally, choice: random.Random) -> None:
    """Sends in batches, each with a valid request at its end, whose answer must come."""
    with StdioTarget(target) as pipe:
        for batch in range(OVER_STDIO // 50):
            lines = [mutated_message(choice, number)[2].replace(b"\n", b" ") for number in range(50)]
            end = f"end-{batch}"
            lines.append(wire.body_of("resources/read", {"uri": README}, end))
            sender = threading.Thread(target=lambda lines=lines: [pipe.send(line) for line in lines])
            sender.start()
            message: Any = {}
            while not (isinstance(message, dict) and message.get("id") == end):
                message = pipe.receive()
            sender.join()
            with_batch = "result" in message or message["error"]["code"] == -32603
            for _ in lines[:-1]:
                tally.expect(with_batch, "a random request over stdio", message)
