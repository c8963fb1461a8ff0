"""Client test matrix: which client runs over which transport in which revision, and the checks of its results."""

import base64
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import fixtures
from processes import BUILD, HERE, NODE, RefdeskProcess

TIMEOUT = 180
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
NOT_FOUND = {MODERN: -32602}
NOT_FOUND_LEGACY = -32002

# What a client prints. Each step has its result under `result`, or its failure under `error`.
Outcome = dict[str, Any]


@dataclass(frozen=True)
class ClientRun:
    """One run of a client: its transport, the era it requests, and the revision both sides must agree on."""

    client: str
    transport: str
    era: str
    revision: str

    def __str__(self) -> str:
        era = "" if self.era in ("", self.revision) else f", era {self.era}"
        return f"{self.client} {self.transport} {self.revision}{era}"


def client_runs() -> Iterator[ClientRun]:
    """Every client, over each of its transports, in each of its revisions."""
    for transport in ("stdio", "http"):
        yield ClientRun("python-1", transport, "", LEGACY)
        yield ClientRun("typescript-1", transport, "", LEGACY)
        for era, revision in (("legacy", LEGACY), ("auto", MODERN), (MODERN, MODERN)):
            yield ClientRun("python-2", transport, era, revision)
        for revision in ("2024-11-05", "2025-03-26", "2025-06-18", LEGACY, MODERN):
            yield ClientRun("typescript-2", transport, revision, revision)
        yield ClientRun("typescript-2", transport, "auto", MODERN)
        yield ClientRun("inspector", transport, "legacy", LEGACY)
        yield ClientRun("inspector", transport, "modern", MODERN)
    # HTTP+SSE of 2024-11-05, at the same URL; current clients still support it.
    yield ClientRun("python-1", "sse", "", LEGACY)
    yield ClientRun("python-2", "sse", "legacy", LEGACY)
    yield ClientRun("typescript-1", "sse", "", LEGACY)
    yield ClientRun("typescript-2", "sse", "2024-11-05", "2024-11-05")


def gateway_runs() -> Iterator[ClientRun]:
    """The runs to repeat against a refdesk whose only mount is the other refdesk."""
    over_http = [run for run in client_runs() if run.transport == "http" and run.revision in (LEGACY, MODERN)]
    return (run for run in over_http if not run.client.endswith("-1") and run.era != "auto")


def run_standard_requests(run: ClientRun, refdesk: RefdeskProcess) -> Outcome:
    """Runs the client with the standard requests."""
    return run_client(run, refdesk, fixtures.REQUESTS)


