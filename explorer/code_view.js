// Text with line numbers; windows of it are read as they scroll into view.

import { errorBox, fill, h, messageOf } from "./dom.js";
import { t } from "./i18n.js";
import { linkTo } from "./router.js";
import { markedNodes } from "./sanitize.js";
import { VirtualList } from "./virtual.js";

/** @typedef {import("./text_source.js").Segment} Segment */

const LINE_HEIGHT = 20;
const CHUNK = 400;

/** Chunks that are kept; the others are read again. */
const MAX_CHUNKS = 60;

export class CodeView {
  /** @type {Map<number, Segment[][]>} */
  #chunks = new Map();
  /** @type {Set<number>} */
  #loading = new Set();
  #total = 1;
  #isExact = false;
  #widest = 0;
  #target;
  #isDestroyed = false;

  /**
   * @param {import("./text_source.js").TextSource} source
   * @param {{ line?: number, marks: RegExp | null }} options
   */
  constructor(source, { line, marks }) {
    this.source = source;
    this.marks = marks;
    this.#target = line ?? 0;
    this.list = new VirtualList({
      rowHeight: LINE_HEIGHT,
      render: (index) => this.#render(index),
      onRange: (first, last) => this.#want(first, last),
      role: "region",
      label: t("textOf", { uri: source.uri }),
      className: "code",
    });
    this.list.element.tabIndex = 0;
    this.problem = h("div", null);
    this.element = h("div", { class: "code-view" }, this.problem, this.list.element);
    this.#start();
  }

  destroy() {
    this.#isDestroyed = true;
    this.list.destroy();
  }

  async #start() {
    // The lines before the target are there too, when a person scrolls up.
    if (this.#target > CHUNK) this.#setTotal(this.#target + 20, false);
    await this.#load(Math.floor((Math.max(1, this.#target) - 1) / CHUNK));
    if (this.#target > 0) requestAnimationFrame(() => this.list.scrollTo(this.#target - 1, "center"));
  }

  /** Reads it again and keeps the place. */
  async reload() {
    this.source.forget();
    this.#chunks.clear();
    this.#isExact = false;
    await this.#load(Math.floor(this.list.firstVisible / CHUNK));
    this.list.refresh();
  }

  /**
   * Shows another line.
   * @param {number} line
   */
  goTo(line) {
    this.#target = line;
    if (!this.#isExact && line > this.#total) this.#setTotal(line + 20, false);
    this.list.scrollTo(line - 1, "center");
    this.list.refresh();
  }

  /**
   * @param {number} first
   * @param {number} last
   */
  #want(first, last) {
    for (let chunk = Math.floor(first / CHUNK); chunk <= Math.floor(last / CHUNK); chunk += 1) {
      if (
        !this.#chunks.has(chunk) &&
        !this.#loading.has(chunk) &&
        this.#total > chunk * CHUNK &&
        (this.#chunks.size > 0 || this.#isExact)
      )
        this.#load(chunk);
    }
  }

  /** @param {number} chunk */
  async #load(chunk) {
    this.#loading.add(chunk);
    try {
      const window = await this.source.window(chunk * CHUNK + 1, CHUNK);
      if (this.#isDestroyed) return;
      this.#chunks.set(chunk, window.lines);
      if (this.#chunks.size > MAX_CHUNKS) this.#forgetFarthest(chunk);
      for (const line of window.lines) this.#widest = Math.max(this.#widest, width(line));
      this.list.sizer.style.minWidth = `calc(${this.#widest + 2}ch + 5.5rem)`;
      if (window.isEnd) this.#setTotal(window.estimate, true);
      else if (!this.#isExact) this.#setTotal(Math.max(window.estimate, this.#total > CHUNK ? this.#total : 0), false);
      else this.list.refresh();
      fill(this.problem);
    } catch (error) {
      if (this.#isDestroyed) return;
      // Past the end: there are fewer lines than the guess said.
      if (chunk > 0 && this.#chunks.size > 0) this.#setTotal(chunk * CHUNK, false);
      else if (chunk > 0) return void this.#load(0);
      else
        fill(
          this.problem,
          errorBox(messageOf(error), () => this.#load(chunk)),
        );
    } finally {
      this.#loading.delete(chunk);
    }
  }

  /** @param {number} chunk */
  #forgetFarthest(chunk) {
    const farthest = [...this.#chunks.keys()].reduce((one, other) =>
      Math.abs(other - chunk) > Math.abs(one - chunk) ? other : one,
    );
    this.#chunks.delete(farthest);
  }

  /**
   * @param {number} total
   * @param {boolean} isExact
   */
  #setTotal(total, isExact) {
    this.#total = Math.max(1, total);
    this.#isExact ||= isExact;
    this.list.setCount(this.#total);
  }

  /** @param {number} index */
  #render(index) {
    const line = this.#chunks.get(Math.floor(index / CHUNK))?.[index % CHUNK];
    const isTarget = index + 1 === this.#target;
    const number = h("a", {
      class: "line-number",
      href: linkTo(this.source.uri, index + 1),
      tabindex: -1,
      "aria-hidden": "true",
      "data-line": index + 1,
    });
    const text = h("code", { class: "line-text" });
    for (const { text: piece, style } of line ?? []) {
      const nodes = markedNodes(piece, this.marks);
      if (style) text.appendChild(h("span", { class: style }, nodes));
      else text.append(...nodes);
    }
    return h("div", { class: `code-line${isTarget ? " target" : ""}${line ? "" : " pending"}` }, number, text);
  }
}

/**
 * The width of a line in columns; wide characters take two.
 * @param {Segment[]} line
 */
function width(line) {
  let columns = 0;
  for (const { text } of line)
    columns +=
      text.length +
      (text.match(/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\t]/g)
        ?.length ?? 0);
  return columns;
}
