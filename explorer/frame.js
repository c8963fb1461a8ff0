// Rendered markup of the server, in a frame that runs nothing, loads nothing and has no origin.

import { h } from "./dom.js";
import { language, t } from "./i18n.js";
import { linkTo } from "./router.js";
import { safeMarkup } from "./sanitize.js";
import { isDark } from "./settings.js";

/**
 * @param {string} markup
 * @param {string} base the URI of the resource, for relative links
 * @param {RegExp | null} marks
 * @param {unknown} [told] the language of the resource
 */
export function htmlFrame(markup, base, marks, told) {
  const safe = safeMarkup(markup, { link: (href) => resolveLink(href, base), marks });
  const style = new URL("explorer/frame.css", location.origin + "/").href;
  const policy = `default-src 'none'; img-src data:; style-src ${location.origin}; base-uri 'none'; form-action 'none'`;
  const lang = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(String(told)) ? told : language();
  const frame = h("iframe", {
    class: "frame",
    // A click on a link may open another resource in this page, or a web page in a new tab.
    sandbox: "allow-top-navigation-by-user-activation allow-popups allow-popups-to-escape-sandbox",
    title: t("renderedContent"),
    referrerpolicy: "no-referrer",
  });
  frame.srcdoc =
    `<!doctype html><html lang="${lang}" class="${isDark() ? "dark" : "light"}"><head><meta charset="utf-8">` +
    `<title>${t("renderedContent")}</title>` +
    `<meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<link rel="stylesheet" href="${style}"></head><body>${safe}</body></html>`;
  return frame;
}

/**
 * Where a link in a document leads.
 * @param {string} href
 * @param {string} base
 * @returns {{ href: string, target: string } | null}
 */
export function resolveLink(href, base) {
  if (href.startsWith("#")) return null;
  const target = resolveUri(href, base);
  if (!target) return null;
  if (/^https?:/i.test(target) && !/^https?:/i.test(base)) return { href: target, target: "_blank" };
  if (/^(javascript|data|blob|vbscript|mailto|tel|about):/i.test(target)) return null;
  return { href: `${location.origin}${location.pathname}${linkTo(target)}`, target: "_top" };
}

/**
 * A relative reference, resolved as RFC 3986 says, for any scheme with an authority.
 * @param {string} reference
 * @param {string} base
 */
export function resolveUri(reference, base) {
  const text = reference.trim().replace(/[\u0000-\u001f]/g, "");
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return text;
  const found = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)([^?#]*)/i.exec(base);
  if (!found) return "";
  const [path] = text.split(/[?#]/, 1);
  const from = path.startsWith("/") ? [] : found[2].split("/").slice(1, -1);
  for (const segment of path.split("/")) {
    if (segment === "..") from.pop();
    else if (segment !== "." && segment !== "") from.push(segment);
  }
  return `${found[1]}/${from.join("/")}`;
}
