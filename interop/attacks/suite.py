"""The families of attacks, and their order."""

import importlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from attacks.tally import Tally

FAMILIES = ["patterns", "paths", "identity", "http_shapes", "crowds", "upstreams", "files", "mutations"]


def families(program: Path, names: list[str] | None = None) -> Iterator[Tally]:
    """Runs the families one after another, each against its own refdesk."""
    for name in names or FAMILIES:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            yield from importlib.import_module(f"attacks.{name}").run(program, Path(folder))


def checks(program: Path) -> Iterator[tuple[str, str | None]]:
    """One check per family, and one for all of them with the sums."""
    tallies = []
    for tally in families(program):
        tallies.append(tally)
        yield str(tally), "\n".join(tally.failures[:20]) or None
    yield closing_line(tallies), None


def closing_line(tallies: list[Tally]) -> str:
    tried, held = sum(tally.tried for tally in tallies), sum(tally.held for tally in tallies)
    return f"attacks: {tried} tried, {held} held, peak memory {max(tally.peak_mb for tally in tallies)} MB"


def main(program: Path, names: list[str]) -> int:
    tallies = []
    started = time.monotonic()
    for tally in families(program, names):
        tallies.append(tally)
        print(f"{tally} ({time.monotonic() - started:.0f} s)", flush=True)
        for failure in tally.failures[:40]:
            print(f"    not held: {failure}", flush=True)
        started = time.monotonic()
    print(closing_line(tallies))
    return 1 if any(tally.failures for tally in tallies) else 0
