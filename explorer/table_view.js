// CSV and TSV as a table of any length.

import { h } from "./dom.js";
import { number } from "./format.js";
import { t } from "./i18n.js";
import { VirtualList } from "./virtual.js";

const ROW_HEIGHT = 28;
const MAX_COLUMNS = 200;

/**
 * @param {string} text
 * @param {string} separator
 * @returns {string[][]}
 */
export function parseTable(text, separator) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  let at = 0;
  const source = text.replace(/^\ufeff/, "");
  while (at <= source.length) {
    let field = "";
    if (source[at] === '"') {
      at += 1;
      for (;;) {
        const end = source.indexOf('"', at);
        if (end < 0) {
          field += source.slice(at);
          at = source.length;
          break;
        }
        field += source.slice(at, end);
        at = end + 1;
        if (source[at] !== '"') break;
        field += '"';
        at += 1;
      }
    }
    let end = at;
    while (end < source.length && source[end] !== separator && source[end] !== "\n") end += 1;
    field += source.slice(at, end);
    row.push(field.replace(/\r$/, ""));
    if (end >= source.length || source[end] === "\n") {
      if (row.length > 1 || row[0] !== "") rows.push(row);
      row = [];
    }
    at = end + 1;
  }
  return rows;
}

export class TableView {
  /**
   * @param {string[][]} rows the first one holds the names
   * @param {boolean} isCut whether there is more than this
   */
  constructor(rows, isCut) {
    const [head = [], ...body] = rows;
    const columns = Math.min(MAX_COLUMNS, Math.max(head.length, ...body.slice(0, 100).map((row) => row.length), 1));
    /** @type {string[]} */
    const widths = [];
    for (let at = 0; at < columns; at += 1) {
      const longest = Math.max(...rows.slice(0, 100).map((row) => (row[at] ?? "").length));
      widths.push(`${Math.min(40, Math.max(6, longest + 3))}ch`);
    }
    const template = `4rem ${widths.join(" ")}`;
    const line = (/** @type {string[]} */ cells, /** @type {string} */ role, /** @type {number} */ index) => {
      const row = h(
        "div",
        { class: "table-row", role: "row", "aria-rowindex": index + 1 },
        h(
          "div",
          { class: "table-cell index", role: index === 0 ? "columnheader" : "rowheader" },
          index === 0 ? "#" : number(index),
        ),
        Array.from({ length: columns }, (_, at) =>
          h("div", { class: "table-cell", role, title: cells[at] ?? "" }, (cells[at] ?? "").slice(0, 500)),
        ),
      );
      row.style.gridTemplateColumns = template;
      return row;
    };
    this.list = new VirtualList({
      rowHeight: ROW_HEIGHT,
      render: (index) => line(body[index], "cell", index + 1),
      role: "rowgroup",
      className: "table-body",
    });
    this.list.element.tabIndex = 0;
    const header = line(head, "columnheader", 0);
    header.classList.add("table-head");
    this.list.element.insertBefore(header, this.list.sizer);
    this.list.sizer.style.minWidth = `calc(4rem + ${widths.join(" + ")})`;
    this.element = h(
      "div",
      { class: "table-view", role: "table", "aria-rowcount": rows.length, "aria-label": t("tableLabel") },
      isCut && h("p", { class: "note" }, t("tableCut", { count: number(body.length) })),
      this.list.element,
    );
    this.list.setCount(body.length);
  }

  destroy() {
    this.list.destroy();
  }
}
