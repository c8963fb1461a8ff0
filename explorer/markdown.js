// Markdown to elements, for documents whose markup the server does not render. Markup stays text.

import { h } from "./dom.js";
import { markedNodes } from "./sanitize.js";

const MAX_DEPTH = 12;

/** A longer paragraph stays as it is: looking for its marks takes the square of its length. */
const MAX_INLINE = 8_000;

/**
 * @typedef {object} MarkdownOptions
 * @property {(href: string) => string | null} link
 * @property {RegExp | null} marks
 */

/**
 * @param {string} text
 * @param {MarkdownOptions} options
 * @returns {HTMLElement}
 */
export function renderMarkdown(text, options) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  return h("div", { class: "markdown" }, blocks(lines, options, 0));
}

/**
 * @param {string[]} lines
 * @param {MarkdownOptions} options
 * @param {number} depth
 * @returns {HTMLElement[]}
 */
function blocks(lines, options, depth) {
  /** @type {HTMLElement[]} */
  const out = [];
  if (depth > MAX_DEPTH) return [h("p", null, lines.join("\n"))];
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const [element, next] =
      fence(lines, at) ??
      heading(lines, at, options) ??
      table(lines, at, options) ??
      quote(lines, at, options, depth) ??
      list(lines, at, options, depth) ??
      comment(lines, at) ??
      paragraph(lines, at, options);
    out.push(element);
    at = next;
  }
  return out;
}

/** @typedef {[HTMLElement, number] | null} Block */

/**
 * @param {string[]} lines
 * @param {number} at
 * @returns {Block}
 */
function fence(lines, at) {
  const found = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/.exec(lines[at]);
  if (!found) return null;
  let end = at + 1;
  while (end < lines.length && !lines[end].trimStart().startsWith(found[1])) end += 1;
  const code = lines.slice(at + 1, end).join("\n");
  return [h("pre", { class: "block-code" }, h("code", null, code)), end + 1];
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {MarkdownOptions} options
 * @returns {Block}
 */
function heading(lines, at, options) {
  if (/^ {0,3}([-*_])( *\1){2,} *$/.test(lines[at])) return [h("hr"), at + 1];
  const found = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(lines[at]);
  if (!found) return null;
  const tag = /** @type {"h1" | "h2" | "h3" | "h4" | "h5" | "h6"} */ (`h${found[1].length}`);
  return [h(tag, null, inline(found[2], options)), at + 1];
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {MarkdownOptions} options
 * @returns {Block}
 */
function table(lines, at, options) {
  if (
    !lines[at].includes("|") ||
    !/^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] ?? "") ||
    !lines[at + 1].includes("-")
  )
    return null;
  const cells = (/** @type {string} */ line) =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("\\|", "|"));
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|") && lines[end].trim() !== "") end += 1;
  const head = h(
    "tr",
    null,
    cells(lines[at]).map((cell) => h("th", null, inline(cell, options))),
  );
  const rows = lines.slice(at + 2, end).map((line) =>
    h(
      "tr",
      null,
      cells(line).map((cell) => h("td", null, inline(cell, options))),
    ),
  );
  return [
    h("div", { class: "table-scroll", tabindex: 0 }, h("table", null, h("thead", null, head), h("tbody", null, rows))),
    end,
  ];
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {MarkdownOptions} options
 * @param {number} depth
 * @returns {Block}
 */
function quote(lines, at, options, depth) {
  if (!/^ {0,3}>/.test(lines[at])) return null;
  let end = at;
  while (end < lines.length && /^ {0,3}>/.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(/^ {0,3}> ?/, ""));
  return [h("blockquote", null, blocks(inner, options, depth + 1)), end];
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {MarkdownOptions} options
 * @param {number} depth
 * @returns {Block}
 */
function list(lines, at, options, depth) {
  const marker = /^( {0,3})([-*+]|\d{1,9}[.)])(\s+|$)/;
  const first = marker.exec(lines[at]);
  if (!first) return null;
  const isOrdered = /\d/.test(first[2]);
  /** @type {HTMLElement[]} */
  const items = [];
  let end = at;
  while (end < lines.length) {
    const found = marker.exec(lines[end]);
    if (!found || /\d/.test(found[2]) !== isOrdered) break;
    const indent = found[0].length;
    const inner = [lines[end].slice(indent)];
    end += 1;
    while (
      end < lines.length &&
      (lines[end].startsWith(" ".repeat(2)) || (lines[end].trim() === "" && lines[end + 1]?.startsWith("  ")))
    ) {
      inner.push(lines[end].replace(new RegExp(`^ {0,${indent}}`), ""));
      end += 1;
    }
    const isShort = inner.length === 1;
    items.push(h("li", null, isShort ? inline(inner[0], options) : blocks(inner, options, depth + 1)));
    while (end < lines.length && lines[end].trim() === "" && marker.test(lines[end + 1] ?? "")) end += 1;
  }
  return [isOrdered ? h("ol", { start: Number.parseInt(first[2], 10) }, items) : h("ul", null, items), end];
}

