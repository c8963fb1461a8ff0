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
from desk import BUILD, HERE, NODE, Desk

PATIENCE = 180
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
NOT_FOUND = {MODERN: -32602}
NOT_FOUND_LEGACY = -32002

Outcome = dict[str, Any]


@dataclass(frozen=True)
class Visit:
    """One run of a client: its transport, the era it asks for, and the revision both sides must agree on."""

    who: str
    door: str
    era: str
    revision: str

    def __str__(self) -> str:
        asked = "" if self.era in ("", self.revision) else f", asking for {self.era}"
        return f"{self.who} {self.door} {self.revision}{asked}"


def everybody() -> Iterator[Visit]:
    for door in ("stdio", "http"):
        yield Visit("python-1", door, "", LEGACY)
        yield Visit("typescript-1", door, "", LEGACY)
        for era, revision in (("legacy", LEGACY), ("auto", MODERN), (MODERN, MODERN)):
            yield Visit("python-2", door, era, revision)
        for offered in ("2024-11-05", "2025-03-26", "2025-06-18", LEGACY, MODERN):
            yield Visit("typescript-2", door, offered, offered)
        yield Visit("typescript-2", door, "auto", MODERN)
        yield Visit("inspector", door, "legacy", LEGACY)
        yield Visit("inspector", door, "modern", MODERN)
    # HTTP+SSE of 2024-11-05, at the same URL; current clients still support it.
    yield Visit("python-1", "sse", "", LEGACY)
    yield Visit("python-2", "sse", "legacy", LEGACY)
    yield Visit("typescript-1", "sse", "", LEGACY)
    yield Visit("typescript-2", "sse", "2024-11-05", "2024-11-05")


def in_front() -> Iterator[Visit]:
    """The runs to repeat against a refdesk whose only mount is the other refdesk."""
    both = [visit for visit in everybody() if visit.door == "http" and visit.revision in (LEGACY, MODERN)]
    return (visit for visit in both if not visit.who.endswith("-1") and visit.era != "auto")


def meet(visit: Visit, desk: Desk) -> Outcome:
    """Runs the client with the standard requests."""
    return send(visit, desk, fixtures.ERRAND)


