"""A web page in a real browser uses refdesk by `fetch`: one of an allowed origin can, one of another cannot."""

import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TIMEOUT = 60.0

# The page reports to the server that it came from, which its origin always allows.
PAGE = """<!doctype html><script type="module">
const post = (body, headers = {}) => fetch(URL_OF_REFDESK, {
  method: "POST",
  headers: {"content-type": "application/json", "accept": "application/json, text/event-stream", ...headers},
  body: JSON.stringify({jsonrpc: "2.0", ...body}),
});
let report;
try {
  const clientInfo = {name: "page", version: "1"};
  const params = {protocolVersion: "2025-11-25", capabilities: {}, clientInfo};
  const opened = await post({id: 1, method: "initialize", params});
  const session = opened.headers.get("mcp-session-id");
  await opened.text();
  const headers = {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"};
  const listed = await post({id: 2, method: "tools/list"}, headers);
  report = {session, tools: await listed.text()};
} catch (error) {
  report = {error: String(error)};
}
await fetch("/report", {method: "POST", body: JSON.stringify(report)});
</script>"""


def checks(url: str) -> Iterator[tuple[str, str | None]]:
    """Opens the page in Chromium from two origins; refdesk at `url` allows only local names."""
    report = visit(url, "127.0.0.1")
    served = report.get("session") and "resources_list" in report.get("tools", "")
    yield "a page of an allowed origin initializes and lists the tools", None if served else str(report)
    report = visit(url, "127.0.0.2")
    refused = "Failed to fetch" in report.get("error", "")
    yield "a page of another origin reads nothing", None if refused else str(report)


def visit(url: str, address: str) -> dict[str, str]:
    """Serves the page at `address`, opens it in the browser, and returns what it reports."""
    reports: queue.Queue[dict[str, str]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(PAGE.replace("URL_OF_REFDESK", json.dumps(url)).encode())

        def do_POST(self) -> None:
            reports.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.answer(b"")

        def answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((address, 0), Handler) as pages, tempfile.TemporaryDirectory() as profile:
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        place = f"http://{address}:{pages.server_port}/"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}"]
        browser = subprocess.Popen(
            ["chromium", *flags, "--remote-debugging-port=0", place],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return reports.get(timeout=TIMEOUT)
        except queue.Empty:
            return {"error": f"the page did not report within {TIMEOUT:.0f} s"}
        finally:
            browser.terminate()
            browser.wait()
            pages.shutdown()
