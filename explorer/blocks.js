// Content blocks of tools and prompts, each as what it is.

import { h, icon, iconButton } from "./dom.js";
import { size } from "./format.js";
import { t } from "./i18n.js";
import { jsonTree } from "./json_view.js";
import { linkTo } from "./router.js";

const MAX_TEXT = 200_000;

/**
 * @param {import("./app.js").App} app
 * @param {any} block
 * @returns {HTMLElement}
 */
export function contentBlock(app, block) {
  switch (block?.type) {
    case "text":
      return textBlock(String(block.text ?? ""));
    case "image":
      return imageBlock(block);
    case "audio":
      return h("p", { class: "quiet" }, t("audioBlock", { mime: String(block.mimeType ?? "") }));
    case "resource_link":
      return linkBlock(app, block);
    case "resource":
      return resourceBlock(app, block.resource ?? {});
    default:
      return h("div", { class: "block" }, jsonTree(block));
  }
}

/** @param {string} text */
function textBlock(text) {
  const parsed = /^\s*[[{]/.test(text) && text.length < MAX_TEXT ? tryJson(text) : undefined;
  if (parsed !== undefined) return h("div", { class: "block" }, jsonTree(parsed));
  const isCut = text.length > MAX_TEXT;
  return h("pre", { class: "block plain", tabindex: 0 }, isCut ? `${text.slice(0, MAX_TEXT)}\n…` : text);
}

/** @param {string} text */
function tryJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {any} block */
function imageBlock(block) {
  const type = /^image\/[\w.+-]+$/.test(String(block.mimeType)) ? block.mimeType : "image/png";
  return h("img", {
    class: "block picture",
    alt: t("imageBlock"),
    src: `data:${type};base64,${String(block.data ?? "")}`,
  });
}

/**
 * @param {import("./app.js").App} app
 * @param {any} block
 */
function linkBlock(app, block) {
  const uri = String(block.uri ?? "");
  return h(
    "div",
    { class: "block link-block" },
    icon("file"),
    h("a", { href: linkTo(uri) }, String(block.title || block.name || uri)),
    h("span", { class: "quiet" }, size(block.size)),
    h("span", { class: "quiet" }, String(block.description ?? "")),
    iconButton("add", t("addToBasket"), () =>
      app.basket.add({ uri, name: block.title || block.name, size: block.size }),
    ),
  );
}

/**
 * @param {import("./app.js").App} app
 * @param {any} resource
 */
function resourceBlock(app, resource) {
  const uri = String(resource.uri ?? "");
  const mime = String(resource.mimeType ?? "");
  const body =
    typeof resource.text === "string"
      ? textBlock(resource.text)
      : mime.startsWith("image/")
        ? imageBlock({ mimeType: mime, data: resource.blob })
        : h("p", { class: "quiet" }, t("binaryBlock", { mime }));
  return h(
    "div",
    { class: "block resource-block" },
    h(
      "div",
      { class: "block-head" },
      icon("file"),
      h("a", { href: linkTo(uri) }, uri),
      h("span", { class: "quiet" }, mime),
      iconButton("add", t("addToBasket"), () => app.basket.add({ uri })),
    ),
    body,
  );
}

/**
 * The result of a tool.
 * @param {import("./app.js").App} app
 * @param {any} result
 */
export function toolResult(app, result) {
  const blocks = Array.isArray(result?.content) ? result.content : [];
  return h(
    "div",
    { class: `result${result?.isError ? " failed" : ""}` },
    result?.isError && h("p", { class: "problem", role: "alert" }, t("toolFailed")),
    blocks.slice(0, 500).map((/** @type {any} */ block) => contentBlock(app, block)),
    result?.structuredContent !== undefined &&
      h(
        "details",
        { open: blocks.length === 0 },
        h("summary", null, t("structured")),
        jsonTree(result.structuredContent),
      ),
  );
}
