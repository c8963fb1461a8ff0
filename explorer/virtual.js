// A scrolled list of rows of one height: only what is visible is in the document.

import { h } from "./dom.js";

/** Browsers cannot make elements much higher. */
const MAX_HEIGHT = 30_000_000;

/** Rows above and below the visible ones. */
const MARGIN = 8;

/**
 * @typedef {object} VirtualOptions
 * @property {number} rowHeight
 * @property {(index: number) => HTMLElement} render
 * @property {(row: HTMLElement, index: number) => void} [update] makes a row show another index; rows are then used again
 * @property {(first: number, last: number) => void} [onRange] the rows that are visible now
 * @property {string} [role]
 * @property {string} [label]
 * @property {string} [className]
 */

export class VirtualList {
  #count = 0;
  /** @type {Map<number, HTMLElement>} */
  #rows = new Map();
  #frame = 0;
  /** The row that has the keyboard: it stays in the document, or the focus would be lost. */
  #active = -1;

  /** @param {VirtualOptions} options */
  constructor(options) {
    this.options = options;
    this.sizer = h("div", { class: "virtual-sizer", role: "presentation" });
    this.element = h(
      "div",
      { class: `virtual ${options.className ?? ""}`, role: options.role, "aria-label": options.label },
      this.sizer,
    );
    this.element.addEventListener("scroll", () => this.#schedule(), { passive: true });
    this.observer = new ResizeObserver(() => this.#schedule());
    this.observer.observe(this.element);
  }

  get count() {
    return this.#count;
  }

  /** How many pixels of the list one pixel of the scroll bar stands for. */
  get #scale() {
    return Math.max(1, (this.#count * this.options.rowHeight) / MAX_HEIGHT);
  }

  get #top() {
    return this.element.scrollTop * this.#scale;
  }

  /** How many rows fit. */
  get pageRows() {
    return Math.max(1, Math.floor(this.element.clientHeight / this.options.rowHeight) - 1);
  }

  /** The first row that is visible. */
  get firstVisible() {
    return Math.floor(this.#top / this.options.rowHeight);
  }

  /** @param {number} count */
  setCount(count) {
    this.#count = count;
    const height = Math.min(count * this.options.rowHeight, MAX_HEIGHT);
    this.sizer.style.height = `${height}px`;
    if (this.#active >= count) this.#active = count - 1;
    this.refresh();
  }

  /** Draws all visible rows again. */
  refresh() {
    const { update } = this.options;
    if (update) {
      this.draw();
      for (const [index, row] of this.#rows) update(row, index);
      return;
    }
    const hadFocus = this.element.contains(document.activeElement) && document.activeElement !== this.element;
    for (const row of this.#rows.values()) row.remove();
    this.#rows.clear();
    this.draw();
    if (hadFocus) this.#rows.get(this.#active)?.focus({ preventScroll: true });
  }

  #schedule() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.draw();
    });
  }

  /** Draws the rows that have become visible, and removes the others. */
  draw() {
    const { rowHeight, render, onRange } = this.options;
    const top = this.#top;
    const first = Math.max(0, Math.floor(top / rowHeight) - MARGIN);
    const last = Math.min(this.#count - 1, Math.ceil((top + this.element.clientHeight) / rowHeight) + MARGIN);
    const free = this.#takeOut((index) => (index < first || index > last) && index !== this.#active);
    const kept = [...this.#rows.keys()].filter((index) => index >= first && index <= last);
    const [lowest, highest] = [Math.min(...kept), Math.max(...kept)];
    const before = kept.length > 0 ? this.#rows.get(lowest) : undefined;
    for (let index = first; index <= last; index += 1) {
      if (this.#rows.has(index)) continue;
      // Rows stay in the document in the order in which they are shown.
      const place = index < lowest ? before : index > highest ? null : undefined;
      this.#put(index, free.shift() ?? render(index), kept.length > 0 ? place : undefined);
    }
    if (this.#active >= 0 && this.#active < this.#count && !this.#rows.has(this.#active))
      this.#put(this.#active, render(this.#active));
    for (const row of free) row.remove();
    if (this.#scale > 1) for (const [index, row] of this.#rows) this.#place(row, index);
    onRange?.(first, last);
  }

  /**
   * Takes rows out of the list; those that can show another index stay in the document for it.
   * @param {(index: number) => boolean} isGone
   * @returns {HTMLElement[]}
   */
  #takeOut(isGone) {
    const gone = [...this.#rows.keys()].filter(isGone).sort((a, b) => a - b);
    const rows = gone.map((index) => /** @type {HTMLElement} */ (this.#rows.get(index)));
    for (const index of gone) this.#rows.delete(index);
    if (this.options.update) return rows;
    for (const row of rows) row.remove();
    return [];
  }

  /**
   * @param {number} index
   * @param {HTMLElement} row
   * @param {HTMLElement | null} [before] where it goes in the document; `null` is the end
   */
  #put(index, row, before) {
    if (row.isConnected) this.options.update?.(row, index);
    row.classList.add("virtual-row");
    this.#place(row, index);
    this.#rows.set(index, row);
    if (before !== undefined || !row.isConnected) this.sizer.insertBefore(row, before ?? null);
  }

  /**
   * @param {HTMLElement} row
   * @param {number} index
   */
  #place(row, index) {
    const shift = this.element.scrollTop - this.#top;
    const y = index * this.options.rowHeight + (this.#scale > 1 ? shift : 0);
    row.style.transform = `translateY(${y}px)`;
  }

  /**
   * Scrolls a row into view.
   * @param {number} index
   * @param {"nearest" | "center"} [block]
   */
  scrollTo(index, block = "nearest") {
    const { rowHeight } = this.options;
    const height = this.element.clientHeight;
    const y = index * rowHeight;
    let top = this.#top;
    if (block === "center") top = y - height / 2 + rowHeight;
    else if (y < top) top = y;
    else if (y + rowHeight > top + height) top = y + rowHeight - height;
    else return;
    this.element.scrollTop = Math.max(0, top) / this.#scale;
    this.draw();
  }

  /**
   * Gives the keyboard to a row.
   * @param {number} index
   * @param {boolean} [takeFocus]
   */
  activate(index, takeFocus = true) {
    if (this.#count === 0) return;
    const next = Math.max(0, Math.min(index, this.#count - 1));
    const before = this.#rows.get(this.#active);
    if (before) before.tabIndex = -1;
    this.#active = next;
    this.scrollTo(next);
    this.draw();
    const row = this.#rows.get(next);
    if (!row) return;
    row.tabIndex = 0;
    if (takeFocus) row.focus({ preventScroll: true });
  }

  get active() {
    return this.#active;
  }

  /** @param {number} index */
  setActive(index) {
    this.#active = index;
  }

  /** @param {number} index */
  row(index) {
    return this.#rows.get(index);
  }

  destroy() {
    this.observer.disconnect();
    cancelAnimationFrame(this.#frame);
  }
}

/**
 * The row that a key leads to; -1 if the key is none of ours.
 * @param {KeyboardEvent} event
 * @param {VirtualList} list
 */
export function rowForKey(event, list) {
  switch (event.key) {
    case "ArrowDown":
      return Math.min(list.active + 1, list.count - 1);
    case "ArrowUp":
      return Math.max(list.active - 1, 0);
    case "PageDown":
      return Math.min(list.active + list.pageRows, list.count - 1);
    case "PageUp":
      return Math.max(list.active - list.pageRows, 0);
    case "Home":
      return 0;
    case "End":
      return list.count - 1;
    default:
      return -1;
  }
}
