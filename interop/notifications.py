"""Checks of change notifications: which ones two clients must receive when files change, and must not."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from client_matrix import ClientRun, Outcome, client_runs, differs, run_client
from processes import RefdeskProcess

# How the clients record `notifications/resources/list_changed`; they record an update as its URI.
LIST_CHANGED = "list_changed"
FIRST_FILE, SECOND_FILE = "first.txt", "second.txt"
SETTINGS = """
[mounts.watched]
kind = "fs"
path = "watched"
listing = "flat"
"""


def notification_runs() -> Iterator[ClientRun]:
    # The Inspector's CLI sends one request and exits.
    return (run for run in client_runs() if run.client != "inspector")


def run_notifications(run: ClientRun, program: Path) -> Outcome:
    """Runs the client against its own refdesk; the client changes files and records notifications."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "watched").mkdir()
        for file in (FIRST_FILE, SECOND_FILE):
            (folder / "watched" / file).write_text("version 0\n")
        settings = folder / "refdesk.toml"
        settings.write_text(SETTINGS)
        files = {"first_file": name_and_uri(FIRST_FILE), "second_file": name_and_uri(SECOND_FILE)}
        with RefdeskProcess(program, settings) as refdesk:
            return run_client(run, refdesk, {"watch": {"folder": str(folder / "watched")} | files})


def name_and_uri(name: str) -> dict[str, str]:
    return {"name": name, "uri": file_uri(name)}


def file_uri(name: str) -> str:
    return f"file:///watched/{name}"


def checks(outcome: Outcome) -> Iterator[tuple[str, str | None]]:
    """The checks of one run: name, and the failure if there is one."""
    if "aborted" in outcome:
        yield "runs to the end", outcome["aborted"]
        return
    first, second = file_uri(FIRST_FILE), file_uri(SECOND_FILE)
    # For each phase, the notifications of the first client and those of the second.
    separate, unsubscribed = outcome["separate"], outcome["unsubscribed"]
    yield "is notified once of a change to its resource", differs(separate, [first], lambda both: updates(both[0]))
    yield "is notified once of a new file", differs(separate, [1, 1], list_change_counts)
    yield "is not notified of another client's resource", differs(separate, [second], lambda both: updates(both[1]))
    expected = [[LIST_CHANGED], [first, LIST_CHANGED]]
    yield "is not notified after it has unsubscribed", differs(unsubscribed, expected)


def updates(notifications: list[Any]) -> list[Any]:
    return [notification for notification in notifications if notification != LIST_CHANGED]


def list_change_counts(both: list[list[Any]]) -> list[int]:
    return [notifications.count(LIST_CHANGED) for notifications in both]
