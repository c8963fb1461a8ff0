"""A refdesk that indexes folders: starts it with a cache folder of its own, waits for its index, and searches it."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from http_client import HttpClient
from processes import ServerProcess

# How long to wait for an index, and for a change to be in it.
INDEX_SECONDS, CHANGE_SECONDS = 300.0, 20.0
POLL_SECONDS = 0.05
# How much of its output a failure shows.
PRINTED = 1_500

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]
Found = TypeVar("Found")


class ToolFailure(Exception):
    """A tool answered that it failed."""


class SearchDesk(ServerProcess):
    """A refdesk over HTTP whose index stands below `folder/cache/refdesk/index`."""

    # The message about a broken index may come long before the last line.
    KEPT_LINES = 4_000

    def __init__(self, program: Path, folder: Path, prefix: list[str] | None = None) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.cache.mkdir(parents=True, exist_ok=True)
        command = [str(program), "serve", "--settings", str(folder / "refdesk.toml"), "--listen", "127.0.0.1:0"]
        super().__init__([*(prefix or []), *command], {"XDG_CACHE_HOME": str(self.cache)})

    def __enter__(self) -> "SearchDesk":
        super().__enter__()
        self.client = HttpClient(self.url)
        return self

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.client.request("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise ToolFailure(json.dumps(result.get("content"), ensure_ascii=False)[:500])
        return result

    def search(self, query: str, **arguments: Any) -> list[str]:
        """The URIs of the hits, best first."""
        found = self.call("resources_search", query=query, **arguments)["structuredContent"]
        return [found.get("base", "") + hit["uri"] for hit in found["hits"]]

    def coverage(self, mount: str) -> dict[str, Any]:
        """What the index covers of a mount."""
        read = self.client.request("resources/read", uri=f"refdesk://mounts/{mount}")
        return json.loads(read["contents"][0]["text"]).get("index") or {}

    def is_complete(self, mount: str) -> bool:
        return self.coverage(mount).get("complete") is True

    def wait_for_index(self, *mounts: str, seconds: float = INDEX_SECONDS) -> float:
        """Waits until everything is indexed; returns how long it took."""
        begin = time.monotonic()
        for mount in mounts:
            until(lambda: self.is_complete(mount), f"the index of {mount} is complete", seconds, self)
        return time.monotonic() - begin

    def index_files(self) -> list[Path]:
        return sorted(path for path in (self.cache / "refdesk/index").rglob("*") if path.is_file())

    def output(self) -> str:
        return "".join(self.last_output)


def until(
    condition: Callable[[], Found], what: str, seconds: float = CHANGE_SECONDS, desk: SearchDesk | None = None
) -> Found:
    """Polls until a condition holds, and returns its value. What does not come in time fails with `what`, and with what
    `desk` has printed."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            printed = f"\n{desk.output()[-PRINTED:]}" if desk else ""
            raise TimeoutError(f"not within {seconds:g} s: {what}{printed}")
        time.sleep(POLL_SECONDS)
    return value


def mount(name: str, kind: str, path: Path) -> str:
    """The settings of a mount; a path is quoted in TOML as it is in JSON."""
    return f"[mounts.{name}]\nkind = \"{kind}\"\npath = {json.dumps(str(path), ensure_ascii=False)}\n"


def report(checks: list[CheckResult] | Any, as_json: bool) -> int:
    """Prints checks as they come, as lines of JSON or for people; returns the exit code for people."""
    failed = 0
    for check, failure in checks:
        failed += failure is not None
        if as_json:
            print(json.dumps([check, failure], ensure_ascii=False), flush=True)
        else:
            print(f"{'FAILED' if failure else 'ok    '} {check}", flush=True)
            if failure:
                print("       " + failure.replace("\n", "\n       "), flush=True)
    # A reader of JSON counts failures itself: an exit code tells it that the run came to its end.
    return 0 if as_json else int(failed > 0)