def run_client(run: ClientRun, refdesk: RefdeskProcess, requests: dict[str, Any]) -> Outcome:
    """Runs the client with `requests` and returns its outcome; if the client fails, the reason is under `aborted`."""
    argument = json.dumps(
        requests
        | {
            "transport": run.transport,
            "era": run.era,
            "url": refdesk.url,
            "command": refdesk.stdio_command,
        }
    )
    install_folder = BUILD / run.client
    script = HERE / "clients" / run.client.replace("-", "_")
    match run.client.partition("-")[0]:
        case "python":
            command = [install_folder / "bin/python", "-B", script.with_suffix(".py"), argument]
        case "typescript":
            command = [NODE, script.with_suffix(".mjs"), argument]
        case _:
            launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
            command = [sys.executable, script.with_suffix(".py"), argument, NODE, install_folder / launcher]
    try:
        process = subprocess.run(
            list(map(str, command)), cwd=install_folder, capture_output=True, text=True, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return {"aborted": f"timed out after {TIMEOUT} s"}
    if process.returncode:
        return {"aborted": "\n".join(process.stderr.splitlines()[-15:])}
    return json.loads(process.stdout)


def checks(run: ClientRun, outcome: Outcome) -> Iterator[tuple[str, str | None]]:
    """The checks of one run: name, and the failure if there is one."""
    if "aborted" in outcome:
        yield "runs to the end", outcome["aborted"]
        return
    yield f"agrees on {run.revision}", differs(outcome["revision"], run.revision)
    yield "lists every page", pages_differ(outcome["pages"], joined=run.client == "inspector")
    for uri, expected in CONTENTS.items():
        yield f"reads {uri}", contents_differ(outcome["contents"][uri], uri, expected)
    yield "reads a document and its text", differs(outcome["contents"][REPORT_URI], REPORT_PARTS, document_parts)
    yield "lists the templates", differs(outcome["templates"], fixtures.URI_TEMPLATES, sorted)
    expanded = {"mimeType": "application/json", "text": '{"id": "grace", "templateTest": true}'}
    yield "expands a template", contents_differ(outcome["expanded"], "test://template/grace/data", expanded)
    if run.client == "inspector":
        # Its CLI has no completion, and prints errors without their code.
        yield "gets an error for a missing URI", outcome["missing"].get("error")
        return
    values, paths = outcome["completions"]
    yield "completes a value, best first", differs(values, (["ada", "alan"], ["grace"]), best_and_rest)
    yield "completes a path, a hundred at a time", differs(paths, (100, True, set()), completed_paths)
    tools = sorted(EXPECTED_CONTENT)
    yield "lists refdesk's tools first", differs(outcome["tools"], tools, lambda names: sorted(names[: len(tools)]))
    for call, result in zip(fixtures.REQUESTS["call"], outcome["tool_results"], strict=True):
        name = call["name"]
        yield f"calls {name}", differs(result, EXPECTED_CONTENT[name], partial(structured_content, name, run.revision))
    error = {"code": NOT_FOUND.get(run.revision, NOT_FOUND_LEGACY), "uri": fixtures.REQUESTS["missing"]}
    yield f"gets error {error['code']} for a missing URI", differs(outcome["missing"], error, code_and_uri)


CONTENTS: dict[str, dict[str, Any]] = {
    fixtures.file_uri("README.md"): {"text": "# The desk\n\nAsk here.\n"},
    fixtures.file_uri("src/deep/er/main.rs"): {"text": 'fn main() {\n    println!("hello");\n}\n'},
    fixtures.file_uri("俳句/古い 池.txt"): {"text": fixtures.HAIKU},
    fixtures.file_uri("pictures/pixel.png"): {"mimeType": "image/png", "blob": fixtures.PIXEL},
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": fixtures.PIXEL},
}


REPORT_URI = fixtures.file_uri("report.rtf")
# URI, MIME type and text of each part.
REPORT_PARTS = [
    (REPORT_URI, "application/rtf", fixtures.REPORT.decode()),
    (REPORT_URI, "text/markdown", fixtures.REPORT_TEXT),
]
README = fixtures.file_uri("README.md")
# The result of each tool, as far as it is the same for every client.
EXPECTED_CONTENT: dict[str, Any] = {
    "resources_list": [README],
    "resources_templates": fixtures.URI_TEMPLATES,
    "resources_metadata": [README],
    "resources_read": ["蛙飛びこむ\n"],
    "resources_read_embedded": [README, "test://static-binary"],
    "resources_grep": [f"note 24{number}" for number in range(10)],
    # What they find depends on how far the index is; search/ judges that.
    "resources_search": True,
    "resources_pack": "text",
    "resources_watch": [README],
    "resources_changes": [],
    "resources_unwatch": [],
}
# The part of the result that is compared with EXPECTED_CONTENT: of its structured content, if it has one.
CONTENT_VIEWS: dict[str, Any] = {
    "resources_list": lambda content: [resource["uri"] for resource in content["resources"]],
    "resources_templates": lambda content: sorted(template["uriTemplate"] for template in content["templates"]),
    "resources_metadata": lambda content: [
        resource["uri"] for resource in content["resources"] if resource["tokens"] > 0
    ],
    "resources_read": lambda content: [content["text"]],
    "resources_read_embedded": lambda content: [block["resource"]["uri"] for block in content],
    "resources_grep": lambda content: [
        line.split(":", 1)[1] for lines in content["matches"].values() for line in lines
    ],
    "resources_search": lambda content: all("uri" in hit for hit in content["hits"]),
    "resources_pack": lambda content: content[-1]["type"],
    "resources_watch": lambda content: content["watching"],
    "resources_changes": lambda content: content["changed"],
    "resources_unwatch": lambda content: content["watching"],
}


def structured_content(name: str, revision: str, result: dict[str, Any]) -> Any:
    """What a tool result says; in revisions without it, only checks that there is text content."""
    if result.get("isError"):
        return result["content"]
    if revision < "2025-06-18":
        # Only the structured content carries a handle, but a session needs none.
        return EXPECTED_CONTENT[name] if result["content"] else "nothing"
    # A tool that returns content blocks has no structured content: it would repeat them.
    return CONTENT_VIEWS[name](result.get("structuredContent") or result["content"])


def differs(outcome: Outcome, expected: Any, view: Any = lambda result: result) -> str | None:
    if "error" in outcome:
        return outcome["error"]
    actual = view(outcome["result"])
    return None if actual == expected else f"expected {expected!r}, got {actual!r}"


def pages_differ(outcome: Outcome, joined: bool) -> str | None:
    if "error" in outcome:
        return outcome["error"]
    pages = outcome["result"]
    counts = Counter(uri for page in pages for uri in page)
    differences = {
        "not listed": sorted(set(fixtures.RESOURCE_URIS) - set(counts)),
        "not expected": sorted(set(counts) - set(fixtures.RESOURCE_URIS)),
        "listed twice": sorted(uri for uri, count in counts.items() if count > 1),
        "pages": [] if joined or len(pages) > 1 else ["only one page"],
    }
    failures = [f"{name}: {len(uris)}, for example {uris[0]}" for name, uris in differences.items() if uris]
    return "; ".join(failures) or None


def contents_differ(outcome: Outcome, uri: str, expected: dict[str, Any]) -> str | None:
    def view(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {
                member: base64.b64decode(element[member]) if member == "blob" else element[member]
                for member in ("uri", *expected)
                if member in element
            }
            for element in contents
        ]

    return differs(outcome, [{"uri": uri, **expected}], view)


def document_parts(contents: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(part["uri"], part["mimeType"], part["text"]) for part in contents]


def best_and_rest(completion: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Values with the typed prefix must come before values that only contain it, and no others may come."""
    return sorted(completion["values"][:2]), completion["values"][2:]


def completed_paths(completion: dict[str, Any]) -> tuple[int, bool, set[str]]:
    """The number of paths, whether there are more, and the paths that do not exist."""
    paths = set(completion["values"])
    return len(paths), completion["hasMore"], paths - set(fixtures.FILES)


def code_and_uri(error: dict[str, Any]) -> dict[str, Any]:
    return {"code": error["code"], "uri": (error.get("data") or {}).get("uri")}
