"""Runs the official conformance suite and compares its failures with expected-failures.toml.

`python3 -B conformance.py PROGRAM` runs it alone.
"""

import json
import re
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import fixtures
from processes import BUILD, FIXTURE, HERE, NODE, START_TIMEOUT, RefdeskProcess, ServerProcess, free_port

TIMEOUT = 300
PROGRAM = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
EXTENSIONS = "extensions"
LATEST, MODERN = "2025-11-25", "2026-07-28"

# 0.1 has one revision, whatever version is requested; 0.2 has each of them, and extensions separately.
REFDESK_RUNS = [
    ("0.1", LATEST),
    *(("0.2", revision) for revision in ("2025-03-26", "2025-06-18", LATEST, MODERN, EXTENSIONS)),
]

# The fixture, tested directly and through refdesk, mounted by URL and as a child process.
DIRECT, THROUGH, THROUGH_STDIO = "direct", "through", "through-stdio"
FIXTURE_RUNS = [("0.1", LATEST), ("0.2", LATEST), ("0.2", MODERN), ("0.2", EXTENSIONS)]
FIXTURE_STDIO_RUNS = [("0.2", MODERN), ("0.2", EXTENSIONS)]

# The Python SDK's own server for the suite, tested directly and through refdesk: the installation of the SDK, and the runs.
SDK_RUNS = {"python-1": [("0.1", LATEST), ("0.2", LATEST)], "python-2": [("0.2", LATEST), ("0.2", MODERN)]}
SDK_SERVER = "examples/servers/everything-server"

# A server may answer with plain JSON where it needs no stream. The suite then records one of these as information,
# and judges no other check of the scenario that is about streams.
JSON_ANSWERS = {
    "server-sse-content-type": {"server-sse-priming-event", "server-sse-retry-field"},
    "server-sse-streams-functional": {"server-sse-streams-functional"},
}

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]


@dataclass
class ScenarioOutcomes:
    """The checks of one scenario."""

    # By check: None if it passed, else the failure.
    results: dict[str, str | None] = field(default_factory=dict)
    # The checks that the suite records as information.
    noted: set[str] = field(default_factory=set)


# By scenario.
Outcomes = dict[str, ScenarioOutcomes]


@dataclass(frozen=True, order=True)
class SuiteRun:
    """One run: the route to the server under test, the suite version, and the revision."""

    route: str
    suite: str
    revision: str

    @staticmethod
    def parse(text: str) -> "SuiteRun":
        *route, suite, revision = text.split()
        return SuiteRun(" ".join(route), suite, revision)

    def __str__(self) -> str:
        return " ".join(filter(None, (f"conformance-{self.suite}", self.revision, self.route)))


# Run, scenario, and name of the check.
CheckId = tuple[SuiteRun, str, str]


class ExpectedFailures:
    """The expected failures, and those of them that have not occurred."""

    def __init__(self) -> None:
        self.not_seen: set[CheckId] = set()
        for group in tomllib.loads((HERE / "expected-failures.toml").read_text())["failures"]:
            for run in map(SuiteRun.parse, group["runs"]):
                for entry in group["checks"]:
                    scenario, _, name = entry.partition(":")
                    self.not_seen.add((run, scenario, name or scenario))
        self.all = frozenset(self.not_seen)

    def compare(self, run: SuiteRun, scenario: str, failures: dict[str, str]) -> CheckResult:
        """The result of one scenario: it fails if one of its failures is not expected."""
        expected = {(run, scenario, name) for name in failures} & self.all
        self.not_seen -= expected
        unexpected = [
            f"{name}: {failures[name]}" for name in sorted(failures) if (run, scenario, name) not in expected
        ]
        note = f" ({len(expected)} expected failures)" if expected else ""
        return f"{run}: {scenario}{note}", "\n".join(unexpected) or None

    def outdated(self) -> Iterator[CheckResult]:
        """A failed check for each expected failure that has not occurred."""
        for run, scenario, name in sorted(self.not_seen):
            failure = "it passes or no longer runs; remove it from expected-failures.toml"
            yield f"{run}: {scenario}:{name} fails as expected", failure


