"""Attacks with patterns: globs, regular expressions and ignore files that are costly to compile or to match."""

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attacks.wire as wire
from attacks.tally import Tally
from attacks.target import StdioTarget, Target

# A call may take its 10 seconds, and some more on a busy machine.
CALL_LIMIT = 25.0
GLOBS = {
    "nested braces": "{a," * 30 + "b" + "}" * 30,
    "too many braces": "{a," * 300 + "b" + "}" * 300,
    "a product of braces": "{a,b,c,d,e,f,g,h}" * 30,
    "many stars": "**/" * 300 + "x",
    "stars and letters": "*a" * 400,
    "open classes": "[" * 500,
    "a huge glob": "x" * 1_000_000,
    "a huge class": "[" + "a-z" * 100_000 + "]",
    "backslashes": "\\" * 999,
    "not closed": "{a,b",
}
REGEXES = {
    "nested repetition": "((((a{50}){50}){50}){50})",
    "a counted repetition": "(a{1000}){1000}",
    "Unicode classes": r"(\p{L}{100}){100}",
    "a huge alternation": "|".join(f"w{number}" for number in range(20_000)),
    "a huge pattern": "a" * 1_000_000,
    "deep nesting": "(" * 2_000 + "a" + ")" * 2_000,
    "not closed": "(" * 100,
    "a back-reference": r"(a)\1",
}
# These compile within the limits, and cost most per byte of text.
SLOW_REGEXES = ["(a|aa|aaa)*b$", "(x+x+)+y", r"(.*)(.*)(.*)(.*)(.*)z{20}$", r"[a-q]{1,90}[^u-z]{30}Q", r"(\w{1,60}\s?){1,8}#"]


def run(program: Path, folder: Path) -> Iterator[Tally]:
    tally = Tally("patterns")
    target = Target(program, folder, tally)
    for number in range(24):
        (folder / f"project/docs/long-{number}.txt").write_text("xa" * 1_000_000 + "\n" + "a" * 1_000_000)
    ignored = "\n".join("{a," * 2_000 + "b" for _ in range(200)) + "\n" + "[" * 100_000 + "\n" + "**/" * 50_000 + "x\n"
    (folder / "project/deep").mkdir()
    (folder / "project/deep/.gitignore").write_text(ignored + "hidden.txt\n" * 200_000)
    (folder / "project/deep/seen.txt").write_text("seen\n")
    with target:
        with target.honest("globs"):
            try_globs(target, tally)
        with target.honest("regular expressions"):
            try_regexes(target, tally)
        with target.honest("many slow searches"):
            try_slow_searches(target, tally)
        try_cancelling(target, tally)
        try_on_a_pipe(target, tally)
        tally.peak_mb = target.peak_mb()
        tally.expect(tally.peak_mb <= target.memory_limit_mb, "memory stays under its limit", tally.peak_mb)
        busy = [search(target, pattern) for pattern in SLOW_REGEXES]
        target.process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        code = target.process.wait(30)
        tally.expect(code == 0, "SIGTERM during searches", code)
        tally.expect(time.monotonic() - started < 15, "SIGTERM during searches is quick", time.monotonic() - started)
        for connection in busy:
            connection.close()
        # The context must not count a process that was told to stop as dead.
        target.tally = Tally("stopped")
    tally.expect("panicked" not in target.log.read_text(errors="replace"), "no panic", target.last_log())
    yield tally


def is_refused(message: dict[str, Any]) -> bool:
    """Whether a call failed with an explanation, and not because of an internal error."""
    if "error" in message:
        return message["error"]["code"] == -32602 and bool(message["error"]["message"])
    result = message["result"]
    kind = result.get("_meta", {}).get("dev.refdesk/error", {}).get("kind")
    return bool(result.get("isError")) and kind not in ("internal", "unavailable")


