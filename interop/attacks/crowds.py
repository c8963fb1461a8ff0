"""Attacks by number: connections, sessions, streams and subscriptions, more than there are places for."""

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attacks.wire as wire
from attacks.tally import Tally
from attacks.target import Target

SETTINGS = """[server]
max_connections = 200
max_sessions = 100
max_all_streams = 20
max_all_subscriptions = 1000
arrival = "5 s"
"""
# The address of the crowd; the honest client has another, because places are shared between addresses.
CROWD = ("127.0.0.66", 0)
LONG_URI = "file:///project/" + "n" * 7900


def run(program: Path, folder: Path) -> Iterator[Tally]:
    tally = Tally("crowds")
    (folder / "many").mkdir()
    (folder / "few").mkdir()
    with Target(program, folder / "many", tally, SETTINGS) as target:
        with target.honest("silent connections"):
            try_connections(target, tally, 600)
        with target.honest("sessions"):
            try_sessions(target, tally)
        with target.honest("listening requests with long URIs"):
            try_listeners(target, tally)
        with target.honest("watches with long URIs"):
            try_watches(target, tally)
        try_burst(target, tally)
    with Target(program, folder / "few", tally, files=64) as target:
        with target.honest("connections with 64 file descriptors"):
            try_connections(target, tally, 200)
    yield tally


def try_connections(target: Target, tally: Tally, count: int) -> None:
    """Silent connections, and ones with half a request."""
    half = wire.stateless("resources/read", {"uri": "file:///project/README.md"})[:200]
    opened: list[socket.socket] = []
    for number in range(count):
        connection = socket.create_connection(target.address, 10, CROWD)
        opened.append(connection)
        try:
            connection.sendall(half if number % 2 else b"")
        except OSError:
            pass
        if number % 50 == 49:
            tally.attempt(f"answers beside {number + 1} silent connections", target.is_answering)
    for connection in opened:
        connection.close()
    tally.attempt("answers after silent connections", target.is_answering)


def try_sessions(target: Target, tally: Tally) -> None:
    statuses = []
    with target.connect() as connection:
        for _ in range(400):
            statuses.append(connection.exchange(wire.initialize()).status)
    tally.expect(set(statuses) <= {200, 503}, "400 sessions of one client", set(statuses))
    tally.expect(statuses[:50] == [200] * 50, "sessions while there is room", statuses[:50])

    def one(number: int) -> int:
        with target.connect() as connection:
            session = connection.exchange(wire.initialize()).headers.get("mcp-session-id")
            params = {"uri": f"{LONG_URI}{number}"}
            return connection.exchange(wire.in_session("resources/subscribe", params, session)).status

    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(one, range(200)))
    tally.expect(all(status in (200, 400, 404) for status in statuses), "sessions that subscribe", set(statuses))


def try_listeners(target: Target, tally: Tally) -> None:
    """More listening requests than places; each subscribes to long URIs."""
    opened: list[wire.Connection] = []
    statuses = []
    for number in range(50):
        connection = target.connect(10)
        uris = [f"{LONG_URI}{number}{place}"[:8000] for place in range(40)]
        notifications = {"resourceSubscriptions": uris, "resourcesListChanged": True}
        connection.send(wire.stateless("subscriptions/listen", {"notifications": notifications}))
        statuses.append(connection.answer_head()[0])
        opened.append(connection)
    tally.expect(set(statuses) <= {200, 503, 0} and 200 in statuses, "50 listening requests", set(statuses))
    tally.attempt("answers beside listening requests", target.is_answering)
    for connection in opened:
        connection.close()
    tally.attempt("answers after listening requests", target.is_answering)


def try_burst(target: Target, tally: Tally) -> None:
    """Many large bodies at once, without their last byte: the memory that they take goes back."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"' + b"x" * 2_000_000 + b'"}}'
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    before = target.resident_mb()
    with ThreadPoolExecutor(20) as pool:
        opened = list(pool.map(lambda _: half_sent(target, head + body[:-1]), range(80)))
    tally.expect(within(20, lambda: target.resident_mb() >= before + 80), "a burst takes memory", target.resident_mb())
    for connection in opened:
        connection.close()
    is_back = within(60, lambda: target.resident_mb() <= before + 40)
    tally.expect(is_back, "the memory of a burst goes back", f"{before} MB, then {target.resident_mb()} MB")
    tally.attempt("answers after a burst", target.is_answering)


def half_sent(target: Target, request: bytes) -> socket.socket:
    connection = socket.create_connection(target.address, 30, CROWD)
    connection.sendall(request)
    return connection


def within(seconds: float, happened: Callable[[], bool]) -> bool:
    """Waits until something has happened."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def try_watches(target: Target, tally: Tally) -> None:
    """Watch handles, each with many long URIs."""
    kinds = set()
    for number in range(20):
        message = target.tool("resources_watch", uris=[f"{LONG_URI}{number}-{place}"[-8000:] for place in range(100)])
        kinds.add("result" if "result" in message else message["error"]["code"])
    tally.expect(kinds <= {"result", -32602}, "20 watches of 100 long URIs", kinds)
    for number in range(300):
        message = target.tool("resources_watch", uris=["file:///project/README.md"])
        if number % 50 == 0:
            tally.expect("result" in message, "300 watch handles", message)