def checks(program: Path, url: str) -> Iterator[CheckResult]:
    """One result per scenario, then one per expected failure that no longer fails."""
    expected = ExpectedFailures()
    with tempfile.TemporaryDirectory() as folder:
        with RefdeskProcess(program, write_folders(Path(folder))) as folders:
            for suite, revision in REFDESK_RUNS:
                # The extensions are about folders too, which only a tree lists.
                served = folders.url if revision == EXTENSIONS else url
                for scenario, outcomes in run_suite(suite, revision, served).items():
                    yield expected.compare(SuiteRun("", suite, revision), scenario, failures_in(outcomes.results))
    yield from fixture_checks(program, expected)
    yield from sdk_checks(program, expected)
    yield from expected.outdated()


def fixture_checks(program: Path, expected: ExpectedFailures) -> Iterator[CheckResult]:
    """The fixture, directly and through refdesk."""
    with ServerProcess([str(FIXTURE)]) as fixture, tempfile.TemporaryDirectory() as folder:
        url_settings = write_settings(Path(folder) / "url.toml", f"url = {json.dumps(fixture.url)}")
        command = f"command = {json.dumps([str(FIXTURE), '--stdio'])}"
        stdio_settings = write_settings(Path(folder) / "stdio.toml", command)
        with RefdeskProcess(program, url_settings) as by_url, RefdeskProcess(program, stdio_settings) as by_stdio:
            for suite, revision in FIXTURE_RUNS:
                direct = run_suite(suite, revision, fixture.url)
                for scenario, outcomes in direct.items():
                    run = SuiteRun(DIRECT, suite, revision)
                    yield expected.compare(run, scenario, failures_in(outcomes.results))
                yield from compare_with_direct(expected, SuiteRun(THROUGH, suite, revision), direct, by_url.url)
                if (suite, revision) in FIXTURE_STDIO_RUNS:
                    run = SuiteRun(THROUGH_STDIO, suite, revision)
                    yield from compare_with_direct(expected, run, direct, by_stdio.url)


def sdk_checks(program: Path, expected: ExpectedFailures) -> Iterator[CheckResult]:
    """The SDK's own server, directly and through refdesk. What fails directly is the SDK's own affair."""
    for sdk, runs in SDK_RUNS.items():
        with sdk_server(sdk) as server, tempfile.TemporaryDirectory() as folder:
            settings = write_settings(Path(folder) / "url.toml", f"url = {json.dumps(server.url)}")
            with RefdeskProcess(program, settings) as refdesk:
                for suite, revision in runs:
                    direct = run_suite(suite, revision, server.url)
                    passed = sum(failure is None for one in direct.values() for failure in one.results.values())
                    run = SuiteRun(f"{sdk} {DIRECT}", suite, revision)
                    yield f"{run}: {passed} checks pass", None if passed else "no check passed"
                    run = SuiteRun(f"{sdk} {THROUGH}", suite, revision)
                    yield from compare_with_direct(expected, run, direct, refdesk.url)


@contextmanager
def sdk_server(sdk: str) -> Iterator[ServerProcess]:
    """The server for the suite in the source of an SDK. It prints its port before it listens there."""
    port = free_port()
    command = [str(BUILD / sdk / "bin/python"), "-m", "mcp_everything_server", "--port", str(port)]
    environment = {"PYTHONPATH": str(BUILD / f"{sdk}-source" / SDK_SERVER)}
    with ServerProcess(command, environment, port) as server:
        wait_for_port(port)
        yield server


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def write_folders(folder: Path) -> Path:
    """Writes folders inside each other, and the settings of a refdesk that lists them as a tree."""
    (folder / "files/inside/deeper").mkdir(parents=True)
    (folder / "files/README.md").write_text("# Files\n")
    settings = folder / "refdesk.toml"
    settings.write_text('[mounts.files]\nkind = "fs"\npath = "files"\nlisting = "tree"\n')
    return settings