def try_globs(target: Target, tally: Tally) -> None:
    for name, glob in GLOBS.items():
        for tool, more in (("resources_list", {}), ("resources_grep", {"pattern": "x", "max_matches": 1})):
            started = time.monotonic()
            message = target.tool(tool, uri=glob, **more)
            is_fine = is_refused(message) or not message["result"].get("isError")
            tally.expect(is_fine and time.monotonic() - started < CALL_LIMIT, f"{tool}, {name}", message)
    for name in ("too many braces", "a huge glob", "a huge class", "not closed"):
        tally.expect(is_refused(target.tool("resources_list", uri=GLOBS[name])), f"{name} is refused")
    for way in ({}, {"uri": "file:///project/docs/"}):
        listed = target.call("resources/list", **way)
        tally.expect("file:///project/docs/" in str(listed.get("result")), "a hostile ignore file beside a list", listed)
    listed = target.call("resources/list", uri="file:///project/deep/")
    tally.expect("error" in listed and "hidden" not in str(listed), "the folder of a hostile ignore file", listed)


def try_regexes(target: Target, tally: Tally) -> None:
    for name, pattern in REGEXES.items():
        started = time.monotonic()
        message = target.tool("resources_grep", pattern=pattern)
        tally.expect(is_refused(message) and time.monotonic() - started < 10, f"grep, {name}", message)
    for arguments in (
        {"pattern": 7},
        {"pattern": "a", "context": -(10**12)},
        {"pattern": "a", "max_matches": -1},
        {"pattern": "a", "cursor": "x" * 100_000},
        {"pattern": ["a"] * 10_000},
        {},
    ):
        tally.expect(is_refused(target.tool("resources_grep", **arguments)), f"grep {str(arguments)[:60]}")


def try_slow_searches(target: Target, tally: Tally) -> None:
    """Many searches at once: each ends at its limit of time, with a result or a refusal."""
    patterns = SLOW_REGEXES * 4

    def one(pattern: str) -> tuple[float, dict[str, Any]]:
        started = time.monotonic()
        message = target.tool("resources_grep", pattern=pattern, ignore_case=True)
        return time.monotonic() - started, message

    with ThreadPoolExecutor(len(patterns)) as pool:
        for pattern, (seconds, message) in zip(patterns, pool.map(one, patterns)):
            tally.expect("result" in message or is_refused(message), f"slow search {pattern}", message)
            tally.expect(seconds < CALL_LIMIT, f"slow search {pattern} ends", seconds)


def search(target: Target, pattern: str) -> wire.Connection:
    """Starts a search and does not wait for it."""
    connection = target.connect()
    arguments = {"pattern": pattern, "ignore_case": True}
    connection.send(wire.stateless("tools/call", {"name": "resources_grep", "arguments": arguments}))
    return connection


def try_cancelling(target: Target, tally: Tally) -> None:
    """Clients that leave in the middle of a search leave no work behind."""
    for _ in range(20):
        for pattern in SLOW_REGEXES:
            search(target, pattern).close()
    tally.expect(settles(target.process.pid), "abandoned searches end")
    tally.attempt("answers after abandoned searches", target.is_answering)


def settles(pid: int) -> bool:
    """Whether the process needs less than a tenth of a core again within a minute: a busy machine gives it a part of its time."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        before = cpu_ticks(pid)
        time.sleep(0.5)
        if cpu_ticks(pid) - before <= 5:
            return True
    return False


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def try_on_a_pipe(target: Target, tally: Tally) -> None:
    """Over stdio: searches that are cancelled, with an honest request behind them."""
    with StdioTarget(target) as pipe:
        for number, pattern in enumerate(SLOW_REGEXES * 3):
            params = {"name": "resources_grep", "arguments": {"pattern": pattern, "ignore_case": True}}
            pipe.send(wire.body_of("tools/call", params, number))
        for number in range(len(SLOW_REGEXES) * 3):
            pipe.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}' % number)
        pipe.send(wire.body_of("resources/read", {"uri": "file:///project/README.md"}, "honest"))
        answers = []
        while not answers or answers[-1].get("id") != "honest":
            answers.append(pipe.receive())
        tally.expect("result" in answers[-1], "an honest request behind cancelled searches", answers[-1])
