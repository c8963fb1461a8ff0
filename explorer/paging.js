// Paging of a list: the pages of a server one after another, and an end for a server that has none.

import { t } from "./i18n.js";

/** Pages of one list, and pages without rows in a row, that are asked for. */
const MAX_PAGES = 20_000;
const MAX_EMPTY = 100;

/** The longest cursor, in characters. */
const MAX_CURSOR = 100_000;

/** A list goes on without end. */
export class EndlessList extends Error {}

export class Paging {
  #pages = 0;
  #empty = 0;
  /** An earlier cursor: it comes again in a list that goes in circles (Brent's algorithm). */
  #kept = "";
  #keptAt = 1;

  /**
   * Notes a page of a list; throws if the list has no end.
   * @param {number} count the rows of the page
   * @param {string} cursor of the next page; empty at the end
   */
  note(count, cursor) {
    if (cursor === "") return;
    this.#pages += 1;
    this.#empty = count > 0 ? 0 : this.#empty + 1;
    const isCircle = cursor === this.#kept;
    if (this.#pages === this.#keptAt) [this.#kept, this.#keptAt] = [cursor, this.#keptAt * 2];
    if (isCircle || this.#pages > MAX_PAGES || this.#empty > MAX_EMPTY || cursor.length > MAX_CURSOR)
      throw new EndlessList(t("endlessList"));
  }
}

/**
 * The rows of a list, up to `max`; what came of a list without end.
 * @template T
 * @param {(cursor: string) => Promise<{ items: T[], next: string }>} read
 * @param {number} max
 * @returns {Promise<T[]>}
 */
export async function readAll(read, max) {
  const paging = new Paging();
  /** @type {T[]} */
  const all = [];
  for (let cursor = ""; ;) {
    const page = await read(cursor);
    for (const item of page.items) all.push(item);
    cursor = page.next;
    if (cursor === "" || all.length >= max) return all;
    try {
      paging.note(page.items.length, cursor);
    } catch {
      return all;
    }
  }
}
