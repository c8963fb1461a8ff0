"""What does the official conformance suite say, and which of its complaints do we already know?"""

import json
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from desk import BUILD, HERE, NODE

PATIENCE = 300
PROGRAM = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
EXTENSIONS = "extensions"

# 0.1 speaks one revision whatever it is asked; 0.2 speaks each, and extensions stand beside the calendar.
RUNS = {
    "0.1": [LATEST := "2025-11-25"],
    "0.2": ["2025-03-26", "2025-06-18", LATEST, "2026-07-28", EXTENSIONS],
}


@dataclass(frozen=True, order=True)
class Check:
    """One check of one scenario, as one version of the suite runs it in one revision."""

    suite: str
    revision: str
    scenario: str
    name: str

    def __str__(self) -> str:
        return f"{self.scenario}:{self.name}"


def findings(url: str) -> Iterator[tuple[str, str | None]]:
    """One finding per scenario, then one per expected failure that no longer fails."""
    expected = expected_failures()
    unseen = set(expected)
    for suite, revisions in RUNS.items():
        for revision in revisions:
            for scenario, complaints in run(suite, revision, url):
                checks = {Check(suite, revision, scenario, name): why for name, why in complaints.items()}
                known = checks.keys() & expected
                unseen -= known
                news = [f"{check}: {why}" for check, why in sorted(checks.items()) if check not in known]
                note = f" ({len(known)} expected failures)" if known else ""
                yield f"conformance-{suite} {revision}: {scenario}{note}", "\n".join(news) or None
    for check in sorted(unseen):
        where = f"conformance-{check.suite} {check.revision}"
        yield f"{where}: {check} fails as expected", "it does not: remove it from expected-failures.toml"


def expected_failures() -> set[Check]:
    known = set()
    for group in tomllib.loads((HERE / "expected-failures.toml").read_text())["failures"]:
        for where in group["where"]:
            suite, revision = where.split()
            for entry in group["checks"]:
                scenario, _, name = entry.partition(":")
                known.add(Check(suite, revision, scenario, name or scenario))
    return known


def run(suite: str, revision: str, url: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Every scenario of one run, with the checks that did not pass and why."""
    if revision == EXTENSIONS:
        choices = [["--scenario", scenario] for scenario in extension_scenarios(suite)]
    elif suite == "0.1":
        choices = [["--suite", "all"]]
    else:
        choices = [["--suite", "all", "--spec-version", revision]]
    with tempfile.TemporaryDirectory() as results:
        said = [call(suite, "server", "--url", url, "--output-dir", results, *choice) for choice in choices]
        folders = sorted(Path(results).iterdir())
        if not folders:
            yield "no scenario ran", {"suite": said[-1][-500:]}
        for folder in folders:
            yield scenario_of(folder), complaints_in(folder)


def extension_scenarios(suite: str) -> list[str]:
    return re.findall(r"^\s*- (\S+) \[extension\]$", call(suite, "list", "--server"), re.MULTILINE)


def call(suite: str, *arguments: str) -> str:
    # The exit code repeats what the results say in detail.
    command = [str(NODE), str(BUILD / f"conformance-{suite}" / PROGRAM), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    return done.stdout + done.stderr


def scenario_of(folder: Path) -> str:
    """`server-ping-2026-11-15T02-21-39-595Z` holds the results of `ping`."""
    return re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", folder.name)


def complaints_in(folder: Path) -> dict[str, str]:
    results = folder / "checks.json"
    if not results.exists():
        return {scenario_of(folder): "the scenario itself broke off"}
    checks = json.loads(results.read_text())
    failed = (check for check in checks if check["status"] in ("FAILURE", "WARNING"))
    return {check["id"]: check.get("errorMessage", check["description"]) for check in failed}
