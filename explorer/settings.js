// What a person chose, kept by the browser; tokens for the tab alone.

const KEY = "refdesk.settings";

/**
 * @typedef {object} PageSettings
 * @property {"auto" | "light" | "dark"} theme
 * @property {"auto" | "en" | "ja"} language
 * @property {string} address the MCP address; empty is the server of this page
 * @property {number} budget tokens for the basket
 * @property {string} sort
 */

/** @type {PageSettings} */
const DEFAULTS = { theme: "auto", language: "auto", address: "", budget: 8000, sort: "name" };

/** @type {PageSettings} */
export const settings = { ...DEFAULTS, ...read(localStorage, KEY, {}) };

/** @param {Partial<PageSettings>} changes */
export function saveSettings(changes) {
  Object.assign(settings, changes);
  write(localStorage, KEY, settings);
}

/** The MCP address in use. */
export function mcpAddress() {
  return settings.address || new URL("mcp", location.origin + "/").href;
}

/** @param {string} address */
export function tokenFor(address) {
  const token = read(sessionStorage, `refdesk.token ${address}`, "");
  return typeof token === "string" ? token : "";
}

/**
 * @param {string} address
 * @param {string} token
 */
export function saveToken(address, token) {
  write(sessionStorage, `refdesk.token ${address}`, token);
}

/**
 * Takes the token out of the address bar, so that it is in no bookmark and in no history.
 */
export function takeTokenFromAddress() {
  const url = new URL(location.href);
  const token = url.searchParams.get("token");
  if (!token) return;
  saveToken(new URL("mcp", location.origin + "/").href, token);
  url.searchParams.delete("token");
  history.replaceState(null, "", url);
}

/** Puts the chosen theme and language on the document. */
export function applySettings() {
  const root = document.documentElement;
  if (settings.theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = settings.theme;
}

/** Whether the page is dark now. */
export function isDark() {
  if (settings.theme !== "auto") return settings.theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * @param {Storage} storage
 * @param {string} key
 * @param {any} fallback
 */
export function read(storage, key, fallback) {
  try {
    return JSON.parse(storage.getItem(key) ?? "null") ?? fallback;
  } catch {
    return fallback;
  }
}

/**
 * @param {Storage} storage
 * @param {string} key
 * @param {any} value
 */
export function write(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value));
  } catch {
    // A full or forbidden storage costs the memory of a choice, nothing else.
  }
}
