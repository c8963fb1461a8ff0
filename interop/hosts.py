"""Checks of real hosts: each gets its config from `refdesk host-config --write`, connects, and hands a scripted model
what refdesk's tools give. What the model sees must be what `host-snapshots.json` has.

`python3 -B hosts.py PROGRAM [--accept]` runs them alone; `--accept` writes the snapshot anew.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from processes import BUILD, HERE, NODE, ServerProcess
from scripted_model import ScriptedModel, ToolCall
from search.tokenizer import Tokenizer

SNAPSHOTS = HERE / "host-snapshots.json"
RUN_TIMEOUT = 40.0

# A server that starts and never answers; no host may wait for it.
SLOW_MOUNT = ["--mount", "slow=sleep 1000"]

FILES = {
    "README.md": "# The desk\n\nAsk here.\n",
    "src/main.rs": 'fn main() {\n    println!("ask");\n}\n',
    "資料/メモ.txt": "古池や\n蛙飛びこむ\n水の音\n",
}

CALLS = [
    ToolCall("resources_list", {}),
    ToolCall("resources_list", {"collection": "project", "recursive": True}),
    ToolCall("resources_read", {"uri": "project/README.md"}),
    ToolCall("resources_read", {"uri": "project/資料/メモ.txt", "start_line": 2, "max_lines": 1}),
    ToolCall("resources_grep", {"pattern": "(?i)ask"}),
    ToolCall("resources_search", {"query": "飛びこむ蛙"}),
    ToolCall("resources_read", {"uri": "project/READNE.md"}),
]


# A question about this project's own documentation, what the passage that answers it has, and the most tokens that a
# model pays for both calls and their results.
QUESTION = "how long is an idle stream kept before it makes room"
ANSWER = "nothing was sent | 1 minute"
MOST_TOKENS = 3_000


def first_passage(results: list[object]) -> dict:
    """The first hit as arguments of `resources_read`, from JSON or from text, as the host shows it."""
    text = shown_text(results[0])
    if found := re.search(r"(file:///\S+) lines (\d+)-(\d+)", text):
        first, last = int(found[2]), int(found[3])
        return {"uri": found[1], "start_line": first, "max_lines": last - first + 1}
    answer = json.loads(text[text.index("{") :])
    hit = answer["hits"][0]
    window = {name: hit[name] for name in ("start_line", "max_lines") if name in hit}
    return {"uri": answer.get("base", "") + hit["uri"]} | window


RESEARCH = [ToolCall("resources_search", {"query": QUESTION}), ToolCall("resources_read", first_passage)]


@dataclass
class Host:
    """A host: its name for `host-config`, its command, and what it needs to use the scripted model."""

    name: str
    command: list[str]
    # Writes the settings that have nothing to do with refdesk; returns variables for the host.
    prepare: Callable[[Path, str], dict[str, str]]
    # Calls of the host's own tools for resources.
    own_calls: tuple[ToolCall, ...] = ()


def prepare_claude(_: Path, model: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "none",
        # Otherwise the model has to look for a tool before it can call it.
        "ENABLE_TOOL_SEARCH": "false",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def prepare_codex(home: Path, model: str) -> dict[str, str]:
    settings = home / ".codex/config.toml"
    settings.parent.mkdir()
    settings.write_text(
        '# A comment that stays\nmodel = "scripted"\nmodel_provider = "scripted"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n\n'
        f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{model}"\nwire_api = "responses"\n'
    )
    return {}


def prepare_gemini(home: Path, model: str) -> dict[str, str]:
    settings = home / ".gemini/settings.json"
    settings.parent.mkdir()
    # A comment, which must survive the edit.
    settings.write_text(
        "{\n  // The scripted model\n"
        '  "security": { "auth": { "selectedType": "gemini-api-key" } },\n'
        '  "general": { "enableAutoUpdate": false },\n'
        '  "privacy": { "usageStatisticsEnabled": false }\n}\n'
    )
    return {"GOOGLE_GEMINI_BASE_URL": model, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def binary(folder: str, name: str) -> str:
    return str(BUILD / folder / "node_modules/.bin" / name)


HOSTS = [
    Host(
        "claude",
        # A project's file waits for a person's approval; naming it is the approval.
        [binary("claude-code", "claude"), "-p", "go", "--mcp-config", ".mcp.json", "--allowedTools", "mcp__refdesk"],
        prepare_claude,
        # The second one is off in the published program, which the snapshot shows; one in which it is on asks only servers
        # that declare `directoryRead`.
        (
            ToolCall("ReadMcpResourceTool", {"server": "refdesk", "uri": "file:///project/README.md"}),
            ToolCall("ReadMcpResourceDirTool", {"server": "refdesk", "uri": "file:///project/src"}),
        ),
    ),
    Host(
        "codex",
        # It begins a turn without the servers that are still starting, unless they are required.
        [binary("codex", "codex"), "exec", "--skip-git-repo-check", "-c", "mcp_servers.refdesk.required=true", "go"],
        prepare_codex,
    ),
    # With a model named, it asks none to choose one.
    Host("gemini", [binary("gemini", "gemini"), "-p", "go", "--yolo", "-m", "gemini-2.5-pro"], prepare_gemini),
]


@dataclass
class HostRun:
    host: Host
    transport: str

    def __str__(self) -> str:
        return f"host {self.host.name}, {self.transport}"


def checks(program: Path) -> Iterator[tuple[str, str | None]]:
    expected = json.loads(SNAPSHOTS.read_text())
    runs = [HostRun(host, transport) for host in HOSTS for transport in ("stdio", "http")]
    with ThreadPoolExecutor(2) as pool:
        for run, (seen, output) in zip(runs, pool.map(lambda run: observe(program, run), runs)):
            wanted = expected.get(run.host.name)
            tools = seen["tools"] if seen else []
            yield f"{run}: connects and offers the tools", None if tools == wanted["tools"] else f"{tools}\n{output}"
            results = seen["results"] if seen else []
            yield f"{run}: the model sees the snapshot", difference(wanted["results"], results)
    with Tokenizer() as tokenizer:
        for host in HOSTS:
            check = f"host {host.name}: a question, a search and a passage, in at most {MOST_TOKENS} tokens"
            yield check, judge_research(program, host, tokenizer)


def judge_research(program: Path, host: Host, tokenizer: Tokenizer) -> str | None:
    seen, output = observe(program, HostRun(host, "stdio"), RESEARCH, HERE.parent / "docs")
    results = seen["results"] if seen else []
    if len(results) != len(RESEARCH) or ANSWER not in results[1]:
        return f"{results}\n{output}"
    paid = [QUESTION, *results, json.dumps(first_passage(results), ensure_ascii=False)]
    tokens = sum(tokenizer.count(text) for text in paid)
    return None if tokens <= MOST_TOKENS else f"{tokens} tokens: {results}"


def difference(wanted: list[str], seen: list[str]) -> str | None:
    if wanted == seen:
        return None
    lines = [f"{len(seen)} results, expected {len(wanted)}"]
    lines += [f"expected {one}\nseen     {other}" for one, other in zip(wanted, seen) if one != other]
    return "\n".join(lines)


def observe(
    program: Path, run: HostRun, calls: list[ToolCall] | None = None, folder_served: Path | None = None
) -> tuple[dict | None, str]:
    """Runs the host once, with the usual calls and files if no others are given. Returns what the model saw, and the
    output of the host."""
    calls = calls or [*CALLS, *run.host.own_calls]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ScriptedModel(calls) as model:
        home = Path(folder)
        work = home / "work"
        work.mkdir()
        for path, content in FILES.items():
            file = home / "project" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        environment = {
            "HOME": folder,
            "PATH": f"{NODE.parent}:{os.environ['PATH']}",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
        } | run.host.prepare(home, model.url)
        served = [*SLOW_MOUNT, str(folder_served or home / "project")]
        if run.transport == "stdio":
            return run_host(program, run.host, served, work, environment, model)
        command = [str(program), "serve", *served, "--listen", "127.0.0.1:0"]
        state = {"HOME": folder, "XDG_STATE_HOME": f"{folder}/.local/state", "REFDESK_START_WAIT": "1s"}
        with ServerProcess(command, state):
            return run_host(program, run.host, ["--http"], work, environment, model)


def run_host(
    program: Path, host: Host, source: list[str], work: Path, environment: dict[str, str], model: ScriptedModel
) -> tuple[dict | None, str]:
    configure = [str(program), "host-config", host.name, "--write", *source]
    configured = subprocess.run(configure, cwd=work, env=environment, capture_output=True, text=True)
    if configured.returncode:
        return None, f"{' '.join(configure)}: {configured.stderr}"
    process = subprocess.Popen(
        host.command,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # A group of its own, so that a host that hangs ends with the servers it started.
        start_new_session=True,
    )
    try:
        output = process.communicate(timeout=RUN_TIMEOUT)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = f"no end within {RUN_TIMEOUT:.0f} s\n{process.communicate()[0]}"
    script = model.script
    return {"tools": sorted(script.tools), "results": [normalize(result) for result in script.results]}, output


def shown_text(result: object) -> str:
    """A result as one text."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def normalize(result: object) -> str:
    """A result as one text, without what differs from run to run."""
    text = shown_text(result)
    text = re.sub(r"\b[0-9a-f]{16}\b", "ETAG", text)
    text = re.sub(r"Wall time: [\d.]+ seconds", "Wall time: TIME seconds", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "MODIFIED", text)


def accept(program: Path) -> None:
    seen = {host.name: observe(program, HostRun(host, "stdio"))[0] for host in HOSTS}
    SNAPSHOTS.write_text(json.dumps(seen, indent=2, ensure_ascii=False) + "\n")


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    if "--accept" in sys.argv:
        accept(program)
    failed = 0
    for check, failure in checks(program):
        print(f"{'FAILED' if failure else 'ok  '} {check}" + (f"\n{failure}" if failure else ""), flush=True)
        failed += bool(failure)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
