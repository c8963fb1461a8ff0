"""A web page in a real browser uses refdesk by `fetch`: one of an allowed origin can, one of another cannot."""

import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fixtures
from processes import RefdeskProcess

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


def checks(program: Path) -> Iterator[tuple[str, str | None]]:
    """Opens the page in Chromium from three origins; refdesk allows the first of them."""
    with tempfile.TemporaryDirectory() as folder, ThreadingHTTPServer(("127.0.0.1", 0), ReportHandler) as pages:
        settings = fixtures.write_files(Path(folder))
        settings.write_text(f"[server]\norigins = [{json.dumps(origin_of(pages))}]\n\n{settings.read_text()}")
        with RefdeskProcess(program, settings) as refdesk:
            report = visit(refdesk.url, pages)
            served = report.get("session") and "resources_list" in report.get("tools", "")
            yield "a page of an allowed origin initializes and lists the tools", None if served else str(report)
            for what, address in [("host", "127.0.0.2"), ("port of this machine", "127.0.0.1")]:
                with ThreadingHTTPServer((address, 0), ReportHandler) as others:
                    report = visit(refdesk.url, others)
                refused = "Failed to fetch" in report.get("error", "")
                yield f"a page of another {what} reads nothing", None if refused else str(report)


def origin_of(pages: ThreadingHTTPServer) -> str:
    return f"http://{pages.server_address[0]}:{pages.server_port}"


class ReportHandler(BaseHTTPRequestHandler):
    """Serves the page, and takes its report."""

    url = ""
    reports: queue.Queue[dict[str, str]] = queue.Queue()

    def do_GET(self) -> None:
        self.answer(PAGE.replace("URL_OF_REFDESK", json.dumps(self.url)).encode())

    def do_POST(self) -> None:
        self.reports.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.answer(b"")

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def visit(url: str, pages: ThreadingHTTPServer) -> dict[str, str]:
    """Opens the page of `pages` in the browser, and returns what it reports of the refdesk at `url`."""
    ReportHandler.url = url
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}"]
        browser = subprocess.Popen(
            ["chromium", *flags, "--remote-debugging-port=0", f"{origin_of(pages)}/"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return ReportHandler.reports.get(timeout=TIMEOUT)
        except queue.Empty:
            return {"error": f"the page did not report within {TIMEOUT:.0f} s"}
        finally:
            browser.terminate()
            browser.wait()
            pages.shutdown()


def main() -> int:
    """Runs the checks alone: `python3 -B browser.py PROGRAM`."""
    failures = 0
    for check, failure in checks(Path(sys.argv[1]).resolve()):
        print(f"{'FAILED' if failure else 'ok  '} {check}" + (f"\n{failure}" if failure else ""), flush=True)
        failures += bool(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
