"""Test data: the served files and settings, the requests of every client, and the expected lists."""

import base64
from pathlib import Path
from urllib.parse import quote

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HAIKU = "古池や\n蛙飛びこむ\n水の音\n"
NOTES = 250
# A document, whose text is given beside the original.
REPORT = rb"{\rtf1\ansi {\b Harbour} report\par The tide is \u28526?.\par}"
REPORT_TEXT = "**Harbour** report\n\nThe tide is 潮.\n"

FILES: dict[str, bytes] = {
    "README.md": b"# The desk\n\nAsk here.\n",
    "src/deep/er/main.rs": b'fn main() {\n    println!("hello");\n}\n',
    "pictures/pixel.png": PIXEL,
    "report.rtf": REPORT,
    "俳句/古い 池.txt": HAIKU.encode("shift_jis"),
} | {f"notes/{number:03}.txt": f"note {number}\n".encode() for number in range(NOTES)}

SETTINGS = f"""
[mounts.project]
kind = "fs"
path = "project"
listing = "flat"

[mounts.fixtures]
kind = "static"

[[mounts.fixtures.resources]]
uri = "test://static-text"
name = "static-text"
mime = "text/plain"
text = "This is the content of the static text resource."

[[mounts.fixtures.resources]]
uri = "test://static-binary"
name = "static-binary"
mime = "image/png"
base64 = "{base64.b64encode(PIXEL).decode()}"

[[mounts.fixtures.resources]]
uri = "test://watched-resource"
name = "watched-resource"
mime = "text/plain"
file = "watched.txt"

[[mounts.fixtures.templates]]
uri = "test://template/{{id}}/data"
name = "template"
mime = "application/json"
text = '{{"id": "{{id}}", "templateTest": true}}'
values = {{ id = ["grace", "alan", "edith", "ada"] }}
"""


def write_files(folder: Path) -> Path:
    """Writes the served folder and the settings that serve it; returns the settings file."""
    for path, content in FILES.items():
        file = folder / "project" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    # Only a resource with a file can change, so only it can be subscribed to.
    (folder / "watched.txt").write_text("Watched.")
    settings = folder / "refdesk.toml"
    settings.write_text(SETTINGS)
    return settings


def gateway_settings(url: str, folder: Path) -> Path:
    """Writes the settings of a refdesk that serves the one at `url` under the same URIs; returns the settings file."""
    settings = folder / "gateway.toml"
    settings.write_text(f'[mounts.upstream]\nkind = "upstream"\nprefix = false\nurl = "{url}"\n')
    return settings


def file_uri(path: str) -> str:
    return f"file:///project/{quote(path)}"


RESOURCE_URIS = sorted(
    [file_uri(path) for path in FILES]
    + ["test://static-text", "test://static-binary", "test://watched-resource"]
)
URI_TEMPLATES = sorted(
    [
        "file:///project/{+path}",
        "test://template/{id}/data",
        "refdesk://mounts/{name}",
        "refdesk://subscriptions",
        "search://{mount}/{query}",
        "pack://{question}{?budget}",
    ]
)

# The requests of every client; client_matrix.py checks the results.
REQUESTS = {
    "read": [
        file_uri("README.md"),
        file_uri("src/deep/er/main.rs"),
        file_uri("俳句/古い 池.txt"),
        file_uri("pictures/pixel.png"),
        file_uri("report.rtf"),
        "test://static-text",
        "test://static-binary",
    ],
    "expand": {"template": "test://template/{id}/data", "values": {"id": "grace"}},
    "complete": [
        {"template": "test://template/{id}/data", "name": "id", "value": "a"},
        {"template": "file:///project/{+path}", "name": "path", "value": "notes/"},
    ],
    "missing": file_uri("no/such/file.txt"),
    # One call of each tool of refdesk; `needs_handle` adds the handle that an earlier call returned.
    "call": [
        {"name": "resources_list", "arguments": {"uri": "**/README.md"}},
        {"name": "resources_templates", "arguments": {}},
        {"name": "resources_metadata", "arguments": {"uris": [file_uri("README.md")]}},
        {"name": "resources_read", "arguments": {"uri": file_uri("俳句/古い 池.txt"), "start_line": 2, "max_lines": 1}},
        {"name": "resources_read_embedded", "arguments": {"uris": [file_uri("README.md"), "test://static-binary"]}},
        {"name": "resources_grep", "arguments": {"pattern": "^note 24[0-9]$", "uri": "**/notes/*.txt"}},
        {"name": "resources_search", "arguments": {"query": "古池", "limit": 3}},
        {"name": "resources_pack", "arguments": {"question": "Where can I ask?", "budget": 500}},
        {"name": "resources_watch", "arguments": {"uris": [file_uri("README.md")]}},
        {"name": "resources_changes", "arguments": {}, "needs_handle": True},
        {"name": "resources_unwatch", "arguments": {}, "needs_handle": True},
    ],
}
