"""A stand-in for a model on loopback: answers with the tool calls of a script, and keeps the results it is shown.

It speaks just enough of three wires for a host to run a turn: Anthropic messages, OpenAI responses and Gemini
generateContent, all as server-sent events.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DONE = "done"


@dataclass
class ToolCall:
    name: str
    # The arguments, or what makes them of the results before.
    arguments: dict | Callable[[list[object]], dict]


@dataclass
class Script:
    """The tool calls to make, and what the host showed."""

    calls: list[ToolCall]
    # What the host gave the model for each call, as the wire has it.
    results: list[object] = field(default_factory=list)
    # The tools of refdesk, and the host's own for resources, by the names under which the host offered them.
    tools: dict[str, dict] = field(default_factory=dict)

    def offered_name(self, tool: str) -> str | None:
        """The host's name of `tool`: it ends with the tool's own."""
        return next((name for name in self.tools if name.endswith(tool)), None)


class ScriptedModel:
    """The server; `url` is its base URL."""

    def __init__(self, calls: list[ToolCall]) -> None:
        self.script = Script(calls)
        handler = type("Handler", (ModelHandler,), {"script": self.script, "lock": threading.Lock()})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> "ScriptedModel":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class ModelHandler(BaseHTTPRequestHandler):
    script: Script
    lock: threading.Lock
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send(json.dumps({"object": "list", "data": [], "models": []}), "application/json")

    def do_HEAD(self) -> None:
        self._send("", "text/plain")

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        with self.lock:
            if path.endswith("/count_tokens") or path.endswith(":countTokens"):
                self._send(json.dumps({"input_tokens": 1, "totalTokens": 1}), "application/json")
            elif path.endswith("/messages"):
                self._answer_anthropic(body)
            elif path.endswith("/responses"):
                self._send_events(openai_events(self._turn(*openai_request(body))))
            elif ":streamGenerateContent" in path or ":generateContent" in path:
                answer = gemini_answer(self._turn(*gemini_request(body)))
                if ":stream" in path:
                    self._send(f"data: {json.dumps(answer)}\r\n\r\n", "text/event-stream")
                else:
                    self._send(json.dumps(answer), "application/json")
            else:
                self._send("{}", "application/json")

    def log_message(self, *_: object) -> None:
        pass

    def _answer_anthropic(self, body: dict) -> None:
        turn = self._turn(*anthropic_request(body))
        if body.get("stream"):
            self._send_events(anthropic_events(turn))
        else:
            self._send(json.dumps(anthropic_message(turn)), "application/json")

    def _turn(self, tools: dict[str, dict], results: list[object]) -> tuple[int, str, dict] | None:
        """The next call as number, name in the host, and arguments; `None` ends the turn."""
        script = self.script
        # A host also asks for titles and summaries, without tools.
        if not tools:
            return None
        script.tools = tools
        if len(results) > len(script.results):
            script.results = results
        number = len(results)
        if number >= len(script.calls):
            return None
        call = script.calls[number]
        name = script.offered_name(call.name)
        arguments = call.arguments(results) if callable(call.arguments) else call.arguments
        return (number, name, arguments) if name else None

    def _send_events(self, events: list[dict]) -> None:
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send(text, "text/event-stream")

    def _send(self, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


# Anthropic messages


def anthropic_request(body: dict) -> tuple[dict[str, dict], list[object]]:
    names = ("resources_", "McpResource")
    offered = {tool.get("name", ""): tool for tool in body.get("tools") or []}
    tools = {name: tool for name, tool in offered.items() if any(part in name for part in names)}
    results = [
        block.get("content")
        for message in body.get("messages") or []
        if isinstance(message.get("content"), list)
        for block in message["content"]
        if block.get("type") == "tool_result"
    ]
    return tools, results


def anthropic_content(turn: tuple[int, str, dict] | None) -> dict:
    if turn is None:
        return {"type": "text", "text": DONE}
    number, name, arguments = turn
    return {"type": "tool_use", "id": f"toolu_{number:04}", "name": name, "input": arguments}


def anthropic_message(turn: tuple[int, str, dict] | None) -> dict:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [anthropic_content(turn)],
        "stop_reason": "tool_use" if turn else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def anthropic_events(turn: tuple[int, str, dict] | None) -> list[dict]:
    block = anthropic_content(turn)
    if turn:
        start = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        start = block | {"text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    message = anthropic_message(turn)
    reason = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


# OpenAI responses


def openai_request(body: dict) -> tuple[dict[str, dict], list[object]]:
    # Codex puts the tools of a server into a namespace.
    tools = {
        f"{space['name']}/{tool['name']}": tool
        for space in body.get("tools") or []
        if space.get("type") == "namespace"
        for tool in space.get("tools") or []
        if "resources_" in tool.get("name", "")
    }
    results = [item.get("output") for item in body.get("input") or [] if item.get("type") == "function_call_output"]
    return tools, results


def openai_events(turn: tuple[int, str, dict] | None) -> list[dict]:
    if turn:
        number, whole, arguments = turn
        namespace, _, name = whole.rpartition("/")
        item = {
            "type": "function_call",
            "id": f"fc_{number:04}",
            "call_id": f"call_{number:04}",
            "namespace": namespace,
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
    else:
        text = {"type": "output_text", "text": DONE, "annotations": []}
        item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": response | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response | {"usage": usage}},
    ]


# Gemini generateContent


def gemini_request(body: dict) -> tuple[dict[str, dict], list[object]]:
    declared = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
    tools = {one["name"]: one for one in declared if "resources_" in one.get("name", "")}
    results = [
        part["functionResponse"].get("response")
        for content in body.get("contents") or []
        for part in content.get("parts") or []
        if "functionResponse" in part
    ]
    return tools, results


def gemini_answer(turn: tuple[int, str, dict] | None) -> dict:
    if turn:
        number, name, arguments = turn
        part: dict = {"functionCall": {"id": f"call_{number:04}", "name": name, "args": arguments}}
    else:
        part = {"text": DONE}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
