"""Runs the official conformance suite and compares its failures with expected-failures.toml."""

import json
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from desk import BUILD, FIXTURE, HERE, NODE, Desk, Host

PATIENCE = 300
PROGRAM = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
EXTENSIONS = "extensions"
LATEST, MODERN = "2025-11-25", "2026-07-28"

# 0.1 has one revision, whatever version is requested; 0.2 has each of them, and extensions separately.
RUNS = [("0.1", LATEST), *(("0.2", each) for each in ("2025-03-26", "2025-06-18", LATEST, MODERN, EXTENSIONS))]

# The fixture, tested directly and through refdesk, by URL and on a pipe.
DIRECT, THROUGH, THROUGH_PIPE = "direct", "through", "through-stdio"
RUNS_BEHIND = [("0.1", LATEST), ("0.2", LATEST), ("0.2", MODERN)]
RUNS_ON_PIPE = [("0.2", MODERN)]

Finding = tuple[str, str | None]
# By scenario and check: None if it passed, else the failure.
Outcomes = dict[str, dict[str, str | None]]


@dataclass(frozen=True, order=True)
class Where:
    """One run: the suite, the revision, and the way to the server under test."""

    way: str
    suite: str
    revision: str

    @staticmethod
    def read(text: str) -> "Where":
        *way, suite, revision = text.split()
        return Where(" ".join(way), suite, revision)

    def __str__(self) -> str:
        return " ".join(filter(None, (f"conformance-{self.suite}", self.revision, self.way)))


Check = tuple[Where, str, str]


class Known:
    """The expected failures, and those of them that have not occurred."""

    def __init__(self) -> None:
        self.unseen: set[Check] = set()
        for group in tomllib.loads((HERE / "expected-failures.toml").read_text())["failures"]:
            for where in map(Where.read, group["where"]):
                for entry in group["checks"]:
                    scenario, _, name = entry.partition(":")
                    self.unseen.add((where, scenario, name or scenario))
        self.expected = frozenset(self.unseen)

    def judge(self, where: Where, scenario: str, complaints: dict[str, str]) -> Finding:
        checks = {(where, scenario, name): why for name, why in complaints.items()}
        known = checks.keys() & self.expected
        self.unseen -= known
        news = [f"{name}: {checks[where, scenario, name]}" for name in sorted(complaints)
                if (where, scenario, name) not in known]
        note = f" ({len(known)} expected failures)" if known else ""
        return f"{where}: {scenario}{note}", "\n".join(news) or None

    def leftovers(self) -> Iterator[Finding]:
        for where, scenario, name in sorted(self.unseen):
            what = "it passes or no longer runs; remove it from expected-failures.toml"
            yield f"{where}: {scenario}:{name} fails as expected", what


def findings(program: Path, url: str) -> Iterator[Finding]:
    """One finding per scenario, then one per expected failure that no longer fails."""
    known = Known()
    for suite, revision in RUNS:
        where = Where("", suite, revision)
        for scenario, checks in run(suite, revision, url).items():
            yield known.judge(where, scenario, failed(checks))
    with Host([str(FIXTURE)]) as behind, tempfile.TemporaryDirectory() as folder:
        by_address = settings(Path(folder) / "address.toml", f"url = {json.dumps(behind.url)}")
        on_pipe = settings(Path(folder) / "pipe.toml", f"command = {json.dumps([str(FIXTURE), '--stdio'])}")
        with Desk(program, by_address) as near, Desk(program, on_pipe) as far:
            for suite, revision in RUNS_BEHIND:
                direct = run(suite, revision, behind.url)
                for scenario, checks in direct.items():
                    yield known.judge(Where(DIRECT, suite, revision), scenario, failed(checks))
                yield from compared(known, Where(THROUGH, suite, revision), direct, near.url)
                if (suite, revision) in RUNS_ON_PIPE:
                    yield from compared(known, Where(THROUGH_PIPE, suite, revision), direct, far.url)
    yield from known.leftovers()


def settings(file: Path, server: str) -> Path:
    """Settings of a refdesk with one server as its only mount, under the same URIs."""
    file.write_text(f'[mounts.behind]\nkind = "upstream"\nprefix = false\n{server}\n')
    return file


def compared(known: Known, where: Where, direct: Outcomes, url: str) -> Iterator[Finding]:
    """Every check that passes directly must pass through refdesk."""
    through = run(where.suite, where.revision, url)
    for scenario, checks in direct.items():
        gave = through.get(scenario, {})
        passed = (name for name, complaint in checks.items() if complaint is None)
        lost = {name: gave.get(name, "the check did not run") for name in passed}
        yield known.judge(where, scenario, failed(lost))


def failed(checks: dict[str, str | None]) -> dict[str, str]:
    return {name: complaint for name, complaint in checks.items() if complaint is not None}


def run(suite: str, revision: str, url: str) -> Outcomes:
    """The outcomes of all scenarios of one run."""
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
            return {"no scenario ran": {"suite": said[-1][-500:]}}
        return {scenario_of(folder): checks_in(folder) for folder in folders}


def extension_scenarios(suite: str) -> list[str]:
    return re.findall(r"^\s*- (\S+) \[extension\]$", call(suite, "list", "--server"), re.MULTILINE)


def call(suite: str, *arguments: str) -> str:
    # The exit code is ignored: the result files have the details.
    command = [str(NODE), str(BUILD / f"conformance-{suite}" / PROGRAM), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    return done.stdout + done.stderr


def scenario_of(folder: Path) -> str:
    """`server-ping-2026-11-15T02-21-39-595Z` holds the results of `ping`."""
    return re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", folder.name)


def checks_in(folder: Path) -> dict[str, str | None]:
    """The checks of one scenario; a check that occurs more than once passes only if it always passes."""
    results = folder / "checks.json"
    if not results.exists():
        return {scenario_of(folder): "the scenario broke off"}
    said: dict[str, str | None] = {}
    for check in json.loads(results.read_text()):
        if check["status"] in ("FAILURE", "WARNING"):
            said[check["id"]] = check.get("errorMessage", check["description"])
        elif check["status"] == "SUCCESS":
            said.setdefault(check["id"], None)
    return said
