// Builds elements. Text of servers goes in as text only, never as markup.

import { t } from "./i18n.js";

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */

/**
 * An element with attributes, listeners (`onclick`) and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any> | null} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "open") /** @type {any} */ (element)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/**
 * @param {Node} parent
 * @param {Child[]} children
 */
function append(parent, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) {
      parent.appendChild(document.createTextNode(String(child)));
    }
  }
}

/**
 * Replaces what an element holds.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** The paths of the icons, in a square of 16. */
const ICONS = {
  folder: "M1.5 4a1 1 0 0 1 1-1h3.2l1.6 1.8h6.2a1 1 0 0 1 1 1V12a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1z",
  file: "M4 1.5h5l3.5 3.5v9.5H4zM9 1.5V5h3.5",
  mount: "M2 3.5h12v4H2zM2 9h12v4H2zM4.5 5.5h.01M4.5 11h.01",
  basket: "M2 6h12l-1.4 7.5H3.4zM5 6l2-4M11 6 9 2",
  home: "M2 8l6-5.5L14 8M4 7v6.5h8V7",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.5 10.5 14 14",
  tool: "M10.5 2a3.5 3.5 0 0 0-3.3 4.7L2 12l2 2 5.3-5.2A3.5 3.5 0 0 0 14 5.2l-2.2 1.3-1.5-.8-.2-1.7L12 2.4A3.5 3.5 0 0 0 10.5 2z",
  template:
    "M5 2.5H4a1.5 1.5 0 0 0-1.5 1.5v2.5L1.5 8l1 1.5V12A1.5 1.5 0 0 0 4 13.5h1M11 2.5h1A1.5 1.5 0 0 1 13.5 4v2.5l1 1.5-1 1.5V12a1.5 1.5 0 0 1-1.5 1.5h-1",
  prompt: "M2 3h12v8.5H7L4 14v-2.5H2z",
  chevron: "M6 4l4 4-4 4",
  copy: "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3",
  close: "M4 4l8 8M12 4l-8 8",
  menu: "M2 4h12M2 8h12M2 12h12",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5h.01",
  add: "M8 3v10M3 8h10",
  check: "M3 8.5 6.5 12 13 4.5",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  link: "M6.5 9.5l3-3M7 5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.8 2.8 0 0 1-4-4L5 7",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.3a1.7 1.7 0 1 1 2.5 1.5c-.5.3-.8.6-.8 1.2M8 11h.01",
};

/** @typedef {keyof typeof ICONS} IconName */

/**
 * An icon, which screen readers skip.
 * @param {IconName} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  svg.appendChild(path);
  return svg;
}

/**
 * A button with an icon, its label for screen readers and as a tooltip.
 * @param {IconName} name
 * @param {string} label
 * @param {(event: Event) => void} onclick
 * @param {Record<string, any>} [props]
 */
export function iconButton(name, label, onclick, props = {}) {
  return h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...props },
    icon(name),
  );
}

/** @param {string} message */
export function announce(message) {
  const region = document.getElementById("announcer");
  if (region) region.textContent = message;
}

/**
 * Shows a message for a while.
 * @param {string} message
 */
export function toast(message) {
  const region = document.getElementById("toasts");
  if (!region) return;
  const note = h("div", { class: "toast" }, message);
  region.appendChild(note);
  setTimeout(() => note.remove(), 3200);
}

/** @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("copied"));
  } catch {
    // Without a secure context a browser has no clipboard, so the person copies by hand.
    showText(t("copyByHand"), text);
  }
}

/**
 * @param {string} title
 * @param {string} text
 */
export function showText(title, text) {
  const area = h("textarea", { class: "mono", rows: 12, readonly: true, "aria-label": title });
  area.value = text;
  openDialog(title, [area], [closeButton()]);
  area.select();
}

/** A button that closes the dialog around it. */
export function closeButton() {
  return h(
    "button",
    {
      type: "button",
      class: "button",
      onclick: (/** @type {Event} */ event) => {
        /** @type {HTMLElement} */ (event.currentTarget).closest("dialog")?.close();
      },
    },
    t("close"),
  );
}

/**
 * Opens a modal dialog; it is removed when it closes.
 * @param {string} title
 * @param {Child[]} body
 * @param {Child[]} actions
 * @param {() => void} [onclose]
 */
export function openDialog(title, body, actions, onclose) {
  const heading = h("h2", { id: `dialog-${Date.now()}` }, title);
  const dialog = h(
    "dialog",
    { "aria-labelledby": heading.id, class: "dialog" },
    heading,
    h("div", { class: "dialog-body" }, body),
    h("div", { class: "dialog-actions" }, actions),
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    onclose?.();
  });
  document.body.appendChild(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * A button that copies a text.
 * @param {string} label
 * @param {() => string | Promise<string>} text
 */
export function copyButton(label, text) {
  return h(
    "button",
    { type: "button", class: "button small", onclick: async () => copyText(await text()) },
    icon("copy"),
    label,
  );
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * A box that says what failed.
 * @param {unknown} error
 * @param {() => void} [again]
 */
export function errorBox(error, again) {
  return h(
    "div",
    { class: "error-box", role: "alert" },
    h("p", null, messageOf(error)),
    again && h("button", { type: "button", class: "button small", onclick: again }, t("tryAgain")),
  );
}
