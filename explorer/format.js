// Numbers, sizes, times and types as people read them.

import { language, t } from "./i18n.js";

/**
 * The formatters of one language: making one costs more than using it a hundred times.
 * @param {string} locale
 */
function makeFormats(locale) {
  return {
    locale,
    number: new Intl.NumberFormat(locale),
    age: new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }),
    date: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" }),
  };
}

/** @type {ReturnType<typeof makeFormats> | null} */
let made = null;

function formats() {
  const locale = language();
  if (made?.locale !== locale) made = makeFormats(locale);
  return made;
}

/** @param {number} value */
export function number(value) {
  return formats().number.format(value);
}

/** @param {number | undefined} bytes */
export function size(bytes) {
  if (bytes === undefined || !Number.isFinite(bytes)) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  let value = bytes;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${value >= 100 || at === 0 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

/**
 * How long ago a time is.
 * @param {number | string | undefined} time
 */
export function age(time) {
  if (time === undefined) return "";
  const then = typeof time === "number" ? time : Date.parse(time);
  if (!Number.isFinite(then)) return "";
  const seconds = Math.round((then - Date.now()) / 1000);
  const units = /** @type {const} */ ([
    ["year", 31_536_000],
    ["month", 2_592_000],
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ]);
  const format = formats().age;
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit);
  }
  return format.format(Math.min(0, seconds), "second");
}

/** @param {number | string | undefined} time */
export function date(time) {
  const then = typeof time === "number" ? time : Date.parse(time ?? "");
  if (!Number.isFinite(then)) return "";
  return formats().date.format(then);
}

/** @param {number} count */
export function tokens(count) {
  return t("tokenCount", { count: number(count) });
}

/**
 * The short name of a MIME type.
 * @param {string | undefined} mime
 */
export function typeName(mime) {
  if (!mime) return "";
  const [type, ...parameters] = mime.split(";");
  const variant = parameters.map((text) => text.trim()).find((text) => text.startsWith("variant="));
  const short = type.replace(/^(text|application|image)\/(x-|vnd\.)?/, "").replace(/^inode\//, "");
  return variant ? `${short} (${variant.slice(8)})` : short;
}

/** @param {string} text */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * A name, with signs in place of control characters and of those that turn the direction of a line.
 * @param {string} name
 */
export function safeName(name) {
  const sign = (/** @type {string} */ letter) => (letter < " " ? String.fromCharCode(0x2400 + letter.charCodeAt(0)) : "\ufffd");
  return name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, sign);
}

/**
 * The last segment of a URI, to show.
 * @param {string} uri
 */
export function lastSegment(uri) {
  const path = uri.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  return safeName(decoded(path.slice(path.lastIndexOf("/") + 1)) || uri);
}
