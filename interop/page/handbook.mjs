// The folder that the walks and the screenshots show: the handbook of a small team, with its history.

import { execFileSync } from "node:child_process";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pdf } from "./pdf.mjs";
import { png } from "./png.mjs";

const GUIDE = `# Signing releases

Every release is signed. The **signing key** lives on a token that two people hold.

## Rotate the key

1. Make a new key with \`keytool new\`.
2. Publish it beside the old one, see [the notes](../notes.txt).
3. Wait a week, then revoke the old key.

| step | who | how long |
| --- | --- | --- |
| make | Ada | 5 min |
| publish | Grace | 1 h |
| revoke | Ada | 1 min |

\`\`\`rust
fn rotate(old: &Key) -> Key {
    Key::generate(old.owner())
}
\`\`\`
`;

const JAPANESE = `# 設計メモ

リソースは **URI** で名前が付きます。フォルダーは一覧でき、変更は通知されます。

## 鍵の更新

- 署名鍵は年に一度更新します
- 古い鍵は一週間後に失効します

| 項目 | 担当 |
| --- | --- |
| 作成 | 山田 |
| 公開 | 佐藤 |
`;

const PEOPLE = ["name,role,city,since", '"Lovelace, Ada",engineer,London,2019', "Hopper Grace,admiral,New York,2020", "山田 花子,設計,東京,2021", "Curie Marie,researcher,Paris,2022"];

const CONFIG = { name: "handbook", listen: "127.0.0.1:7878", keys: { rotate: "yearly", owners: ["ada", "grace"] }, limits: { memory: 256, clients: 40 }, isPublic: false };

const NOTEBOOK = {
  cells: [
    { cell_type: "markdown", metadata: {}, source: ["# Load per hour\n", "Requests of one day."] },
    { cell_type: "code", execution_count: 1, metadata: {}, source: ["requests = [12, 40, 33]\n", "sum(requests)"], outputs: [{ output_type: "execute_result", execution_count: 1, metadata: {}, data: { "text/plain": ["85"] } }] },
  ],
  metadata: { kernelspec: { display_name: "Python 3", language: "python", name: "python3" }, language_info: { name: "python" } },
  nbformat: 4,
  nbformat_minor: 5,
};

const DIFF = `--- a/src/keys.py
+++ b/src/keys.py
@@ -1,3 +1,3 @@
 def owner(key):
-    return key.name
+    return key.owner.name
`;

const MAP = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><rect width="320" height="200" fill="#e8f0fe"/><circle cx="160" cy="100" r="60" fill="#1a73e8"/></svg>`;

/** A program of many lines: line 120 of it says so. */
function program() {
  const lines = ["//! Rotates signing keys.", "", "use std::time::Duration;", ""];
  for (let at = 1; lines.length < 400; at += 1) {
    lines.push(`/// Waits for step ${at}.`, `pub fn step_${at}(wait: Duration) -> u32 {`, `    let line = ${lines.length + 3};`, `    println!("step ${at} after {wait:?} in line {line}");`, "    line", "}", "");
  }
  return `${lines.slice(0, 400).join("\n")}\n`;
}

/** Lines of the journal: far more than a page shows or reads at once. */
export const JOURNAL_LINES = 20_000;

/** A text of many lines of several lengths. */
function journal() {
  const lines = Array.from({ length: JOURNAL_LINES }, (_, at) => `entry ${at + 1}: ${"all quiet ".repeat(1 + (at % 7))}`);
  return `${lines.join("\n")}\n`;
}

/** A gradient with a disc. */
function logo() {
  return png(240, 160, (x, y) => ((x - 120) ** 2 + (y - 80) ** 2 < 3600 ? [255, 196, 61] : [40 + (x >> 1), 80 + (y >> 1), 200]));
}

const PAGES = [["Plan of the year", "The key is rotated in spring.", "Two people hold the token."], ["Budget", "Hardware: 1200", "Travel: 800"], ["Risks", "A lost token costs a week."]];

/**
 * Writes the handbook. Returns its folder.
 * @param {string} root
 */
export function writeHandbook(root) {
  const folder = join(root, "handbook");
  put(folder, "README.md", "# Handbook\n\nStart with [signing](docs/signing.md), then read [the design](docs/設計.md).\n\n- `src/` holds the tools\n- `data/` holds what they work on\n");
  put(folder, "notes.txt", "First note: buy a second token.\nSecond note: test the backup.\nThird note: thank Grace.\n");
  put(folder, "docs/signing.md", GUIDE);
  put(folder, "docs/設計.md", JAPANESE);
  put(folder, "docs/plan.pdf", pdf(PAGES), 24 * 40);
  put(folder, "docs/load.ipynb", JSON.stringify(NOTEBOOK, null, 1));
  put(folder, "src/keys.py", 'def owner(key):\n    """The owner of a key."""\n    return key.owner\n');
  put(folder, "src/main.rs", program());
  put(folder, "src/owner.diff", DIFF);
  put(folder, "data/people.csv", `${PEOPLE.join("\n")}\n`);
  put(folder, "data/config.json", JSON.stringify(CONFIG, null, 2));
  put(folder, "data/journal.txt", journal());
  put(folder, "images/logo.png", logo());
  put(folder, "images/map.svg", MAP);
  commit(folder, "Add the handbook", "2026-03-02T09:00:00Z");
  put(folder, "src/keys.py", 'def owner(key):\n    """The name of who owns a key."""\n    return key.owner.name\n');
  commit(folder, "Name the owner of a key", "2026-09-14T10:30:00Z");
  return folder;
}

/**
 * Writes a file that is some hours old.
 * @param {string} folder
 * @param {string} path
 * @param {string | Buffer} content
 * @param {number} [hours]
 */
function put(folder, path, content, hours = 2 + path.length) {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  const changed = Date.now() / 1000 - 3600 * hours;
  utimesSync(file, changed, changed);
}

/** @param {string} folder @param {string} message @param {string} date */
function commit(folder, message, date) {
  const person = { NAME: "Ada Lovelace", EMAIL: "ada@handbook.example", DATE: date };
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_GLOBAL: "/dev/null" };
  for (const [name, value] of Object.entries(person)) Object.assign(env, { [`GIT_AUTHOR_${name}`]: value, [`GIT_COMMITTER_${name}`]: value });
  const git = (...words) => execFileSync("git", ["-C", folder, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message", message);
}

/**
 * Settings for the handbook and its history.
 * @param {string} folder
 */
export function handbookSettings(folder) {
  const path = JSON.stringify(folder);
  return `[mounts.handbook]\nkind = "fs"\npath = ${path}\n\n[[mounts.handbook.rules]]\nglob = "docs/**/*.md"\npriority = 0.9\n\n[[mounts.handbook.rules]]\nglob = "src/**"\naudience = ["assistant"]\n\n[mounts.handbook-git]\nkind = "git"\npath = ${path}\n`;
}

/** Settings for a server that does not start. */
export function brokenSettings() {
  return upstreamSettings("broken", ["/nonexistent/broken-server"]);
}

/**
 * Settings for a server of interop/servers behind refdesk.
 * @param {string} name
 * @param {string[]} command
 */
export function upstreamSettings(name, command) {
  return `\n[mounts.${name}]\nkind = "upstream"\ncommand = ${JSON.stringify(command)}\n`;
}
