// The folders that the page has opened: their members, loaded page by page in the background.

import { Emitter } from "./emitter.js";
import { lastSegment } from "./format.js";
import { t } from "./i18n.js";
import { McpError } from "./mcp.js";
import { MOUNTS_URI } from "./resources.js";

/** @typedef {import("./types.js").Item} Item */
/** @typedef {(cursor: string) => Promise<{ items: Item[], next: string }>} PageSource */

/** Rows beyond this are not loaded. */
const MAX_ROWS = 500_000;

/** Folders with more rows than this do not reload themselves. */
const RELOAD_ROWS = 2_000;

/** What the views are told at most, in milliseconds: a page takes less. */
const NOTIFY_DELAY = 120;

/** One folder. */
export class Folder {
  /** @type {Item[]} */
  items = [];
  cursor = "";
  isComplete = false;
  isLoading = false;
  /** Whether the server said that it changed, and it was too long to load again. */
  isStale = false;
  /** @type {unknown} */
  error = null;
  /** Counts each change, for views that keep something. */
  version = 0;

  /**
   * @param {string} id
   * @param {string} name
   * @param {PageSource} source
   */
  constructor(id, name, source) {
    this.id = id;
    this.name = name;
    this.source = source;
  }
}

/**
 * Emits `change` with a folder, `roots`, and `mark` with a URI that changed.
 */
export class FolderStore extends Emitter {
  /** @type {Map<string, Folder>} */
  #folders = new Map();
  /** @type {Item[]} */
  roots = [];
  /** @type {import("./types.js").MountStatus[]} */
  mounts = [];
  /** URIs that changed since the page looked at them. @type {Map<string, number>} */
  changed = new Map();
  /** @type {Set<Folder>} */
  #dirty = new Set();
  #timer = 0;
  isRooted = false;
  /** The group of each resource of a server without collections. @type {Map<string, string>} */
  #groups = new Map();

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

  /** Finds what stands at the top of the tree. */
  async loadRoots() {
    const mounts = await this.api.mounts();
    this.mounts = mounts ?? [];
    if (mounts) {
      const canFilter = await this.api.hasTool("resources_list");
      this.roots = mounts.map((mount) => this.#mountRoot(mount, canFilter));
      if (this.api.hasBaskets && canFilter) {
        this.#add("baskets:", t("baskets"), (cursor) => this.api.listByTool({ uri: "basket://*" }, cursor));
        this.roots.push({ uri: "baskets:", name: t("baskets"), isCollection: true });
      }
      this.roots.push({ uri: MOUNTS_URI, name: "refdesk", isCollection: true });
    } else {
      await this.#loadGroups();
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
    this.#add(id, mount.name, async (cursor) => {
      if (canFilter) return this.api.listByTool({ mount: mount.name }, cursor);
      const page = await this.api.list(null, cursor);
      return { ...page, items: page.items.filter((item) => prefix !== "" && item.uri.startsWith(prefix)) };
    });
    return { uri: id, name: mount.name, isCollection: true };
  }

