// The lines of a text resource, window by window; highlighted where the server can.

import { t } from "./i18n.js";
import { parseInert } from "./sanitize.js";

/** @typedef {{ text: string, style: string }} Segment */
/** @typedef {{ start: number, lines: Segment[][], isEnd: boolean, estimate: number }} LineWindow */

export const HIGHLIGHTED = "text/html;variant=highlighted";

/** Characters of a line that are shown. */
const MAX_LINE = 5_000;

export class TextSource {
  /** The whole text, if the server knows no windows. @type {string[] | null} */
  #whole = null;

  /**
   * @param {import("./resources.js").ResourceApi} api
   * @param {string} uri
   * @param {{ accept?: string[], isHighlighted: boolean, section?: Record<string, any> }} options
   */
  constructor(api, uri, options) {
    this.api = api;
    this.uri = uri;
    this.options = options;
  }

  /** Forgets what it keeps, after a change. */
  forget() {
    this.#whole = null;
  }

  /**
   * @param {number} start the first line, counted from 1
   * @param {number} count
   * @returns {Promise<LineWindow>}
   */
  async window(start, count) {
    if (this.#whole) return this.#slice(start, count);
    if (this.options.isHighlighted) {
      try {
        return await this.#highlighted(start, count);
      } catch {
        // A text that is too long to highlight is shown as it is.
        this.options.isHighlighted = false;
      }
    }
    const window = { start_line: start, max_lines: count, ...this.options.section };
    const parts = await this.api.read(this.uri, { accept: this.options.accept, window });
    const part = parts.find((one) => one.text !== undefined);
    if (!part) throw new Error(t("noText"));
    if (!part.window) {
      this.#whole = splitLines(part.text ?? "");
      return this.#slice(start, count);
    }
    const lines = splitLines(part.text ?? "").map((text) => [{ text: cut(text), style: "" }]);
    return measured(start, lines, part.window);
  }

  /**
   * @param {number} start
   * @param {number} count
   */
  async #highlighted(start, count) {
    const window = { start_line: start, max_lines: count };
    const [part] = await this.api.read(this.uri, { accept: [HIGHLIGHTED], window });
    if (!part?.window || part.text === undefined || !part.mime.startsWith("text/html"))
      throw new Error("no highlighting");
    const lines = [...parseInert(part.text).querySelectorAll(".hl-line")].map(segmentsOf);
    if (lines.length === 0 && start === 1) throw new Error("no lines");
    return measured(start, lines, part.window);
  }

  /**
   * @param {number} start
   * @param {number} count
   * @returns {LineWindow}
   */
  #slice(start, count) {
    const whole = this.#whole ?? [];
    const lines = whole.slice(start - 1, start - 1 + count).map((text) => [{ text: cut(text), style: "" }]);
    return { start, lines, isEnd: start - 1 + count >= whole.length, estimate: whole.length };
  }
}

/**
 * A window, with a guess of how many lines there are in all.
 * @param {number} start
 * @param {Segment[][]} lines
 * @param {any} window
 * @returns {LineWindow}
 */
function measured(start, lines, window) {
  const isEnd = Boolean(window.eof) || lines.length === 0;
  const seen = start - 1 + lines.length;
  if (isEnd) return { start, lines, isEnd, estimate: seen };
  const rest = Math.max(0, Number(window.total) - Number(window.next ?? 0));
  const perLine = Math.max(1, Number(window.length) / Math.max(1, lines.length));
  return { start, lines, isEnd, estimate: Math.max(seen + 1, seen + Math.round(rest / perLine) || 0) };
}

/**
 * The pieces of a highlighted line: text, and the name of its style.
 * @param {Element} line
 * @returns {Segment[]}
 */
function segmentsOf(line) {
  /** @type {Segment[]} */
  const segments = [];
  let length = 0;
  /** @type {(node: Node, style: string) => void} */
  const walk = (node, style) => {
    for (const child of node.childNodes) {
      if (child instanceof Text) {
        const text = child.data.replace(/\r?\n$/, "").slice(0, MAX_LINE - length);
        length += text.length;
        if (text) segments.push({ text, style });
      } else if (child instanceof Element) {
        const own = [...child.classList].find((name) => /^hl-[a-z]+$/.test(name));
        walk(child, own ?? style);
      }
    }
  };
  walk(line, "");
  return segments;
}

/** @param {string} text */
export function splitLines(text) {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.length > 1 && lines[lines.length - 1] === "") lines.pop();
  return lines;
}

/** @param {string} text */
function cut(text) {
  return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}…` : text;
}
