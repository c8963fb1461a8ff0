// A question of the server (elicitation), as a form or as a web page to visit.

import { h, openDialog } from "./dom.js";
import { SchemaForm } from "./forms.js";
import { t } from "./i18n.js";
import { McpError } from "./wire.js";

/**
 * Answers a request of the server.
 * @param {string} method
 * @param {any} params
 * @returns {Promise<any>}
 */
export function answerServer(method, params) {
  if (method !== "elicitation/create") return Promise.reject(new McpError(-32601, "method not found"));
  return params.mode === "url" ? askToVisit(params) : askByForm(params);
}

/**
 * @param {any} params
 * @returns {Promise<any>}
 */
function askByForm(params) {
  return new Promise((resolve) => {
    const form = new SchemaForm(params.requestedSchema);
    let answer = /** @type {any} */ ({ action: "cancel" });
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      const content = form.values();
      if (!content) return;
      answer = { action: "accept", content };
      dialog.close();
    };
    const decline = () => {
      answer = { action: "decline" };
      dialog.close();
    };
    const element = h(
      "form",
      { onsubmit: submit },
      form.element,
      h(
        "div",
        { class: "dialog-actions" },
        h("button", { type: "button", class: "button", onclick: decline }, t("decline")),
        h("button", { type: "submit", class: "button primary" }, t("send")),
      ),
    );
    const dialog = openDialog(
      t("serverAsks"),
      [
        h("p", { class: "question" }, String(params.message ?? "")),
        h("p", { class: "quiet" }, t("askWarning")),
        element,
      ],
      [],
      () => resolve(answer),
    );
  });
}

/**
 * @param {any} params
 * @returns {Promise<any>}
 */
function askToVisit(params) {
  return new Promise((resolve) => {
    const url = String(params.url ?? "");
    const host = /^https?:\/\/([^/?#]+)/i.exec(url)?.[1];
    let answer = /** @type {any} */ ({ action: "cancel" });
    const finish = (/** @type {string} */ action) => () => {
      answer = { action };
      dialog.close();
    };
    const open = host
      ? h(
          "a",
          {
            class: "button primary",
            href: url,
            target: "_blank",
            rel: "noopener noreferrer",
            onclick: finish("accept"),
          },
          t("openSite", { host }),
        )
      : null;
    const dialog = openDialog(
      t("serverAsks"),
      [h("p", { class: "question" }, String(params.message ?? "")), h("p", { class: "uri-box mono" }, url)],
      [h("button", { type: "button", class: "button", onclick: finish("decline") }, t("decline")), open],
      () => resolve(answer),
    );
  });
}