def write_settings(file: Path, target: str) -> Path:
    """Writes the settings of a refdesk with one server as its only mount, under the same URIs."""
    file.write_text(f'[mounts.upstream]\nkind = "upstream"\nprefix = false\n{target}\n')
    return file


def compare_with_direct(
    expected: ExpectedFailures, run: SuiteRun, direct: Outcomes, url: str
) -> Iterator[CheckResult]:
    """Every check that passes directly must pass through refdesk."""
    through = run_suite(run.suite, run.revision, url)
    passing = judged = failing = 0
    for scenario, direct_outcomes in direct.items():
        outcomes = through.get(scenario, ScenarioOutcomes())
        unjudged = {name for noted in outcomes.noted for name in JSON_ANSWERS.get(noted, ())}
        passed = [name for name, failure in direct_outcomes.results.items() if failure is None]
        compared = {name: outcomes.results.get(name, "the check did not run") for name in passed if name not in unjudged}
        passing, judged = passing + len(passed), judged + len(compared)
        failing += len(failures_in(compared))
        yield expected.compare(run, scenario, failures_in(compared))
    yield f"{run}: of {passing} checks that pass directly, {judged} apply and {judged - failing} pass", None


def failures_in(outcomes: dict[str, str | None]) -> dict[str, str]:
    return {name: failure for name, failure in outcomes.items() if failure is not None}


def run_suite(suite: str, revision: str, url: str) -> Outcomes:
    """The outcomes of all scenarios of one run."""
    if revision == EXTENSIONS:
        selections = [["--scenario", scenario] for scenario in extension_scenarios(suite)]
    elif suite == "0.1":
        selections = [["--suite", "all"]]
    else:
        selections = [["--suite", "all", "--spec-version", revision]]
    with tempfile.TemporaryDirectory() as results:
        outputs = [
            call(suite, "server", "--url", url, "--output-dir", results, *selection) for selection in selections
        ]
        folders = sorted(Path(results).iterdir())
        if not folders:
            return {"no scenario ran": ScenarioOutcomes({"suite": outputs[-1][-500:]})}
        return {scenario_of(folder): outcomes_in(folder) for folder in folders}


def extension_scenarios(suite: str) -> list[str]:
    return re.findall(r"^\s*- (\S+) \[extension\]$", call(suite, "list", "--server"), re.MULTILINE)


def call(suite: str, *arguments: str) -> str:
    # The exit code is ignored: the result files have the details.
    command = [str(NODE), str(BUILD / f"conformance-{suite}" / PROGRAM), *arguments]
    process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    return process.stdout + process.stderr


def scenario_of(folder: Path) -> str:
    """`server-ping-2026-11-15T02-21-39-595Z` holds the results of `ping`."""
    return re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", folder.name)


def outcomes_in(folder: Path) -> ScenarioOutcomes:
    """The checks of one scenario; a check that occurs more than once passes only if it always passes."""
    results = folder / "checks.json"
    if not results.exists():
        return ScenarioOutcomes({scenario_of(folder): "the scenario aborted"})
    outcomes = ScenarioOutcomes()
    for check in json.loads(results.read_text()):
        if check["status"] in ("FAILURE", "WARNING"):
            outcomes.results[check["id"]] = check.get("errorMessage", check["description"])
        elif check["status"] == "SUCCESS":
            outcomes.results.setdefault(check["id"], None)
        elif check["status"] == "INFO":
            outcomes.noted.add(check["id"])
    return outcomes


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        with RefdeskProcess(program, fixtures.write_files(Path(folder))) as refdesk:
            for check, failure in checks(program, refdesk.url):
                print(f"{'FAILED' if failure else 'ok  '} {check}" + (f"\n{failure}" if failure else ""), flush=True)
                failed += bool(failure)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
