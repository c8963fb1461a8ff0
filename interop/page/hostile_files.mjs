// A folder that attacks whoever looks at it: scripts, markup, odd names, endless and broken content.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pdf } from "./pdf.mjs";

/** What runs if a page lets it. @param {string} place */
const script = (place) => `<script>canary('${place}')</script><img src=x onerror="canary('${place}')"><svg onload="canary('${place}')"><details open ontoggle="canary('${place}')">`;

/** What reaches out if a page lets it. @param {string} place */
const remote = (place) => `<img src="http://evil.example/${place}.png"><link rel="stylesheet" href="http://evil.example/${place}.css"><iframe src="http://evil.example/${place}"></iframe><video poster="http://evil.example/${place}.jpg"></video><style>@import url(http://evil.example/${place}.css); body { background: url(http://evil.example/${place}) }</style>`;

/** @param {string} place */
const links = (place) => `<a href="javascript:canary('${place}-link')">press</a><a href="data:text/html,<script>canary('${place}-data')</script>">press</a><form action="http://evil.example/form"><button>press</button></form><base href="http://evil.example/"><meta http-equiv="refresh" content="0;url=http://evil.example/refresh">`;

const MARKDOWN = `# Harmless ${script("markdown")}

[press](javascript:canary('markdown-link')) [press](JaVaScRiPt:canary('markdown-case')) [press](java\tscript:canary('markdown-tab'))
[press](data:text/html;base64,PHNjcmlwdD5jYW5hcnkoMSk8L3NjcmlwdD4=) <javascript:canary('auto')>

![press](http://evil.example/picture.png) ![press](javascript:canary('image')) ![x" onerror="canary('alt')](x)

${remote("markdown")}

${links("markdown")}

\`\`\`html"><img src=x onerror=canary('fence')>
${script("fence")}
\`\`\`

| <img src=x onerror="canary('cell')"> | b |
| --- | --- |
| ${"<script>canary('cell')</script>"} | [press](javascript:canary('cell-link')) |
`;

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="100" onload="canary('svg')"><script>canary('svg')</script><image xlink:href="http://evil.example/svg.png" width="10" height="10"/><foreignObject width="100" height="50"><body xmlns="http://www.w3.org/1999/xhtml"><iframe src="javascript:canary('svg-frame')"/></body></foreignObject><a xlink:href="javascript:canary('svg-link')"><text y="20">press</text></a><rect width="200" height="100" fill="red"/></svg>`;

/** A notebook whose outputs are markup. */
const NOTEBOOK = JSON.stringify({
  cells: [{ cell_type: "code", execution_count: 1, metadata: {}, source: ["1"], outputs: [{ output_type: "display_data", metadata: {}, data: { "text/html": [script("notebook"), remote("notebook")], "application/javascript": ["canary('notebook')"], "image/svg+xml": [SVG] } }] }, { cell_type: "markdown", metadata: {}, source: [MARKDOWN] }],
  metadata: {}, nbformat: 4, nbformat_minor: 5,
});

/** Names, and what lies under them. @type {Record<string, string | Buffer>} */
const FILES = {
  "script.md": MARKDOWN,
  "script.html": `<!doctype html><html><head><title>x</title></head><body onload="canary('html')">${script("html")}${remote("html")}${links("html")}</body></html>`,
  "script.svg": SVG,
  "script.pdf": pdf([["Harmless text", "<script>canary('pdf-text')</script>"]], "app.alert('pdf'); canary('pdf');"),
  "script.ipynb": NOTEBOOK,
  "script.csv": `name,<img src=x onerror="canary('csv')">\n"=HYPERLINK(""http://evil.example"")",${"<script>canary('csv')</script>"}\n`,
  "script.json": JSON.stringify({ [`key ${script("json-key")}`]: script("json"), __proto__: { a: 1 }, url: "javascript:canary('json')" }),
  "script.js": `canary('js')\n// </script>${script("code")}\n`,
  "script.xml": `<?xml version="1.0"?><?xml-stylesheet href="http://evil.example/x.xsl"?><!DOCTYPE x [<!ENTITY e SYSTEM "http://evil.example/entity">]><x xmlns:h="http://www.w3.org/1999/xhtml"><h:script>canary('xml')</h:script>&e;</x>`,
  "script.eml": `From: a@evil.example\nTo: b@evil.example\nSubject: ${script("subject")}\nMIME-Version: 1.0\nContent-Type: text/html\n\n${script("mail")}${remote("mail")}\n`,
  "<img src=x onerror=canary('name')>.txt": "a name with markup\n",
  "\"'><svg onload=canary('quote')>.md": `# x\n${script("quote")}\n`,
  "right\u202Etxt.exe.txt": "a name that is written backwards\n",
  "escape\u001b[31mred.txt": "a name with an escape sequence\n",
  "line\nbreak.txt": "a name of two lines\n",
  "a%2e%2e%2fb#c?d.txt": "a name that looks like parts of a URI\n",
  "long-line.txt": `${"x".repeat(3_000_000)}\nend\n`,
  "bytes.txt": Buffer.from([0xff, 0xfe, 0x80, 0x81, 0x0a, 0xc3, 0x28, 0x0a, 0xf0, 0x9f, 0x92, 0x0a]),
  "controls.txt": "a\u0000b\u001b]0;title\u0007c\u202Ed\u2066e\n",
  "deep.json": `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
  "deep.md": `${"> ".repeat(5_000)}x\n\n${"[".repeat(20_000)}\n\n${"*a ".repeat(20_000)}\n\n${"- ".repeat(3_000)}x\n`,
  "deep.html": `${"<div><b>".repeat(20_000)}x`,
  "wide.json": JSON.stringify(Array.from({ length: 60_000 }, (_, at) => at)),
  "wide.csv": `${Array.from({ length: 5_000 }, (_, at) => `c${at}`).join(",")}\n${"1,".repeat(5_000)}\n`,
};

/** Writes the folder. @param {string} root */
export function writeHostile(root) {
  const folder = join(root, "hostile");
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  return { folder, names: Object.keys(FILES) };
}
