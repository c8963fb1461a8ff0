// Dialogs of the page itself: the connection, the token, and the keys.

import { closeButton, fill, h, openDialog } from "./dom.js";
import { t } from "./i18n.js";
import { mcpAddress, saveSettings, saveToken, settings, tokenFor } from "./settings.js";

/**
 * Points the page at another MCP address, or gives it a token.
 * @param {import("./app.js").App} app
 */
export function connectionDialog(app) {
  const address = h("input", {
    type: "url",
    id: "mcp-address",
    value: settings.address,
    placeholder: new URL("mcp", location.origin + "/").href,
    spellcheck: "false",
  });
  const token = h("input", {
    type: "password",
    id: "mcp-token",
    value: tokenFor(mcpAddress()),
    autocomplete: "off",
    spellcheck: "false",
  });
  const problem = h("p", { class: "problem", role: "alert" });
  const connect = (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = address.value.trim();
    if (text && !/^https?:\/\//i.test(text)) return fill(problem, t("addressScheme"));
    saveSettings({ address: text === new URL("mcp", location.origin + "/").href ? "" : text });
    saveToken(mcpAddress(), token.value.trim());
    dialog.close();
    app.connect();
  };
  const state =
    app.client.state === "ready"
      ? t("connectedTo", { url: app.client.url })
      : [t("notConnected"), app.client.problem].filter(Boolean).join(": ");
  const form = h(
    "form",
    { class: "form", onsubmit: connect },
    h("p", { class: "quiet" }, state),
    h("label", { for: "mcp-address" }, t("mcpAddress")),
    address,
    h("p", { class: "form-note quiet" }, t("mcpAddressNote", { origin: location.origin })),
    h("label", { for: "mcp-token" }, t("token")),
    token,
    h("p", { class: "form-note quiet" }, t("tokenNote")),
    problem,
    h(
      "div",
      { class: "dialog-actions" },
      closeButton(),
      h("button", { type: "submit", class: "button primary" }, t("connect")),
    ),
  );
  const dialog = openDialog(t("connection"), [form], []);
  (app.client.state === "unauthorized" ? token : address).focus();
}

/** The keys of the page. */
export function helpDialog() {
  if (document.querySelector("dialog[open]")) return;
  /** @type {[string, string][]} */
  const keys = [
    ["/", t("keySearch")],
    ["?", t("keyHelp")],
    ["Esc", t("keyEscape")],
    ["↑ ↓", t("keyArrows")],
    ["← →", t("keyOpenClose")],
    ["Home End", t("keyEnds")],
    ["Enter", t("keyEnter")],
    ["Space", t("keySpace")],
    ["1", t("keyHome")],
    ["2", t("keyTree")],
    ["3", t("keyMain")],
    ["4", t("keyBasket")],
  ];
  openDialog(
    t("keys"),
    [
      h(
        "dl",
        { class: "keys" },
        keys.map(([key, text]) => [h("dt", null, h("kbd", null, key)), h("dd", null, text)]).flat(),
      ),
    ],
    [closeButton()],
  );
}
