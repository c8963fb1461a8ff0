// The address after `#`: `#/<uri>` with an optional `:line`, or the name of a view.

/** @typedef {import("./types.js").Route} Route */

const VIEWS = /** @type {const} */ (["home", "search", "templates", "tools", "prompts", "basket"]);

/**
 * @param {string} hash
 * @returns {Route}
 */
export function parseHash(hash) {
  const text = hash.replace(/^#/, "");
  if (text.startsWith("/") && text.length > 1) return parseLink(text.slice(1));
  const [name, rest] = splitOnce(text, "?");
  const [view, item] = splitOnce(name, "/");
  const known = VIEWS.find((one) => one === view);
  if (!known) return { view: "home" };
  const query = new URLSearchParams(rest).get("q") ?? undefined;
  return { view: known, name: item ? safeDecode(item) : undefined, query };
}

/**
 * @param {string} text
 * @returns {Route}
 */
function parseLink(text) {
  // Browsers escape what they like in a hash; a URI has no spaces, quotes or angles anyway.
  const found = /^(.*):(\d{1,9})$/s.exec(text);
  const hasPath = (/** @type {string} */ uri) => !/^[a-z][a-z0-9+.-]*:\/\/[^/]*$/i.test(uri) && uri.includes(":");
  if (found && hasPath(found[1])) return { view: "resource", uri: found[1], line: Number(found[2]) || undefined };
  return { view: "resource", uri: text };
}

/**
 * The link to a resource, and a line of it.
 * @param {string} uri
 * @param {number} [line]
 */
export function linkTo(uri, line) {
  // A URI that ends like a line number needs one, or its end would be taken for it.
  if (line === undefined && /:\d{1,9}$/.test(uri) && parseLink(uri).line !== undefined) line = 1;
  return `#/${uri}${line ? `:${line}` : ""}`;
}

/**
 * The link to a view.
 * @param {typeof VIEWS[number]} view
 * @param {string} [name]
 * @param {string} [query]
 */
export function viewLink(view, name, query) {
  const item = name === undefined ? "" : `/${encodeURIComponent(name)}`;
  return `#${view}${item}${query ? `?${new URLSearchParams({ q: query })}` : ""}`;
}

/** @param {string} link */
export function goTo(link) {
  location.hash = link;
}

/**
 * @param {string} text
 * @param {string} mark
 */
function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** @param {string} text */
function safeDecode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
