// A folder that the page has opened: its rows, and how far they are loaded.

import { Paging } from "./paging.js";

/** @typedef {import("./types.js").Item} Item */
/** @typedef {{ items: Item[], next: string, listed?: number }} FolderPage `listed` counts rows that it leaves out too */
/** @typedef {(cursor: string) => Promise<FolderPage>} PageSource */

export class Folder {
  /** @type {Item[]} */
  items = [];
  cursor = "";
  isComplete = false;
  isLoading = false;
  /** Whether the server said that it changed, and it is not loaded again yet. */
  isStale = false;
  /** @type {unknown} */
  error = null;
  paging = new Paging();
  /** Before this time, in milliseconds since 1970, changes do not load it again. */
  restsUntil = 0;
  timer = 0;
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