/**
 * Marks of pages; other comments are not shown.
 * @param {string[]} lines
 * @param {number} at
 * @returns {Block}
 */
function comment(lines, at) {
  const found = /^<!--\s*(.*?)\s*-->\s*$/.exec(lines[at]);
  return found ? [h("div", { class: "page-mark" }, found[1]), at + 1] : null;
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {MarkdownOptions} options
 * @returns {[HTMLElement, number]}
 */
function paragraph(lines, at, options) {
  let end = at + 1;
  while (
    end < lines.length &&
    lines[end].trim() !== "" &&
    !/^ {0,3}(#{1,6}\s|>|`{3,}|~{3,}|[-*+]\s|\d{1,9}[.)]\s|<!--)/.test(lines[end])
  )
    end += 1;
  return [h("p", null, inline(lines.slice(at, end).join("\n"), options)), end];
}

const INLINE =
  /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|!?\[((?:[^\[\]\\]|\\.)*)\]\(<?([^\s()<>]*)>?(?:\s+"[^"]*")?\)|(\*\*|__)(?=\S)([\s\S]*?\S)\5|([*_])(?=\S)([^*_\n]*?\S)\7|~~(?=\S)([^~]*?\S)~~|<((?:https?|file):[^\s<>]+)>|\\([\\`*_{}[\]()#+.!|~<>-])|( {2,}\n)/g;

/**
 * @param {string} text
 * @param {MarkdownOptions} options
 * @param {number} [depth]
 * @returns {Node[]}
 */
function inline(text, options, depth = 0) {
  /** @type {Node[]} */
  const nodes = [];
  if (depth > MAX_DEPTH || text.length > MAX_INLINE) return markedNodes(text, options.marks);
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > end) nodes.push(...markedNodes(text.slice(end, found.index), options.marks));
    nodes.push(inlineNode(found, options, depth));
    end = found.index + found[0].length;
  }
  if (end < text.length) nodes.push(...markedNodes(text.slice(end), options.marks));
  return nodes;
}

/**
 * @param {RegExpMatchArray} found
 * @param {MarkdownOptions} options
 * @param {number} depth
 * @returns {Node}
 */
function inlineNode(found, options, depth) {
  const [whole, , code, label, href, , strong, , em, gone, auto, escaped, broken] = found;
  if (code !== undefined) return h("code", null, code);
  if (label !== undefined) return anchor(inline(label || href, options, depth + 1), href, options);
  if (strong !== undefined) return h("strong", null, inline(strong, options, depth + 1));
  if (em !== undefined) {
    // In the middle of a word an underscore is one: `read_resource_now`.
    if (whole.startsWith("_") && /\w/.test((found.input ?? "").charAt((found.index ?? 0) - 1)))
      return document.createTextNode(whole);
    return h("em", null, inline(em, options, depth + 1));
  }
  if (gone !== undefined) return h("del", null, inline(gone, options, depth + 1));
  if (auto !== undefined) return anchor([document.createTextNode(auto)], auto, options);
  if (escaped !== undefined) return document.createTextNode(escaped);
  return broken !== undefined ? h("br") : document.createTextNode(whole);
}

/**
 * @param {Node[]} label
 * @param {string} href
 * @param {MarkdownOptions} options
 */
function anchor(label, href, options) {
  const link = options.link(href);
  if (!link) return h("span", { class: "dead-link", title: href }, label);
  const isWeb = /^https?:/i.test(link);
  return h("a", { href: link, target: isWeb ? "_blank" : undefined, rel: "noopener noreferrer" }, label);
}
