// The members of a folder as a table: name, type, size, age, priority; sorted; any number of rows.

import { fill, h, icon, iconButton, errorBox } from "./dom.js";
import { age, date, number, size, typeName } from "./format.js";
import { t } from "./i18n.js";
import { goTo, linkTo } from "./router.js";
import { saveSettings, settings } from "./settings.js";
import { rowForKey, VirtualList } from "./virtual.js";

/** @typedef {import("./types.js").Item} Item */
/** @typedef {"name" | "type" | "size" | "age" | "priority" | "listed"} SortKey */

const ROW_HEIGHT = 32;

/** From here on names stay in the order of the server, which is that of their bytes. */
const COLLATE_ROWS = 20_000;

/** Folders with more rows than this may rest for a while before they load again, so a button does it now. */
const BUTTON_ROWS = 2_000;

const COLUMNS = /** @type {const} */ (["name", "type", "size", "age", "priority"]);

export class FolderView {
  /** @type {Item[]} */
  #rows = [];
  /** @type {SortKey} */
  #sort = "name";
  #isReversed = false;
  #filter = "";

  /**
   * @param {import("./folders.js").FolderStore} store
   * @param {string} id
   * @param {import("./basket.js").Basket} basket
   */
  constructor(store, id, basket) {
    this.store = store;
    this.basket = basket;
    this.folder = store.folder(id);
    // Commits and baskets are in an order that means something.
    this.isOrdered = /^(git|basket):/.test(id);
    const [key, order] = this.isOrdered ? ["listed", ""] : settings.sort.split(" ");
    this.#sort = this.isOrdered ? "listed" : (COLUMNS.find((one) => one === key) ?? "name");
    this.#isReversed = order === "reversed";
    this.list = new VirtualList({
      rowHeight: ROW_HEIGHT,
      render: (index) => this.#render(index),
      update: (row, index) => this.#show(row, index),
      role: "rowgroup",
      className: "rows",
    });
    this.list.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.list.element.addEventListener("click", (event) => this.#onClick(event));
    this.head = h("div", { class: "list-head", role: "row" });
    this.status = h("div", { class: "list-status", role: "status" });
    const filter = h("input", {
      type: "search",
      class: "list-filter",
      placeholder: t("filterNames"),
      "aria-label": t("filterNames"),
      oninput: () => {
        this.#filter = filter.value.toLowerCase();
        this.#update();
      },
    });
    this.table = h(
      "div",
      { class: "list-table", role: "table", "aria-label": this.folder.name },
      this.head,
      this.list.element,
    );
    this.element = h("div", { class: "list" }, h("div", { class: "list-bar" }, filter, this.status), this.table);
    this.offs = [
      store.on("change", (folder) => {
        if (folder === this.folder) this.#update();
      }),
      store.on("mark", () => this.list.refresh()),
      basket.on("change", () => this.list.refresh()),
    ];
    this.#renderHead();
    this.#update();
    store.open(this.folder);
  }

  destroy() {
    for (const off of this.offs) off();
    this.list.destroy();
  }

  focus() {
    if (this.list.count > 0) this.list.activate(Math.max(0, this.list.active));
  }

  #renderHead() {
    /** @type {Record<SortKey, import("./i18n.js").StringKey>} */
    const labels = {
      listed: "columnName",
      name: "columnName",
      type: "columnType",
      size: "columnSize",
      age: "columnAge",
      priority: "columnPriority",
    };
    fill(
      this.head,
      COLUMNS.map((key) => {
        const isSorted = key === this.#sort;
        const isDescending = this.#isReversed === (key === "name" || key === "type");
        const order = isSorted ? (isDescending ? "descending" : "ascending") : "none";
        return h(
          "div",
          { class: `cell ${key}`, role: "columnheader", "aria-sort": order },
          h(
            "button",
            { type: "button", class: isSorted ? `sorted ${order}` : "", onclick: () => this.#sortBy(key) },
            t(labels[key]),
          ),
        );
      }),
      h("div", { class: "cell action", role: "columnheader" }, h("span", { class: "hidden" }, t("basket"))),
    );
  }

  /** @param {SortKey} key */
  #sortBy(key) {
    this.#isReversed = key === this.#sort ? !this.#isReversed : false;
    this.#sort = key;
    if (!this.isOrdered) saveSettings({ sort: this.#isReversed ? `${key} reversed` : key });
    this.#renderHead();
    this.#update();
  }

  #update() {
    const { items, isComplete, error, isStale } = this.folder;
    const filter = this.#filter;
    const kept = filter ? items.filter((item) => item.name.toLowerCase().includes(filter)) : items;
    this.#rows = sortItems(kept, this.#sort, this.#isReversed);
    this.table.setAttribute("aria-rowcount", String(this.#rows.length + 1));
    // Before the rows are drawn: without an active one Tab passes the list by.
    if (this.list.active < 0 && this.#rows.length > 0) this.list.setActive(0);
    this.list.setCount(this.#rows.length);
    const count = t(items.length === 1 ? "oneResource" : "resourceCount", { count: number(items.length) });
    fill(
      this.status,
      isComplete ? count : error ? "" : t("loadingCount", { count: number(items.length) }),
      isStale &&
        items.length > BUTTON_ROWS &&
        h(
          "button",
          { type: "button", class: "button small", onclick: () => this.store.reload(this.folder) },
          icon("refresh"),
          t("changedReload"),
        ),
      error ? errorBox(error, () => this.store.open(this.folder)) : null,
    );
  }

  /** @param {number} index */
  #render(index) {
    const cell = (/** @type {string} */ name, /** @type {any} */ ...children) =>
      h("div", { class: `cell ${name}`, role: "cell" }, ...children);
    const row = h(
      "div",
      { role: "row" },
      cell("name", h("span", { class: "kind" }), h("a", { tabindex: -1, class: "row-name" }), h("span", { class: "row-mark" })),
      cell("type"),
      cell("size"),
      cell("age"),
      cell("priority"),
      cell("action"),
    );
    this.#show(row, index);
    return row;
  }

  /**
   * Makes a row show another resource.
   * @param {HTMLElement} row
   * @param {number} index
   */
  #show(row, index) {
    const item = this.#rows[index];
    const isChanged = this.store.changed.has(item.uri);
    row.className = `list-row virtual-row${isChanged ? " changed" : ""}`;
    row.tabIndex = index === this.list.active ? 0 : -1;
    row.title = item.description || item.uri;
    row.dataset.index = String(index);
    row.setAttribute("aria-rowindex", String(index + 2));
    const [name, type, bytes, changed, priority, action] = /** @type {HTMLElement[]} */ ([...row.children]);
    const [kind, link, mark] = /** @type {HTMLElement[]} */ ([...name.children]);
    setContent(kind, item.isCollection ? "folder" : "file", (wanted) => icon(wanted));
    link.setAttribute("href", linkTo(item.uri));
    link.textContent = item.name;
    setContent(mark, isChanged ? "changed" : "", () =>
      h("span", { class: "change-dot", title: t("changedMark") }, h("span", { class: "hidden" }, t("changedMark"))),
    );
    type.textContent = item.isCollection ? t("folder") : typeName(item.mime);
    bytes.textContent = size(item.size);
    changed.title = date(item.modified);
    changed.textContent = age(item.modified);
    priority.textContent = item.priority === undefined ? "" : item.priority.toFixed(1);
    const isIn = this.basket.has(item.uri);
    setContent(action, item.isCollection ? "" : isIn ? "check" : "add", (wanted) =>
      iconButton(wanted, isIn ? t("removeFromBasket") : t("addToBasket"), () => {}, {
        tabindex: -1,
        "aria-pressed": String(isIn),
      }),
    );
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const target = event.target instanceof Element ? event.target : null;
    const index = Number(target?.closest("[data-index]")?.getAttribute("data-index") ?? -1);
    const item = this.#rows[index];
    if (!item) return;
    this.list.activate(index);
    if (target?.closest("button")) this.basket.toggle(item);
    else if (!target?.closest("a")) goTo(linkTo(item.uri));
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const target = rowForKey(event, this.list);
    const item = this.#rows[this.list.active];
    if (target >= 0) this.list.activate(target);
    else if (event.key === "Enter" && item && !(event.target instanceof HTMLButtonElement)) goTo(linkTo(item.uri));
    else if (event.key === " " && item && !item.isCollection && !(event.target instanceof HTMLButtonElement))
      this.basket.toggle(item);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * Puts another content into a part of a row, if it has not that already.
 * @template {import("./dom.js").IconName | "changed" | ""} T
 * @param {HTMLElement} element
 * @param {T} wanted the name of the content; none is empty
 * @param {(wanted: Exclude<T, "" | "changed">) => Node} make
 */
function setContent(element, wanted, make) {
  if (element.dataset.content === wanted) return;
  element.dataset.content = wanted;
  fill(element, wanted ? make(/** @type {Exclude<T, "" | "changed">} */ (wanted)) : null);
}

/**
 * Sorted rows; folders stay before files where they are sorted by name.
 * @param {Item[]} items
 * @param {SortKey} key
 * @param {boolean} isReversed
 * @returns {Item[]}
 */
export function sortItems(items, key, isReversed) {
  const sign = isReversed ? -1 : 1;
  if (key === "listed") return items;
  if (key === "name") {
    if (items.length > COLLATE_ROWS) return isReversed ? items.toReversed() : items;
    const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
    return items.toSorted(
      (a, b) => Number(b.isCollection) - Number(a.isCollection) || sign * collator.compare(a.name, b.name),
    );
  }
  if (key === "type") return items.toSorted((a, b) => sign * typeName(a.mime).localeCompare(typeName(b.mime)));
  // The first click shows what is large, new or important; what has no value comes last.
  const value = (/** @type {Item} */ item) =>
    key === "size" ? item.size : key === "age" ? item.modified : item.priority;
  return items.toSorted((a, b) => {
    const [one, other] = [value(a), value(b)];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    return sign * (other - one);
  });
}
