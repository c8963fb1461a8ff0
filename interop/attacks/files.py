"""Attacks on refdesk's own files: settings that become garbage, a pipe or nothing, and a key that is a pipe."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from attacks.tally import Tally
from attacks.target import Target

# The settings are read again within a second.
RELOAD = 1.3


def run(program: Path, folder: Path) -> Iterator[Tally]:
    tally = Tally("settings and key files")
    (folder / "edited").mkdir()
    (folder / "key/state/refdesk").mkdir(parents=True)
    with Target(program, folder / "edited", tally) as target:
        good = target.settings.read_text()
        with target.honest("edits of the settings"):
            for name, spoil in EDITS.items():
                spoil(target.settings)
                time.sleep(RELOAD)
                tally.attempt(f"settings: {name}", target.is_answering)
                target.settings.unlink(missing_ok=True)
                target.settings.write_text(good)
            (target.folder / "project2").mkdir()
            (target.folder / "project2/new.txt").write_text("new")
            target.settings.write_text(good + '\n[mounts.second]\nkind = "fs"\npath = "project2"\n')
            tally.expect(appears(target, "file:///second/new.txt"), "good settings are taken up after all")
    os.mkfifo(folder / "key/state/refdesk/cursor.key")
    with Target(program, folder / "key", tally) as target:
        tally.attempt("a key file that is a pipe", target.is_answering)
    yield tally


def appears(target: Target, uri: str) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if "result" in target.call("resources/read", uri=uri):
            return True
        time.sleep(0.1)
    return False


def replace_by_pipe(settings: Path) -> None:
    settings.unlink()
    os.mkfifo(settings)


def replace_by_folder(settings: Path) -> None:
    pipe = settings.with_name("kept")
    settings.rename(pipe)
    settings.symlink_to(settings.parent)


def replace_by_loop(settings: Path) -> None:
    settings.unlink()
    settings.symlink_to(settings)


def replace_by_device(settings: Path) -> None:
    settings.unlink()
    settings.symlink_to("/dev/zero")


EDITS: dict[str, Callable[[Path], object]] = {
    "garbage": lambda settings: settings.write_bytes(os.urandom(5000)),
    "half a table": lambda settings: settings.write_text('[mounts.project]\nkind = "f'),
    "unknown keys": lambda settings: settings.write_text("[server]\nlisitng = 1\n"),
    "deep nesting": lambda settings: settings.write_text("a = " + "[" * 100_000),
    "17 MB": lambda settings: settings.write_text("#" * (17 << 20)),
    "a missing folder": lambda settings: settings.write_text('[mounts.project]\nkind = "fs"\npath = "gone"\n'),
    "a hostile glob": lambda settings: settings.write_text(
        '[mounts.project]\nkind = "fs"\npath = "project"\nrules = [{ glob = "%s" }]\n' % ("{a," * 500 + "}" * 500)
    ),
    "removed": lambda settings: settings.unlink(),
    "a pipe": replace_by_pipe,
    "a folder": replace_by_folder,
    "a link to itself": replace_by_loop,
    "a device without end": replace_by_device,
}
