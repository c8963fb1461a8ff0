"""What must two clients hear when files change, and what must they not?"""

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
    # The inspector's CLI asks once and leaves.
    return (visit for visit in visitors() if visit.who != "inspector")


def listen(visit: Visit, program: Path) -> Outcome:
    """Sends the visitor to a desk of its own, where it changes files and listens."""
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
    """What each check is called, and what speaks against it, if anything does."""
    if "broke off" in outcome:
        yield "listens to the end", outcome["broke off"]
        return
    apart, ended = outcome["apart"], outcome["ended"]
    yield "hears once of a change of its resource", differs(apart, [uri(ONE)], lambda heard: updates(heard[0]))
    yield "hears once of a new file", differs(apart, [1, 1], lambda heard: [of.count(LISTS) for of in heard])
    yield "hears nothing of another's resource", differs(apart, [uri(OTHER)], lambda heard: updates(heard[1]))
    silence = [[LISTS], [uri(ONE), LISTS]]
    yield "hears nothing more once it has unsubscribed", differs(ended, silence)


def updates(heard: list[Any]) -> list[Any]:
    return [notice for notice in heard if notice != LISTS]
