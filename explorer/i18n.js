// The texts of the page, in the language of the browser or the one that was chosen.

import { settings } from "./settings.js";
import en from "./strings.en.js";
import ja from "./strings.ja.js";

/** @typedef {keyof typeof en} StringKey */

/** @returns {"en" | "ja"} */
export function language() {
  if (settings.language === "en" || settings.language === "ja") return settings.language;
  return navigator.language.toLowerCase().startsWith("ja") ? "ja" : "en";
}

/**
 * A text, with `{name}` replaced by values.
 * @param {StringKey} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  const text = (language() === "ja" ? ja : en)[key] ?? en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}
