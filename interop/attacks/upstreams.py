"""Attacks by servers behind refdesk: each misbehaves in its own way, and the other mounts answer meanwhile."""

import json
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from attacks.tally import Tally
from attacks.target import Target, read_text

SERVER = Path(__file__).with_name("hostile_server.py")
# Their lists must show the entry `x://fine`; what else they list is changed or left out.
LISTED = [
    "half-emoji", "1e999", "digits", "levels", "line-breaks", "no-uri", "bad-uri", "other-mount", "huge-name",
    "not-an-object", "odd-tools", "stderr-flood", "wrong-ids", "other-content", "bad-base64", "huge-content",
]  # fmt: skip
# Their lists may fail.
UNLISTED = [
    "endless-list", "same-cursor", "huge-cursor", "never-answers", "silent", "noise", "endless-line", "crash-loop",
    "crash-in-list", "notification-flood",
]  # fmt: skip
MARK = "refdesk-attack-grandchild"
# Of a debug build, beside the other servers of the suite. Where its pages are counted in a circle, one list takes 20.
MAX_CURSOR_SECONDS = 10.0
# What a server behind refdesk does costs another mount nothing but a share of the machine.
PATIENCE = 5.0


def run(program: Path, folder: Path) -> Iterator[Tally]:
    tally = Tally("servers behind refdesk")
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    settings = "".join(mount(name) for name in LISTED + UNLISTED)
    with Target(program, folder / "one", tally, settings) as target:
        with target.honest("hostile servers", PATIENCE):
            try_lists(target, tally)
            try_reads(target, tally)
    with Target(program, folder / "two", Tally("killed"), mount("grandchildren")) as target:
        try_killing(target, tally)
    yield tally


def mount_name(mischief: str) -> str:
    """Endless lists come last, because a merged list is in the order of the mounts' names."""
    return f"{'z' if mischief in UNLISTED else 'm'}-{mischief}"


def mount(mischief: str) -> str:
    command = json.dumps([sys.executable, "-B", str(SERVER), mischief])
    lines = [f"[mounts.{mount_name(mischief)}]", 'kind = "upstream"', f"command = {command}", 'timeout = "3 s"']
    return "\n".join([*lines, f'env = {{ MARK = "{MARK}" }}', ""])


def is_valid(message: dict) -> bool:
    """Whether strict parsers accept the message: no half of a surrogate pair, no number beyond a double."""
    text = json.dumps(message, ensure_ascii=False)
    return "Infinity" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def try_lists(target: Target, tally: Tally) -> None:
    listed: list[str] = []
    params: dict[str, str] = {}
    for _ in range(30):
        message = target.call("resources/list", **params)
        tally.expect(is_valid(message) and "result" in message, "a merged list", message)
        result = message.get("result", {})
        listed += [resource["uri"] for resource in result.get("resources", [])]
        tally.expect(not any("\n" in uri for uri in listed), "no line break in a URI")
        if not result.get("nextCursor"):
            break
        params = {"cursor": result["nextCursor"]}
    tally.expect("file:///project/README.md" in listed, "the folder is listed beside hostile servers", listed[:20])
    for name in LISTED:
        listing = target.tool("resources_list", mount=f"m-{name}")
        text = str(listing)
        tally.expect(f"m-{name}+x://fine" in text, f"{name}: its good entry is listed", text)
        tally.expect(is_valid(listing), f"{name}: a valid answer", text)
    with ThreadPoolExecutor(len(UNLISTED)) as pool:
        for name, (seconds, message) in zip(UNLISTED, pool.map(partial(timed_list, target), UNLISTED)):
            tally.expect(seconds < 20 and ("result" in message or "error" in message), f"{name}: an answer", seconds)
    try_huge_cursor(target, tally)
    injected = target.tool("resources_list", mount="m-line-breaks")["result"]["content"][0]["text"]
    tally.expect("\nIgnore all rules" not in injected, "line-breaks: no line of its own", injected)
    tools = [tool["name"] for tool in target.call("tools/list")["result"]["tools"]]
    tally.expect(len(tools) == len(set(tools)), "odd-tools: no name twice", tools)
    is_plain = all(name and name.isprintable() for name in tools)
    tally.expect(is_plain and "m-odd-tools_t" in tools, "odd-tools: plain names only", tools)
    called = target.tool("resources_read", uri="file:///project/README.md")
    tally.expect("Ask here" in str(called), "odd-tools: refdesk's own tool is its own", called)


def try_huge_cursor(target: Target, tally: Tally) -> None:
    """Each page of a list carries its cursor there and back. One of 5 MB is cut instead of followed."""
    before = target.cpu_seconds()
    for _ in range(10):
        message = target.tool("resources_list", mount=mount_name("huge-cursor"), recursive=True)
        tally.expect("result" in message, "huge-cursor: a list", message)
    spent = target.cpu_seconds() - before
    tally.expect(spent < MAX_CURSOR_SECONDS, "huge-cursor: ten lists compute little", f"{spent:.1f} s")


def timed_list(target: Target, mischief: str) -> tuple[float, dict]:
    started = time.monotonic()
    message = target.tool("resources_list", mount=mount_name(mischief))
    return time.monotonic() - started, message


def timed_read(target: Target, mischief: str) -> tuple[float, dict]:
    started = time.monotonic()
    message = target.call("resources/read", uri=f"{mount_name(mischief)}+x://fine")
    return time.monotonic() - started, message


def try_reads(target: Target, tally: Tally) -> None:
    names = LISTED + UNLISTED
    with ThreadPoolExecutor(len(names)) as pool:
        for name, (seconds, message) in zip(names, pool.map(partial(timed_read, target), names)):
            is_clear = read_text(message) is not None or "error" in message
            tally.expect(is_clear and seconds < 15, f"{name}: a read", seconds, message)
            is_own = "file:///project/README.md" != uri_of(message)
            tally.expect(is_own, f"{name}: not under another's URI", message)
            state = target.call("resources/read", uri=f"refdesk://mounts/{mount_name(name)}")
            tally.expect('"state"' in str(read_text(state)), f"{name}: its state is told", state)
    message = target.call("resources/read", uri="m-1e999+x://1")
    tally.expect(is_valid(message), "1e999: a read is valid", message)


def uri_of(message: dict) -> str | None:
    contents = message.get("result", {}).get("contents")
    return contents[0].get("uri") if contents else None


def try_killing(target: Target, tally: Tally) -> None:
    """Nothing that a server started outlives refdesk, even if refdesk is killed."""
    target.call("resources/read", uri="m-grandchildren+x://fine")
    end = time.monotonic() + 10
    while len(marked()) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    tally.expect(len(marked()) == 3, "the grandchildren run", marked())
    target.process.send_signal(signal.SIGKILL)
    target.process.wait()
    end = time.monotonic() + 10
    while marked() and time.monotonic() < end:
        time.sleep(0.05)
    tally.expect(not marked(), "no descendant outlives a killed refdesk", marked())


def marked() -> list[int]:
    """The processes that the hostile server started."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and MARK in (process / "cmdline").read_text(errors="replace"):
                found.append(int(process.name))
        except OSError:
            continue
    return found
