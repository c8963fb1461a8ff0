"""Checks of change notifications: which ones two clients must receive when files change, and must not."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from desk import Desk
from meetings import Outcome, Visit, differs, send
from meetings import everybody as visitors

LISTS = "lists"
ONE, OTHER = "one.txt", "other.txt"
SETTINGS = """
[mounts.watched]
kind = "fs"
path = "watched"
listing = "flat"
"""


def everybody() -> Iterator[Visit]:
    # The Inspector's CLI sends one request and exits.
    return (visit for visit in visitors() if visit.who != "inspector")


def listen(visit: Visit, program: Path) -> Outcome:
    """Runs the client against its own refdesk; the client changes files and records notifications."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "watched").mkdir()
        for file in (ONE, OTHER):
            (folder / "watched" / file).write_text("version 0\n")
        settings = folder / "refdesk.toml"
        settings.write_text(SETTINGS)
        watch = {"folder": str(folder / "watched"), "one": named(ONE), "other": named(OTHER)}
        with Desk(program, settings) as desk:
            return send(visit, desk, {"watch": watch})


def named(name: str) -> dict[str, str]:
    return {"name": name, "uri": uri(name)}


def uri(name: str) -> str:
    return f"file:///watched/{name}"


def findings(outcome: Outcome) -> Iterator[tuple[str, str | None]]:
    """The checks of one run: name, and the failure if there is one."""
    if "broke off" in outcome:
        yield "runs to the end", outcome["broke off"]
        return
    apart, ended = outcome["apart"], outcome["ended"]
    yield "is notified once of a change to its resource", differs(apart, [uri(ONE)], lambda heard: updates(heard[0]))
    yield "is notified once of a new file", differs(apart, [1, 1], lambda heard: [of.count(LISTS) for of in heard])
    yield "is not notified of another client's resource", differs(apart, [uri(OTHER)], lambda heard: updates(heard[1]))
    silence = [[LISTS], [uri(ONE), LISTS]]
    yield "is not notified after it has unsubscribed", differs(ended, silence)


def updates(heard: list[Any]) -> list[Any]:
    return [notice for notice in heard if notice != LISTS]
