// The tree of mounts and folders: lazy, virtual, by mouse and by keyboard (WAI-ARIA tree).

import { fill, h, icon } from "./dom.js";
import { t } from "./i18n.js";
import { goTo, linkTo } from "./router.js";
import { rowForKey, VirtualList } from "./virtual.js";

/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./folder.js").Folder} Folder */

/**
 * A visible row: a resource, or a note about its folder.
 * @typedef {object} TreeRow
 * @property {Item} item
 * @property {number} level
 * @property {number} position
 * @property {number} siblings
 * @property {Folder} [note] the folder that is loading or failed
 */

const ROW_HEIGHT = 28;

/** How long typed letters make one word, in milliseconds. */
const TYPE_AHEAD = 700;

export class TreeView {
  /** @type {TreeRow[]} */
  #rows = [];
  /** @type {Set<string>} */
  #expanded = new Set();
  #selected = "";
  #typed = "";
  #typedAt = 0;

  /** @param {import("./folders.js").FolderStore} store */
  constructor(store) {
    this.store = store;
    this.list = new VirtualList({
      rowHeight: ROW_HEIGHT,
      render: (index) => this.#render(index),
      update: (row, index) => this.#update(row, index),
      role: "tree",
      label: t("treeLabel"),
      className: "tree",
    });
    this.element = this.list.element;
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("click", (event) => this.#onClick(event));
    this.offs = [
      store.on("roots", () => this.#rebuild()),
      store.on("change", (/** @type {Folder} */ folder) => {
        if (this.#expanded.has(folder.id)) this.#rebuild();
      }),
      store.on("mark", () => this.list.refresh()),
    ];
    this.#rebuild();
  }

  destroy() {
    for (const off of this.offs) off();
    this.list.destroy();
  }

  /** Which folders are open, to open them again. */
  get expanded() {
    return this.#expanded;
  }

  /** @param {Iterable<string>} ids */
  restore(ids) {
    for (const id of ids) this.#expanded.add(id);
    this.#rebuild();
  }

  #rebuild() {
    const activeUri = this.#rows[this.list.active]?.item.uri;
    /** @type {TreeRow[]} */
    const rows = [];
    this.#walk(this.store.roots, 1, rows, new Set());
    this.#rows = rows;
    const wanted = activeUri ?? this.#selected;
    const at = rows.findIndex((row) => row.item.uri === wanted && !row.note);
    this.list.setActive(at >= 0 ? at : rows.length > 0 ? 0 : -1);
    this.list.setCount(rows.length);
  }

  /**
   * @param {Item[]} items
   * @param {number} level
   * @param {TreeRow[]} rows
   * @param {Set<string>} above a folder that holds itself is not opened again
   */
  #walk(items, level, rows, above) {
    for (let at = 0; at < items.length; at += 1) {
      const item = items[at];
      rows.push({ item, level, position: at + 1, siblings: items.length });
      if (!item.isCollection || !this.#expanded.has(item.uri) || above.has(item.uri)) continue;
      const folder = this.store.folder(item.uri);
      this.#walk(folder.items, level + 1, rows, new Set(above).add(item.uri));
      if (!folder.isComplete) {
        rows.push({ item, level: level + 1, position: 1, siblings: 1, note: folder });
      }
    }
  }

  /** @param {number} index */
  #render(index) {
    const row = h(
      "div",
      { role: "treeitem" },
      h("span", { class: "twisty" }, icon("chevron")),
      h("span", { class: "kind" }),
      h("span", { class: "row-name" }),
      h("span", { class: "dot" }),
    );
    this.#update(row, index);
    return row;
  }

  /**
   * Makes a row show another place of the tree.
   * @param {HTMLElement} row
   * @param {number} index
   */
  #update(row, index) {
    const { item, level, position, siblings, note } = this.#rows[index];
    const [, kind, name, dot] = /** @type {HTMLElement[]} */ ([...row.children]);
    const isChanged = !note && this.store.changed.has(item.uri);
    const isSelected = !note && item.uri === this.#selected;
    const isFolder = !note && item.isCollection;
    const failure = note?.error ? String(/** @type {any} */ (note.error).message ?? note.error) : "";
    const text = note ? failure || t("loading") : item.name;
    const marks = [
      isSelected && "selected",
      isChanged && "changed",
      isFolder && "folder",
      note && "note",
      failure && "failed",
    ];
    set(row, "class", ["tree-row virtual-row", ...marks.filter(Boolean)].join(" "));
    set(row, "aria-level", level);
    set(row, "aria-posinset", position);
    set(row, "aria-setsize", siblings);
    set(row, "aria-selected", isSelected);
    set(row, "aria-expanded", isFolder ? this.#expanded.has(item.uri) : null);
    set(row, "title", note ? text : item.uri);
    set(row, "tabindex", index === this.list.active ? 0 : -1);
    set(row, "data-index", index);
    row.style.setProperty("--level", String(level));
    if (name.textContent !== text) name.textContent = text;
    const wanted = note ? "" : level === 1 ? "mount" : item.isCollection ? "folder" : "file";
    if (kind.dataset.icon !== wanted) {
      kind.dataset.icon = wanted;
      fill(kind, wanted ? icon(/** @type {import("./dom.js").IconName} */ (wanted)) : null);
    }
    const mark = isChanged ? "changed" : note ? null : this.#stateDot(item, level)?.state;
    if (dot.dataset.state !== (mark ?? "")) {
      dot.dataset.state = mark ?? "";
      fill(dot, mark ? h("span", { class: "hidden" }, mark === "changed" ? t("changedMark") : mark) : null);
    }
  }

  /**
   * @param {Item} item
   * @param {number} level
   */
  #stateDot(item, level) {
    if (level !== 1) return undefined;
    const isRoot = (/** @type {import("./types.js").MountStatus} */ mount) =>
      (mount.root ?? "") === item.uri || `mount:${mount.name}` === item.uri;
    const mount = this.store.mounts.find(isRoot);
    return mount?.state === "ready" ? undefined : mount;
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const target = event.target instanceof Element ? event.target : null;
    const index = Number(target?.closest("[data-index]")?.getAttribute("data-index") ?? -1);
    const row = this.#rows[index];
    if (!row) return;
    const { item, note } = row;
    if (note) return void (note.error && this.store.open(note));
    this.list.activate(index);
    const isOpen = this.#expanded.has(item.uri);
    const isTwisty = Boolean(target?.closest(".twisty"));
    if (item.isCollection && (isTwisty || !isOpen || item.uri === this.#selected)) this.toggle(item.uri);
    if (!isTwisty || !item.isCollection) goTo(linkTo(item.uri));
  }

  /** @param {string} id */
  toggle(id) {
    if (this.#expanded.has(id)) this.#expanded.delete(id);
    else this.expand(id);
    this.#rebuild();
  }

  /**
   * @param {string} id
   * @returns {Promise<void>}
   */
  expand(id) {
    this.#expanded.add(id);
    const opened = this.store.open(this.store.folder(id));
    this.#rebuild();
    return opened;
  }

  /**
   * Opens the folders above a resource and marks it as the one that is shown.
   * @param {string} uri
   */
  async reveal(uri) {
    this.#selected = uri;
    this.list.refresh();
    for (const ancestor of this.store.ancestors(uri)) {
      if (this.#selected !== uri) return;
      if (!this.#expanded.has(ancestor.uri)) await this.expand(ancestor.uri);
    }
    const at = this.#rows.findIndex((row) => row.item.uri === uri && !row.note);
    if (at < 0 || this.#selected !== uri) return;
    this.list.setActive(at);
    this.list.scrollTo(at);
    this.list.refresh();
  }

  /** Gives the keyboard to the tree. */
  focus() {
    this.list.activate(Math.max(0, this.list.active));
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const row = this.#rows[this.list.active];
    const target = rowForKey(event, this.list);
    if (target >= 0) this.list.activate(target);
    else if (!row) return;
    else if (event.key === "ArrowRight") this.#goRight(row);
    else if (event.key === "ArrowLeft") this.#goLeft(row);
    else if (event.key === "Enter" || event.key === " ") {
      if (row.note) this.store.open(row.note);
      else goTo(linkTo(row.item.uri));
    } else if (event.key === "*") this.#openSiblings(row);
    else if (event.key.length === 1 && !this.#isPageKey(event.key)) this.#typeAhead(event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {TreeRow} row */
  #goRight(row) {
    if (!row.item.isCollection || row.note) return;
    if (!this.#expanded.has(row.item.uri)) this.toggle(row.item.uri);
    else if ((this.#rows[this.list.active + 1]?.level ?? 0) > row.level) this.list.activate(this.list.active + 1);
  }

  /** @param {TreeRow} row */
  #goLeft(row) {
    if (row.item.isCollection && this.#expanded.has(row.item.uri) && !row.note) return this.toggle(row.item.uri);
    for (let at = this.list.active - 1; at >= 0; at -= 1) {
      if (this.#rows[at].level < row.level) return this.list.activate(at);
    }
  }

  /** @param {TreeRow} row */
  #openSiblings(row) {
    const siblings = this.#rows.filter((one) => one.level === row.level && one.item.isCollection && !one.note);
    for (const one of siblings.slice(0, 50)) this.expand(one.item.uri);
  }

  /**
   * Whether a key means the same everywhere in the page, and so begins no name.
   * @param {string} key
   */
  #isPageKey(key) {
    return "/?".includes(key) || ("1234".includes(key) && Date.now() - this.#typedAt > TYPE_AHEAD);
  }

  /** @param {string} letter */
  #typeAhead(letter) {
    this.#typed = Date.now() - this.#typedAt > TYPE_AHEAD ? letter : this.#typed + letter;
    this.#typedAt = Date.now();
    const typed = this.#typed.toLowerCase();
    const first = this.list.active + (typed.length === 1 ? 1 : 0);
    for (let step = 0; step < this.#rows.length; step += 1) {
      const at = (first + step) % this.#rows.length;
      if (this.#rows[at].item.name.toLowerCase().startsWith(typed)) return this.list.activate(at);
    }
  }
}

/**
 * Sets an attribute, if it is not that already: each write costs a new layout.
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | null} value
 */
function set(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}
