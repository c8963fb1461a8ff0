"""Attacks with paths: ways out of the served folder, by names, encodings, lengths and links."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from attacks.tally import Tally
from attacks.target import StdioTarget, Target, read_text
import attacks.wire as wire

# The names of the files must not be those of secrets: what is masked would hide that it leaked.
SECRET = "outside-secret-5e1f"
SCHEME = "file:///project/"
WAYS_OUT = [
    "../outside/outer.txt",
    "docs/../../outside/outer.txt",
    "..//outside/outer.txt",
    "%2e%2e/outside/outer.txt",
    "%2E%2E%2Foutside%2Fouter.txt",
    "..%2foutside%2fouter.txt",
    "%252e%252e/outside/outer.txt",
    "..%5coutside%5couter.txt",
    "..\\outside\\outer.txt",
    "%c0%ae%c0%ae/outside/outer.txt",
    "%c0%ae%c0%ae%c0%afoutside%c0%afouter.txt",
    "%e0%80%ae%e0%80%ae/outside/outer.txt",
    "..%00/outside/outer.txt",
    "README.md%00/../../outside/outer.txt",
    "README.md%00",
    "./../outside/outer.txt",
    "docs/./../../outside/outer.txt",
    "...//outside/outer.txt",
    "..;/outside/outer.txt",
    "\uff0e\uff0e/outside/outer.txt",
    "link/outer.txt",
    "link",
    "file-link.txt",
    "chain/outer.txt",
    "docs/up/outside/outer.txt",
    "proc/self/environ",
    "loop/loop/loop",
    "/" + "/".join(["a"] * 2000),
    "a" * 9000,
    "a" * 300,
    "pipe",
    "~/.ssh/id_rsa",
    "README.md/../../outside/outer.txt",
    "README.md/",
    "README.md?../../outside/outer.txt",
    "README.md#../../outside/outer.txt",
]
WHOLE_URIS = [
    "file:///etc/passwd",
    "file:///project",
    "file:////etc/passwd",
    "file://localhost/etc/passwd",
    "file:/etc/passwd",
    "file:///project/../etc/passwd",
    "file:///other/x",
    "FILE:///PROJECT/../outside/outer.txt",
    "refdesk://mounts/../../etc/passwd",
    "refdesk://mounts/%2e%2e",
    "",
    ":",
    "\x00",
    "file:",
    "http://127.0.0.1:22/",
    "x" * 1_000_000,
]


def run(program: Path, folder: Path) -> Iterator[Tally]:
    tally = Tally("paths")
    outside = folder / "outside"
    outside.mkdir()
    (outside / "outer.txt").write_text(SECRET)
    with Target(program, folder, tally) as target:
        project = folder / "project"
        for name, destination in {
            "link": "../outside",
            "file-link.txt": "../outside/outer.txt",
            "chain": "link",
            "docs/up": "../..",
            "proc": "/proc",
            "loop": "loop",
        }.items():
            (project / name).symlink_to(destination)
        os.mkfifo(project / "pipe")
        with target.honest("paths"):
            try_paths(target, tally)
        with target.honest("link races"):
            try_link_races(target, tally, project, outside)
        try_on_a_pipe(target, tally)
    yield tally


def try_paths(target: Target, tally: Tally) -> None:
    for uri in [SCHEME + way for way in WAYS_OUT] + WHOLE_URIS:
        shown = uri[:80]
        for method in ("resources/read", "resources/metadata", "resources/list"):
            message = target.call(method, uri=uri)
            text = str(message)
            tally.expect(SECRET not in text and "root:" not in text, f"{method} {shown}", text)
            if method == "resources/read":
                tally.expect(not is_internal(message), f"{method} {shown} is refused clearly", text)
        for tool in ("resources_read", "resources_grep", "resources_list"):
            arguments = {"uri": uri} if tool == "resources_read" else {"collection": uri}
            arguments |= {"pattern": SECRET} if tool == "resources_grep" else {}
            # The answer may repeat the pattern, so the content counts only with its URI's line.
            text = str(target.tool(tool, **arguments)).replace(f"'{SECRET}'", "")
            tally.expect(SECRET not in text and "root:x" not in text, f"{tool} {shown}", text)
    for value in ("../", "..%2f", "/etc/", "link/", "docs/up/", "\x00", "a" * 9000):
        reference = {"type": "ref/resource", "uri": "file:///project/{+path}"}
        message = target.call("completion/complete", ref=reference, argument={"name": "path", "value": value})
        text = str(message)
        tally.expect("outer.txt" not in text and "passwd" not in text, f"completion of {value[:40]!r}", text)


def is_internal(message: dict) -> bool:
    return message.get("error", {}).get("code") == -32603


def try_link_races(target: Target, tally: Tally, project: Path, outside: Path) -> None:
    """A folder becomes a link to the outside and back, while clients read through it."""
    racing, stop = project / "race", threading.Event()
    inside = project / "inside"
    inside.mkdir()
    (inside / "outer.txt").write_text("inside")

    def swap() -> None:
        made = project / "race.new"
        while not stop.is_set():
            for destination in ("inside", "../outside"):
                made.symlink_to(destination)
                made.rename(racing)

    swapper = threading.Thread(target=swap, daemon=True)
    swapper.start()
    uri = SCHEME + quote("race/outer.txt")
    try:
        with target.connect() as connection:
            for _ in range(300):
                message = connection.exchange(wire.stateless("resources/read", {"uri": uri})).message()
                tally.expect(SECRET not in str(message) and read_text(message) in (None, "inside"), "a link race", message)
    finally:
        stop.set()
        swapper.join(10)
        racing.unlink(missing_ok=True)


def try_on_a_pipe(target: Target, tally: Tally) -> None:
    with StdioTarget(target) as pipe:
        for way in WAYS_OUT:
            pipe.send(wire.body_of("resources/read", {"uri": SCHEME + way}))
            message = pipe.receive()
            tally.expect(SECRET not in str(message) and not is_internal(message), f"stdio {way[:60]}", message)
