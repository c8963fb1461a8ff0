// Groups of a plain list: the folders that the segments of its URIs make, for servers without collections.

import { lastSegment, safeName } from "./format.js";

/** @typedef {import("./types.js").Item} Item */

/** The segments of a URI that make folders. */
const MAX_DEPTH = 32;

/**
 * @typedef {object} Grouping
 * @property {Map<string, Item[]>} groups the members of each group by its prefix; those of "" stand at the top
 * @property {Map<string, { item: Item, group: string }>} places each resource and its group, by its URI
 */

/**
 * @param {Item[]} items
 * @returns {Grouping}
 */
export function groupItems(items) {
  /** @type {Grouping} */
  const grouping = { groups: new Map([["", []]]), places: new Map() };
  for (const item of items) place(grouping, item);
  return grouping;
}

/**
 * The name of a group: of one at the top its scheme too.
 * @param {string} prefix
 */
export function groupName(prefix) {
  return /^[^/]*:\/\/[^/]*$/.test(prefix) ? safeName(prefix) : lastSegment(prefix);
}

/**
 * @param {Grouping} grouping
 * @param {Item} item
 */
function place({ groups, places }, item) {
  const found = /^([a-z][a-z0-9+.-]*:\/\/[^/]*)((?:\/[^/]+)*?)(?:\/[^/]*)?$/i.exec(item.uri);
  let group = "";
  let prefix = found?.[1] ?? "";
  const segments = found ? ["", ...found[2].split("/").slice(1, MAX_DEPTH + 1)] : [];
  for (const segment of segments) {
    if (segment) prefix += `/${segment}`;
    if (!groups.has(prefix)) {
      groups.set(prefix, []);
      groups.get(group)?.push({ uri: `group:${prefix}`, name: groupName(prefix), isCollection: true });
    }
    group = prefix;
  }
  groups.get(group)?.push(item);
  places.set(item.uri, { item, group });
}
