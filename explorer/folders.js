// The folders that the page has opened: their members, loaded page by page in the background.

import { messageOf } from "./dom.js";
import { Emitter } from "./emitter.js";
import { Folder } from "./folder.js";
import { lastSegment } from "./format.js";
import { groupItems, groupName } from "./groups.js";
import { t } from "./i18n.js";
import { EndlessList, Paging, readAll } from "./paging.js";
import { MOUNTS_URI } from "./resources.js";
import { McpError } from "./wire.js";

/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./folder.js").FolderPage} FolderPage */
/** @typedef {import("./folder.js").PageSource} PageSource */

/** Rows beyond this are not loaded. */
const MAX_ROWS = 500_000;

/** Between two loads that changes cause, a folder rests this many times as long as the last one took. */
const REST = 5;

/** Rows of the plain list that are read to find names in them, where the tree does not hold it. */
const NAMED_ROWS = 5_000;

/** The list of a server without collections. */
const PLAIN = "plain:";

/** Changed resources that are marked. */
const MAX_MARKS = 1000;

/** What the views are told at most, in milliseconds: a page takes less. */
const NOTIFY_DELAY = 120;

/**
 * Emits `change` with a folder, `roots`, and `mark` when other URIs count as changed.
 */
export class FolderStore extends Emitter {
  /** @type {Map<string, Folder>} */
  #folders = new Map();
  /** @type {Item[]} */
  roots = [];
  /** @type {import("./types.js").MountStatus[]} */
  mounts = [];
  /** URIs that changed since the page looked at them. @type {Set<string>} */
  changed = new Set();
  /** @type {Set<Folder>} */
  #dirty = new Set();
  #timer = 0;
  /** How many looks at the top there were, and which of them is shown. */
  #looks = 0;
  #shownLook = 0;
  isRooted = false;
  /** Why there is nothing at the top, or not all of it. */
  problem = "";
  /** Each resource of a server without collections, and its group. @type {Map<string, { item: Item, group: string }>} */
  #places = new Map();

  /** @param {import("./resources.js").ResourceApi} api */
  constructor(api) {
    super();
    this.api = api;
  }

  /**
   * Resolves once it is known what stands at the top.
   * @returns {Promise<void>}
   */
  whenRooted() {
    if (this.isRooted) return Promise.resolve();
    return new Promise((resolve) => {
      const off = this.on("roots", () => {
        off();
        resolve();
      });
    });
  }

  /** Finds what stands at the top of the tree. A look that ends behind a later one changes nothing. */
  async loadRoots() {
    const look = (this.#looks += 1);
    const mounts = await this.api.mounts();
    const canFilter = mounts !== null && (await this.api.hasTool("resources_list"));
    if (look < this.#shownLook) return;
    this.#shownLook = look;
    // One that could not say its state has not moved.
    const known = new Map(this.mounts.map((mount) => [mount.name, mount.root]));
    for (const mount of mounts ?? []) if (mount.state === "unknown") mount.root ??= known.get(mount.name) ?? null;
    this.mounts = mounts ?? [];
    this.problem = "";
    if (mounts) {
      // Says when a mount comes, goes or changes its state.
      this.api.client.subscribe(MOUNTS_URI);
      this.roots = mounts.map((mount) => this.#mountRoot(mount, canFilter));
      if (this.api.hasBaskets && canFilter) {
        this.#define("baskets:", t("baskets"), (cursor) => this.api.listByTool({ uri: "basket://*" }, cursor));
        this.roots.push({ uri: "baskets:", name: t("baskets"), isCollection: true });
      }
      this.roots.push({ uri: MOUNTS_URI, name: "refdesk", isCollection: true });
    } else if (this.api.hasResources) {
      await this.#loadPlain();
    }
    this.isRooted = true;
    this.emit("roots");
  }

  /**
   * @param {import("./types.js").MountStatus} mount
   * @param {boolean} canFilter
   * @returns {Item}
   */
  #mountRoot(mount, canFilter) {
    if (mount.root && mount.root.includes("://")) {
      return { uri: mount.root, name: mount.name, isCollection: true };
    }
    const id = `mount:${mount.name}`;
    const prefix = mount.root ?? "";
    this.#define(id, mount.name, async (cursor) => {
      if (canFilter) return this.api.listByTool({ mount: mount.name }, cursor);
      const { items, next } = await this.api.list(null, cursor);
      const own = items.filter((item) => prefix !== "" && item.uri.startsWith(prefix));
      return { items: own, next, listed: items.length };
    });
    return { uri: id, name: mount.name, isCollection: true };
  }

