"""Attacks with HTTP and JSON: shapes that confuse parsers, and requests or readers that are slow or huge."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import attacks.wire as wire
from attacks.tally import Tally
from attacks.target import StdioTarget, Target

MIB = 1 << 20
READ = {"uri": "file:///project/README.md"}
READ_BODY = wire.body_of("resources/read", READ)
READ_HEADERS = {"MCP-Protocol-Version": wire.REVISION, "Mcp-Method": "resources/read", "Mcp-Name": READ["uri"]}
SETTINGS = '[server]\narrival = "2 s"\nmax_message = "4 MiB"\n'


def run(program: Path, folder: Path) -> Iterator[Tally]:
    tally = Tally("HTTP and JSON")
    (folder / "project").mkdir()
    (folder / "project/large.txt").write_text("large text\n" * 800_000)
    with Target(program, folder, tally, SETTINGS) as target:
        with target.honest("odd requests"):
            try_heads(target, tally)
            try_smuggling(target, tally)
            try_bodies(target, tally)
            try_pipelining(target, tally)
        with target.honest("slow clients"):
            try_slow_clients(target, tally)
        try_on_a_pipe(target, tally)
    yield tally


def ask(target: Target, data: bytes) -> wire.Answer:
    with target.connect() as connection:
        return connection.exchange(data)


def try_heads(target: Target, tally: Tally) -> None:
    def refused(attack: str, data: bytes, *statuses: int) -> None:
        answer = ask(target, data)
        tally.expect(answer.status in statuses, attack, answer.status, answer.body)

    def with_headers(headers: dict[str, str]) -> bytes:
        return wire.post(READ_BODY, READ_HEADERS | headers)

    request = wire.post(READ_BODY, READ_HEADERS)
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "[::2]", "127.0.0.1:x", "a b"):
        refused(f"Host {host!r}", with_headers({"Host": host}), 400, 403)
    for origin in ("https://evil.example", "null", "http://127.0.0.1.evil.example", "file://", "http://localhost@evil"):
        refused(f"Origin {origin}", with_headers({"Origin": origin}), 400, 403)
    refused("no Host", request.replace(b"Host: 127.0.0.1\r\n", b""), 400)
    refused("two Hosts", request.replace(b"Host: 127.0.0.1\r\n", b"Host: 127.0.0.1\r\nHost: evil.example\r\n"), 400)
    refused("two Origins", with_headers({"Origin": "http://localhost", "origin": "https://evil.example"}), 400, 403)
    absolute = request.replace(b"POST /mcp ", b"POST http://evil.example/mcp ")
    refused("an absolute target of another host", absolute, 400, 403)
    refused("an absolute target of this host", request.replace(b"POST /mcp ", b"POST http://127.0.0.1/mcp "), 200)
    refused("HTTP/1.0", request.replace(b"HTTP/1.1", b"HTTP/1.0"), 200, 400, 505)
    refused("HTTP/3.0", request.replace(b"HTTP/1.1", b"HTTP/3.0"), 0, 400, 505)
    refused("HTTP/0.9", b"GET /mcp\r\n\r\n", 0, 400)
    refused("HTTP/2 without negotiation", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, 400, 505)
    refused("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), 0, 400)
    refused("zeros", bytes(1000), 0, 400)
    for method in ("PUT", "PATCH", "TRACE", "CONNECT", "OPTIONS", "HEAD", "BREW", "post"):
        first = f"{method} {'127.0.0.1:80' if method == 'CONNECT' else '/mcp'} HTTP/1.1"
        refused(f"method {method}", wire.head(first, {"Host": "127.0.0.1"}), 0, 200, 204, 400, 403, 404, 405, 406)
    traversals = ("/../etc/passwd", "/mcp/../../etc/passwd", "/%2e%2e/etc/passwd", "/mcp%00", "//evil.example/mcp")
    for path in (*traversals, "/" + "a" * 9000):
        refused(f"path {path[:30]}", wire.post(READ_BODY, READ_HEADERS, path=path), 400, 403, 404, 414)
    refused("a huge header", with_headers({"X-Big": "a" * 200_000}), 0, 431)
    refused("a header name that is huge", with_headers({"a" * 100_000: "x"}), 0, 400, 431)
    refused("a thousand headers", with_headers({f"X-{number}": "a" for number in range(1000)}), 0, 431)
    refused("a request line without end", b"GET /" + b"a" * MIB, 0, 400, 414, 431)
    refused("headers without end", b"GET /mcp HTTP/1.1\r\n" + b"a: b\r\n" * 200_000, 0, 431)
    refused("a folded header", request.replace(b"Accept:", b"X: a\r\n b\r\nAccept:"), 0, 400)
    refused("a space before a colon", request.replace(b"Accept:", b"Accept :"), 0, 400)
    refused("a control character in a header", with_headers({"X-A": "a\x01b"}), 0, 200, 400)
    refused("a zero in a header", with_headers({"X-A": "a\x00b"}), 0, 400)
    refused("line feeds only", request.replace(b"\r\n", b"\n"), 0, 200, 400)
    refused("another name in the header", with_headers({"Mcp-Name": "file:///project/other"}), 400)
    refused("another method in the header", with_headers({"Mcp-Method": "tools/list"}), 400)
    refused("broken base64 in the header", with_headers({"Mcp-Name": "=?base64?%%%?="}), 400)
    refused("an unknown revision", with_headers({"MCP-Protocol-Version": "1999-01-01"}), 400)
    refused("nothing acceptable", with_headers({"Accept": "image/png"}), 200, 400, 406)
    refused("an upgrade", with_headers({"Connection": "Upgrade", "Upgrade": "websocket"}), 200, 400)
    refused("an expectation", with_headers({"Expect": "a-miracle"}), 200, 400, 417)


def try_smuggling(target: Target, tally: Tally) -> None:
    """A second request hides behind the first; it must get no answer of its own."""
    hidden = wire.post(READ_BODY, READ_HEADERS)
    length = f"Content-Length: {len(READ_BODY)}\r\n".encode()
    shapes = {
        "two lengths": length + b"Content-Length: 0\r\n",
        "a list of lengths": length[:-2] + b", 5\r\n",
        "a signed length": b"Content-Length: +5\r\n",
        "a negative length": b"Content-Length: -5\r\n",
        "a hexadecimal length": b"Content-Length: 0x10\r\n",
        "a length beyond 64 bits": b"Content-Length: 99999999999999999999999\r\n",
        "chunks and a length": length + b"Transfer-Encoding: chunked\r\n",
        "a hidden chunked": length + b"Transfer-Encoding: xchunked\r\n",
        "chunked twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "identity": length + b"Transfer-Encoding: identity\r\n",
        "a tab before chunked": length + b"Transfer-Encoding:\tchunked\r\n",
    }
    for name, lines in shapes.items():
        data = wire.post(READ_BODY, READ_HEADERS).replace(length, lines)
        data = data[: -len(READ_BODY)] + b"0\r\n\r\n" + hidden
        with target.connect(6) as connection:
            answers = [connection.exchange(data)]
            while answers[-1].status:
                try:
                    answers.append(connection.answer())
                except TimeoutError:
                    break
        served = [answer.status for answer in answers if answer.status == 200]
        # A proxy in front may see one request, so that two good answers would be one too many.
        tally.expect(len(served) <= 1 and answers[0].status < 500, f"smuggling: {name}", [a.status for a in answers])
    for name, chunks in {
        "a huge chunk size": b"ffffffffffffffff\r\nx",
        "a negative chunk size": b"-1\r\nx",
        "no chunk size": b"\r\n\r\n",
        "a chunk size without end": b"1" * 100_000,
        "a chunk extension without end": b"1;" + b"a" * 200_000,
        "trailers without end": b"0\r\n" + b"a: b\r\n" * 100_000,
    }.items():
        answer = ask(target, chunked_head() + chunks)
        tally.expect(answer.status in (0, 400, 408, 413, 431), f"chunks: {name}", answer.status)


def chunked_head() -> bytes:
    return wire.post(b"", READ_HEADERS).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")


def try_bodies(target: Target, tally: Tally) -> None:
    long = "x" * (4 * MIB - 2000)
    capabilities = {"io.modelcontextprotocol/clientCapabilities": {"experimental": {"a": long}}}
    for name, body, statuses in (
        ("a 4 MB id", wire.body_of("resources/read", READ, long), (200, 400, 413)),
        ("4 MB of capabilities", wire.body_of("resources/read", READ | {"_meta": capabilities}), (200, 400)),
        ("a 4 MB method", wire.body_of(long, {}), (400, 404)),
        ("5 MB", b" " * (5 * MIB), (413,)),
        ("deep arrays", b"[" * 100_000, (400,)),
        ("deep objects", b'{"a":' * 100_000, (400,)),
        ("deep parameters", READ_BODY.replace(b'"uri"', b'"x": ' + b"[" * 5000 + b"]" * 5000 + b', "uri"'), (400,)),
        ("broken UTF-8", READ_BODY.replace(b"README", b"\xff\xfe\xc0"), (400,)),
        ("half an emoji", READ_BODY.replace(b"README", rb"\ud83d"), (200, 400)),
        ("a zero", READ_BODY.replace(b"README", rb"\u0000"), (200, 400)),
        ("nothing", b"", (400,)),
        ("no JSON", b"hello", (400,)),
        ("a number", b"7", (400,)),
        ("half a message", READ_BODY[:-7], (400,)),
        ("two messages", READ_BODY + READ_BODY, (400,)),
        ("a huge number", READ_BODY.replace(b'"id": 1', b'"id": ' + b"9" * 100_000), (200, 400)),
        ("a huge exponent", READ_BODY.replace(b'"id": 1', b'"id": 1e999999'), (200, 400)),
        ("an object as id", READ_BODY.replace(b'"id": 1', b'"id": {}'), (400,)),
        ("a member twice", READ_BODY.replace(b'"id": 1', b'"id": 1, "id": 2'), (200, 400)),
        ("a method twice", READ_BODY.replace(b'"id": 1', b'"id": 1, "method": "tools/list"'), (200, 400)),
        ("a batch of a million", b"[" + b"1," * 1_000_000 + b"1]", (400,)),
        ("an empty batch", b"[]", (400,)),
        ("a million members", b"{" + b'"a":1,' * 500_000 + b'"b":1}', (400,)),
        ("a byte order mark", b"\xef\xbb\xbf" + READ_BODY, (200, 400)),
        ("UTF-16", READ_BODY.decode().encode("utf-16"), (400,)),
    ):
        answer = ask(target, wire.post(body, READ_HEADERS))
        tally.expect(answer.status in statuses, f"a body: {name}", answer.status, answer.body[:300])
        tally.expect(answer.code() != -32603, f"a body: {name}, no internal error", answer.body[:300])
    with target.connect() as connection:
        connection.send(chunked_head())
        pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in READ_BODY)
        answer = connection.exchange(pieces + b"0\r\n\r\n")
        tally.expect(answer.status == 200, "a body in one-byte chunks", answer.status)
    with target.connect() as connection:
        connection.send(chunked_head())
        answer = connection.exchange(b"1\r\n \r\n" * 600_000 + b"0\r\n\r\n")
        tally.expect(answer.status in (0, 400, 408, 413), "600,000 one-byte chunks", answer.status)


def try_pipelining(target: Target, tally: Tally) -> None:
    with target.connect() as connection:
        connection.send(wire.stateless("resources/read", READ) * 200)
        statuses = [connection.answer().status for _ in range(200)]
        tally.expect(statuses == [200] * 200, "200 pipelined requests", statuses)
    for _ in range(100):
        with target.connect() as connection:
            connection.send(wire.stateless("resources/read", READ)[:150])
    for _ in range(50):
        with target.connect() as connection:
            connection.send(wire.stateless("resources/read", READ))
            connection.socket.shutdown(socket.SHUT_WR)
            tally.expect(connection.answer().status == 200, "a client that closed its half at once")


def try_slow_clients(target: Target, tally: Tally) -> None:
    """Headers, bodies and readers that take forever: each ends at `arrival`, here two seconds."""
    request = wire.stateless("resources/read", {"uri": "file:///project/large.txt"})
    small = wire.stateless("resources/read", READ)
    before = target.open_files()
    heads = [target.connect() for _ in range(50)]
    bodies = [target.connect() for _ in range(50)]
    readers = [target.connect() for _ in range(10)]
    for connection in readers:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.send(request)
    for connection in bodies:
        connection.send(small[:-20])
    for place in range(24):
        for connection in heads:
            try:
                connection.send(small[place : place + 1])
            except OSError:
                pass
        time.sleep(0.1)
    for connection in heads:
        tally.expect(connection.exchange(b"").status in (0, 408), "a slow head")
    for connection in bodies:
        tally.expect(connection.exchange(b"").status in (0, 408), "a slow body")
    # What the kernel still holds for a reader says nothing, so the server's own descriptors count.
    end = time.monotonic() + 10
    while (left := target.open_files() - before) > 5 and time.monotonic() < end:
        time.sleep(0.1)
    for _ in readers:
        tally.expect(left <= 5, "a slow reader is given up", f"{left} descriptors")
    for connection in heads + bodies + readers:
        connection.close()


def try_on_a_pipe(target: Target, tally: Tally) -> None:
    with StdioTarget(target) as pipe:
        for name, line in {
            "deep arrays": b"[" * 100_000,
            "broken UTF-8": READ_BODY.replace(b"README", b"\xff\xfe"),
            "5 MB": b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 5 * MIB + b'"}',
            "no JSON": b"hello",
            "a 4 MB id": wire.body_of("resources/read", READ, "x" * (4 * MIB - 2000)),
            "a batch of a million": b"[" + b"1," * 1_000_000 + b"1]",
        }.items():
            pipe.send(line)
            message = pipe.receive()
            first = message[0] if isinstance(message, list) else message
            is_clear = "result" in first or first["error"]["code"] in (-32600, -32700)
            tally.expect(is_clear, f"stdio: {name}", json.dumps(first)[:300])
        for line in (b"", b"   ", b"\x00" * 10, b"\r"):
            pipe.send(line)
        pipe.send(wire.body_of("resources/read", READ, "honest"))
        message = {}
        while message.get("id") != "honest":
            message = pipe.receive()
        tally.expect("result" in message, "stdio: an honest request after all", message)