  /** A server without collections: the plain list, grouped by the segments of its URIs. */
  async #loadGroups() {
    /** @type {Item[]} */
    const all = [];
    for (let cursor = ""; ;) {
      const page = await this.api.list(null, cursor);
      all.push(...page.items);
      cursor = page.next;
      if (!cursor || all.length >= MAX_ROWS) break;
    }
    /** @type {Map<string, Item[]>} */
    const groups = new Map([["", []]]);
    this.#groups.clear();
    for (const item of all) this.#group(groups, item);
    for (const [prefix, items] of groups) {
      if (prefix) this.#add(`group:${prefix}`, lastSegment(prefix), async () => ({ items, next: "" }));
    }
    this.roots = groups.get("") ?? [];
  }

  /**
   * @param {Map<string, Item[]>} groups
   * @param {Item} item
   */
  #group(groups, item) {
    const found = /^([a-z][a-z0-9+.-]*:\/\/[^/]*)((?:\/[^/]+)*?)(?:\/[^/]*)?$/i.exec(item.uri);
    let parent = "";
    let prefix = found?.[1] ?? "";
    const segments = found ? ["", ...found[2].split("/").slice(1, 33)] : [];
    for (const segment of segments) {
      if (segment) prefix += `/${segment}`;
      if (!groups.has(prefix)) {
        groups.set(prefix, []);
        const name = segment ? lastSegment(prefix) : prefix;
        groups.get(parent)?.push({ uri: `group:${prefix}`, name, isCollection: true });
      }
      parent = prefix;
    }
    groups.get(parent)?.push(item);
    this.#groups.set(item.uri, parent);
  }

  /**
   * @param {string} id
   * @param {string} name
   * @param {PageSource} source
   */
  #add(id, name, source) {
    const folder = new Folder(id, name, source);
    this.#folders.set(id, folder);
    return folder;
  }

  /**
   * The folder of a collection, which may not be loaded yet.
   * @param {string} id
   */
  folder(id) {
    return this.#folders.get(id) ?? this.#add(id, lastSegment(id), (cursor) => this.api.list(id, cursor));
  }

  /**
   * Whether this is a folder that no server knows: a group, or the list of a mount.
   * @param {string} id
   */
  isVirtual(id) {
    return /^(mount|group|baskets):/.test(id) && this.#folders.has(id);
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
    if (folder.error instanceof McpError) [folder.items, folder.cursor] = [[], ""];
    folder.isLoading = true;
    return this.#loadPage(folder).then(() => void this.#loadRest(folder));
  }

  /** @param {Folder} folder */
  async #loadPage(folder) {
    folder.error = null;
    try {
      const page = await folder.source(folder.cursor);
      for (const item of page.items) folder.items.push(item);
      folder.cursor = page.next;
      folder.isComplete = page.next === "" || folder.items.length >= MAX_ROWS;
    } catch (error) {
      folder.error = error;
    }
    folder.version += 1;
    this.#notify(folder);
  }

  /** @param {Folder} folder */
  async #loadRest(folder) {
    while (!folder.isComplete && !folder.error) await this.#loadPage(folder);
    folder.isLoading = false;
    if (folder.isStale) this.#refresh(folder);
  }

  /**
   * Loads a folder again; what is shown stays until the new rows are there.
   * @param {Folder} folder
   */
  async reload(folder) {
    if (folder.isLoading) return void (folder.isStale = true);
    folder.isLoading = true;
    const fresh = new Folder(folder.id, folder.name, folder.source);
    while (!fresh.isComplete && !fresh.error) await this.#loadPage(fresh);
    folder.isLoading = false;
    const before = new Set(folder.items.map((item) => item.uri));
    folder.error = fresh.error;
    folder.isStale = false;
    if (!fresh.error) {
      for (const item of fresh.items) if (!before.has(item.uri)) this.mark(item.uri);
      [folder.items, folder.isComplete, folder.cursor] = [fresh.items, true, ""];
    }
    folder.version += 1;
    this.#notify(folder);
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

  /** @param {Folder} folder */
  #refresh(folder) {
    if (folder.items.length === 0 && !folder.isComplete && !folder.error) return;
    if (folder.items.length <= RELOAD_ROWS) {
      void this.reload(folder);
    } else {
      folder.isStale = true;
      this.#notify(folder);
    }
  }

  /** @param {string} uri */
  mark(uri) {
    this.changed.set(uri, Date.now());
    if (this.changed.size > 1000) this.changed.delete(this.changed.keys().next().value ?? "");
    this.emit("mark", uri);
  }

  /** @param {string} uri */
  unmark(uri) {
    if (this.changed.delete(uri)) this.emit("mark", uri);
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
    const group = this.#groups.get(uri);
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
        chain.push({ uri: scheme + prefix, name: lastSegment(prefix), isCollection: true });
    }
    return chain;
  }
}
