// Images, as pictures only; and what has no preview, with its first bytes.

import { h, errorBox } from "./dom.js";
import { size } from "./format.js";
import { t } from "./i18n.js";
import { jsonTree } from "./json_view.js";

const HEX_BYTES = 4096;

/** @param {string} base64 */
function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/**
 * An image. As the source of an `img` not even SVG can run a script or load anything.
 * @param {import("./resources.js").ResourceApi} api
 * @param {string} uri
 * @param {string | undefined} mime
 */
export async function imageView(api, uri, mime) {
  const parts = await api.read(uri, { accept: mime ? [mime] : undefined });
  const part = parts.find((one) => one.blob !== undefined || one.text !== undefined);
  if (!part) throw new Error(t("noPreview"));
  const type = (mime ?? part.mime).split(";")[0];
  const body = part.blob !== undefined ? bytesOf(part.blob) : new TextEncoder().encode(part.text);
  const url = URL.createObjectURL(new Blob([body], { type: /^image\/[\w.+-]+$/.test(type) ? type : "image/png" }));
  const facts = h("p", { class: "quiet" }, size(body.length));
  const image = h("img", { class: "picture", alt: t("imageAlt", { uri }), src: url });
  const element = h("figure", { class: "image-view scroll" }, image, facts);
  image.addEventListener(
    "load",
    () => (facts.textContent = `${image.naturalWidth} × ${image.naturalHeight}, ${size(body.length)}`),
  );
  image.addEventListener("error", () => element.replaceChildren(errorBox(t("brokenImage"))));
  return { element, destroy: () => URL.revokeObjectURL(url) };
}

/**
 * What no view can show.
 * @param {import("./resources.js").ResourceApi} api
 * @param {any} resource
 */
export async function binaryView(api, resource) {
  const window = api.hasMetadata ? { offset: 0, length: HEX_BYTES } : undefined;
  const [part] = await api.read(String(resource.uri), { window });
  const body = part?.blob !== undefined ? bytesOf(part.blob) : new TextEncoder().encode(part?.text ?? "");
  const element = h(
    "div",
    { class: "scroll padded" },
    h("p", null, t("noPreview")),
    h("pre", { class: "hex", tabindex: 0 }, hexDump(body.slice(0, HEX_BYTES))),
    resource._meta ? h("details", null, h("summary", null, t("metadata")), jsonTree(resource._meta)) : null,
  );
  return { element };
}

/** @param {Uint8Array} bytes */
function hexDump(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.slice(at, at + 16)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${digits.padEnd(47)}  ${letters}`);
  }
  return lines.join("\n");
}