  /** A server without collections: the plain list, first its beginning and then all of it. */
  async #loadPlain() {
    const plain = this.#define(PLAIN, "", (cursor) => this.api.list(null, cursor));
    if (plain.isComplete) await this.reload(plain);
    else await this.open(plain);
    // Without a network it is worth another try.
    if (plain.error instanceof TypeError) throw plain.error;
    this.#groupPlain();
  }

  /** Groups the plain list by the segments of its URIs. */
  #groupPlain() {
    const plain = this.folder(PLAIN);
    this.problem = plain.error ? messageOf(plain.error) : "";
    const { groups, places } = groupItems(plain.items);
    this.#places = places;
    this.roots = groups.get("") ?? [];
    for (const folder of this.#folders.values()) {
      const items = folder.id.startsWith("group:") && groups.get(folder.id.slice(6));
      // What is shown of a group that is gone becomes empty.
      if (items === undefined && folder.items.length > 0) this.#setGroup(folder, []);
    }
    for (const [prefix, items] of groups) {
      if (prefix) this.#setGroup(this.#define(`group:${prefix}`, groupName(prefix), noPage), items);
    }
  }

  /**
   * @param {Folder} folder
   * @param {Item[]} items
   */
  #setGroup(folder, items) {
    [folder.items, folder.isComplete] = [items, true];
    folder.version += 1;
    this.#notify(folder);
  }

  /**
   * The row of a resource, of a server without collections.
   * @param {string} uri
   */
  listed(uri) {
    return this.#places.get(uri)?.item;
  }

  /**
   * The plain list: as far as it is loaded, or its beginning.
   * @returns {Promise<Item[]>}
   */
  async plainItems() {
    await this.whenRooted();
    const plain = this.#folders.get(PLAIN);
    return plain ? plain.items : readAll((cursor) => this.api.list(null, cursor), NAMED_ROWS);
  }

  /**
   * Says where a folder comes from; one that is known keeps its rows.
   * @param {string} id
   * @param {string} name
   * @param {PageSource} source
   */
  #define(id, name, source) {
    const folder = this.#folders.get(id) ?? new Folder(id, name, source);
    [folder.name, folder.source] = [name, source];
    this.#folders.set(id, folder);
    return folder;
  }

  /**
   * The folder of a collection, which may not be loaded yet.
   * @param {string} id
   */
  folder(id) {
    return this.#folders.get(id) ?? this.#define(id, lastSegment(id), (cursor) => this.api.list(id, cursor));
  }

  /**
   * Whether this is a folder that no server knows: a group, or the list of a mount.
   * @param {string} id
   */
  isVirtual(id) {
    return /^(mount|group|baskets|plain):/.test(id) && this.#folders.has(id);
  }

  /**
   * Loads a folder to its end, unless that has begun. Resolves after its first page.
   * @param {Folder} folder
   * @returns {Promise<void>}
   */
  open(folder) {
    if (folder.isComplete || folder.isLoading) return Promise.resolve();
    if (!this.isVirtual(folder.id)) this.api.client.subscribe(folder.id);
    // A cursor that the server refused once is refused again.
    if (folder.error instanceof McpError || folder.error instanceof EndlessList)
      [folder.items, folder.cursor, folder.paging] = [[], "", new Paging()];
    folder.isLoading = true;
    const started = Date.now();
    return this.#loadPage(folder).then(() => void this.#loadRest(folder, started));
  }

  /** @param {Folder} folder */
  async #loadPage(folder) {
    folder.error = null;
    try {
      const page = await folder.source(folder.cursor);
      for (const item of page.items) folder.items.push(item);
      folder.cursor = page.next;
      folder.isComplete = page.next === "" || folder.items.length >= MAX_ROWS;
      folder.paging.note(page.listed ?? page.items.length, page.next);
    } catch (error) {
      folder.error = error;
    }
    folder.version += 1;
    this.#notify(folder);
  }

  /**
   * @param {Folder} folder
   * @param {number} started
   */
  async #loadRest(folder, started) {
    const isShort = folder.isComplete;
    while (!folder.isComplete && !folder.error) await this.#loadPage(folder);
    this.#finish(folder, started);
    if (folder.id === PLAIN && !isShort) this.#showPlain();
    if (folder.isStale) this.#refresh(folder);
  }

  /**
   * @param {Folder} folder
   * @param {number} started
   */
  #finish(folder, started) {
    folder.isLoading = false;
    folder.restsUntil = Date.now() + REST * (Date.now() - started);
  }

  /** Shows the plain list as it is now. */
  #showPlain() {
    this.#groupPlain();
    this.emit("roots");
  }

  /**
   * Loads a folder again; what is shown stays until the new rows are there.
   * @param {Folder} folder
   */
  async reload(folder) {
    if (folder.isLoading) return void (folder.isStale = true);
    [folder.isLoading, folder.isStale] = [true, false];
    const started = Date.now();
    const fresh = new Folder(folder.id, folder.name, folder.source);
    while (!fresh.isComplete && !fresh.error) await this.#loadPage(fresh);
    this.#finish(folder, started);
    const before = new Set(folder.items.map((item) => item.uri));
    folder.error = fresh.error;
    if (!fresh.error) {
      const added = fresh.items.filter((item) => !before.has(item.uri));
      if (added.length > 0) this.mark(...added.slice(-MAX_MARKS).map((item) => item.uri));
      [folder.items, folder.isComplete, folder.cursor] = [fresh.items, true, ""];
    }
    folder.version += 1;
    if (folder.id === PLAIN) this.#showPlain();
    this.#notify(folder);
    if (folder.isStale) this.#refresh(folder);
  }

  /**
   * The server says that a resource changed: its folder shows it.
   * @param {string} uri
   */
  resourceUpdated(uri) {
    this.mark(uri);
    const folder = this.#folders.get(uri);
    if (folder) this.#refresh(folder);
    for (const parent of this.#folders.values()) {
      if (parent !== folder && uri.startsWith(parent.id) && parent.items.some((item) => item.uri === uri))
        this.#refresh(parent);
    }
  }

  /** The server says that its lists changed. */
  listsChanged() {
    for (const folder of this.#folders.values()) if (!folder.id.startsWith("group:")) this.#refresh(folder);
  }

  /** After a reconnect everything may be different. */
  async refreshAll() {
    await this.loadRoots().catch(() => {});
    for (const folder of this.#folders.values()) if (!/^(group|plain):/.test(folder.id)) this.#refresh(folder);
  }

  /**
   * Loads a folder again that is loaded: at once, or after its rest.
   * @param {Folder} folder
   */
  #refresh(folder) {
    if (folder.items.length === 0 && !folder.isComplete && !folder.error) return;
    const wait = folder.restsUntil - Date.now();
    if (wait <= 0) return void this.reload(folder);
    folder.isStale = true;
    folder.timer ||= window.setTimeout(() => {
      folder.timer = 0;
      if (folder.isStale) void this.reload(folder);
    }, wait);
    this.#notify(folder);
  }

  /** @param {string[]} uris that changed */
  mark(...uris) {
    for (const uri of uris) this.changed.add(uri);
    for (const oldest of this.changed) {
      if (this.changed.size <= MAX_MARKS) break;
      this.changed.delete(oldest);
    }
    this.emit("mark");
  }

  /** @param {string} uri */
  unmark(uri) {
    if (this.changed.delete(uri)) this.emit("mark");
  }

  /**
   * Tells the views of a change: at once of the first rows, then now and then.
   * @param {Folder} folder
   */
  #notify(folder) {
    if (folder.version <= 1 || folder.isComplete) return this.emit("change", folder);
    this.#dirty.add(folder);
    this.#timer ||= window.setTimeout(() => {
      this.#timer = 0;
      const dirty = [...this.#dirty];
      this.#dirty.clear();
      for (const one of dirty) this.emit("change", one);
    }, NOTIFY_DELAY);
  }

  /**
   * The folders above a resource, from its root down; empty if no root holds it.
   * @param {string} uri
   * @returns {Item[]}
   */
  ancestors(uri) {
    if (uri.startsWith("group:")) return this.#chain(uri.slice(6), "group:");
    const group = this.#places.get(uri)?.group;
    if (group)
      return [
        ...this.#chain(group, "group:"),
        { uri: `group:${group}`, name: this.folder(`group:${group}`).name, isCollection: true },
      ];
    const holds = (/** @type {Item} */ root) =>
      uri === root.uri || uri.startsWith(root.uri.endsWith("/") ? root.uri : `${root.uri}/`);
    const root = this.roots.find((one) => one.isCollection && holds(one));
    if (root) {
      const chain = [root];
      const rest = uri
        .slice(root.uri.length)
        .replace(/^\/|[?#].*$/gs, "")
        .split("/");
      let prefix = root.uri.replace(/\/$/, "");
      for (const segment of rest.slice(0, -1)) {
        prefix += `/${segment}`;
        chain.push({ uri: prefix, name: lastSegment(prefix), isCollection: true });
      }
      return uri === root.uri ? [] : chain;
    }
    const mount = this.mounts.find((one) => one.root && !one.root.includes("://") && uri.startsWith(one.root));
    if (mount) return [{ uri: `mount:${mount.name}`, name: mount.name, isCollection: true }];
    const listed = [...this.#folders.values()].find((folder) => folder.items.some((item) => item.uri === uri));
    return listed ? [{ uri: listed.id, name: listed.name, isCollection: true }] : [];
  }

  /**
   * @param {string} path
   * @param {string} scheme
   * @returns {Item[]}
   */
  #chain(path, scheme) {
    /** @type {Item[]} */
    const chain = [];
    for (let end = path.indexOf("/", path.indexOf("://") + 3); end >= 0; end = path.indexOf("/", end + 1)) {
      const prefix = path.slice(0, end);
      if (this.#folders.has(scheme + prefix))
        chain.push({ uri: scheme + prefix, name: groupName(prefix), isCollection: true });
    }
    return chain;
  }
}

/** The page of a folder whose rows are set. @returns {Promise<FolderPage>} */
async function noPage() {
  return { items: [], next: "" };
}