def send(visit: Visit, desk: Desk, task: dict[str, Any]) -> Outcome:
    """Runs the client with `task` and returns its results; a run that breaks off has the reason under `broke off`."""
    errand = task | {
        "transport": visit.door,
        "era": visit.era,
        "url": desk.url,
        "command": desk.on_pipe,
    }
    home = BUILD / visit.who
    script = HERE / "visitors" / visit.who.replace("-", "_")
    match visit.who.partition("-")[0]:
        case "python":
            command = [home / "bin/python", "-B", script.with_suffix(".py"), json.dumps(errand)]
        case "typescript":
            command = [NODE, script.with_suffix(".mjs"), json.dumps(errand)]
        case _:
            launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
            command = [sys.executable, script.with_suffix(".py"), json.dumps(errand), NODE, home / launcher]
    try:
        done = subprocess.run(list(map(str, command)), cwd=home, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return {"broke off": f"timed out after {PATIENCE} s"}
    if done.returncode:
        return {"broke off": "\n".join(done.stderr.splitlines()[-15:])}
    return json.loads(done.stdout)


def findings(visit: Visit, outcome: Outcome) -> Iterator[tuple[str, str | None]]:
    """The checks of one run: name, and the failure if there is one."""
    if "broke off" in outcome:
        yield "runs to the end", outcome["broke off"]
        return
    yield f"agrees on {visit.revision}", differs(outcome["revision"], visit.revision)
    yield "walks every page", walk_differs(outcome["pages"], joined=visit.who == "inspector")
    for uri, expected in CONTENTS.items():
        yield f"reads {uri}", contents_differ(outcome["contents"][uri], uri, expected)
    yield "lists the templates", differs(outcome["templates"], fixtures.TEMPLATES, sorted)
    person = {"mimeType": "application/json", "text": '{"id": "grace", "templateTest": true}'}
    yield "expands a template", contents_differ(outcome["expanded"], "test://template/grace/data", person)
    if visit.who == "inspector":
        # Its CLI has no completion, and prints errors without their code.
        yield "is refused a missing URI", outcome["missing"].get("failed")
        return
    by_value, by_folder = outcome["completed"]
    yield "completes a value, best first", differs(by_value, (["ada", "alan"], ["grace"]), best_and_rest)
    yield "completes a path, a hundred at a time", differs(by_folder, (100, True, set()), notes_offered)
    yield "lists our tools first", differs(outcome["tools"], sorted(TOLD), lambda names: sorted(names[:9]))
    for ask, called in zip(calls(), outcome["called"], strict=True):
        yield f"calls {ask['name']}", differs(called, TOLD[ask["name"]], partial(told, ask["name"], visit.revision))
    refused = {"code": NOT_FOUND.get(visit.revision, NOT_FOUND_LEGACY), "uri": fixtures.ERRAND["missing"]}
    yield f"is refused a missing URI with {refused['code']}", differs(outcome["missing"], refused, code_and_uri)


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


# The structured content of each tool, as far as it is the same for every client.
README = fixtures.file_uri("README.md")
TOLD: dict[str, Any] = {
    "resources_list": [README],
    "resources_templates": fixtures.TEMPLATES,
    "resources_metadata": [README],
    "resources_read": ["蛙飛びこむ\n"],
    "resources_read_embedded": [README, "test://static-binary"],
    "resources_grep": [f"note 24{number}" for number in range(10)],
    "resources_watch": [README],
    "resources_changes": [],
    "resources_unwatch": [],
}
TELLS: dict[str, Any] = {
    "resources_list": lambda given: [one["uri"] for one in given["resources"]],
    "resources_templates": lambda given: sorted(one["uriTemplate"] for one in given["templates"]),
    "resources_metadata": lambda given: [one["uri"] for one in given["resources"] if one["tokens"] > 0],
    "resources_read": lambda given: [part["text"] for part in given["parts"]],
    "resources_read_embedded": lambda given: [one["uri"] for one in given["embedded"]],
    "resources_grep": lambda given: [one["text"] for one in given["matches"]],
    "resources_watch": lambda given: given["watching"],
    "resources_changes": lambda given: given["changed"],
    "resources_unwatch": lambda given: given["watching"],
}


def calls() -> list[dict[str, Any]]:
    return fixtures.ERRAND["call"]


def told(name: str, revision: str, result: dict[str, Any]) -> Any:
    """The structured content of a tool result; in revisions without it, only checks that there is text content."""
    if result.get("isError"):
        return result["content"]
    if revision < "2025-06-18":
        # Only the structured content carries a handle, but a session needs none.
        return TOLD[name] if result["content"] else "nothing"
    return TELLS[name](result["structuredContent"])


def differs(outcome: Outcome, expected: Any, view: Any = lambda gave: gave) -> str | None:
    if "failed" in outcome:
        return outcome["failed"]
    seen = view(outcome["gave"])
    return None if seen == expected else f"expected {expected!r}, got {seen!r}"


def walk_differs(outcome: Outcome, joined: bool) -> str | None:
    if "failed" in outcome:
        return outcome["failed"]
    pages = outcome["gave"]
    seen = Counter(uri for page in pages for uri in page)
    wrong = {
        "not listed": sorted(set(fixtures.LISTED) - set(seen)),
        "not expected": sorted(set(seen) - set(fixtures.LISTED)),
        "listed twice": sorted(uri for uri, times in seen.items() if times > 1),
        "pages": [] if joined or len(pages) > 1 else ["only one page"],
    }
    said = [f"{what}: {len(uris)}, for example {uris[0]}" for what, uris in wrong.items() if uris]
    return "; ".join(said) or None


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


def best_and_rest(completion: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Values with the typed prefix must come before values that only contain it, and no others may come."""
    return sorted(completion["values"][:2]), completion["values"][2:]


def notes_offered(completion: dict[str, Any]) -> tuple[int, bool, set[str]]:
    offered = set(completion["values"])
    return len(offered), completion["hasMore"], offered - set(fixtures.FOLDER)


def code_and_uri(refusal: dict[str, Any]) -> dict[str, Any]:
    return {"code": refusal["code"], "uri": (refusal.get("data") or {}).get("uri")}
