// JSON as a tree that opens level by level.

import { h } from "./dom.js";
import { number } from "./format.js";
import { t } from "./i18n.js";

/** Members that are shown at once. */
const STEP = 200;

/**
 * @param {any} value
 * @param {string} [label]
 */
export function jsonTree(value, label = t("jsonTree")) {
  return h("div", { class: "json", role: "group", "aria-label": label }, branch("", value, true));
}

/**
 * @param {string} key
 * @param {any} value
 * @param {boolean} isOpen
 * @returns {HTMLElement}
 */
function branch(key, value, isOpen) {
  const name = key === "" ? null : h("span", { class: "json-key" }, `${key}: `);
  if (value === null || typeof value !== "object") return h("div", { class: "json-leaf" }, name, leaf(value));
  const entries = Array.isArray(value)
    ? value.map((one, at) => /** @type {[string, any]} */ ([String(at), one]))
    : Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return h("div", { class: "json-leaf" }, name, `${open}${close}`);
  const inner = h("div", { class: "json-children" });
  const details = h(
    "details",
    { class: "json-branch" },
    h("summary", null, name, h("span", { class: "quiet" }, `${open} ${number(entries.length)} ${close}`)),
    inner,
  );
  let shown = 0;
  const more = () => {
    for (const [child, one] of entries.slice(shown, shown + STEP)) inner.appendChild(branch(child, one, false));
    shown += STEP;
    if (shown < entries.length) {
      const button = h(
        "button",
        {
          type: "button",
          class: "button small",
          onclick: () => {
            button.remove();
            more();
          },
        },
        t("showMore", { count: number(entries.length - shown) }),
      );
      inner.appendChild(button);
    }
  };
  details.addEventListener("toggle", () => {
    if (details.open && shown === 0) more();
  });
  details.open = isOpen;
  return details;
}

/** @param {any} value */
function leaf(value) {
  const kind = value === null ? "null" : typeof value;
  return h("span", { class: `json-${kind}` }, kind === "string" ? JSON.stringify(value) : String(value));
}
