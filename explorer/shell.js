// The frame of the page: header, tree, middle, details; panes that fold away on narrow screens.

import { connectionDialog, helpDialog } from "./dialogs.js";
import { announce, fill, h, icon, iconButton } from "./dom.js";
import { number } from "./format.js";
import { language, t } from "./i18n.js";
import { viewLink } from "./router.js";
import { saveSettings, settings } from "./settings.js";

/** @typedef {import("./app.js").App} App */

const NAVIGATION = /** @type {const} */ ([
  ["home", "home", "home"],
  ["templates", "templates", "template"],
  ["tools", "tools", "tool"],
  ["prompts", "prompts", "prompt"],
  ["basket", "basket", "basket"],
]);

export class Shell {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const root = document.getElementById("app");
    this.search = h("input", {
      type: "search",
      class: "search-box",
      placeholder: t("searchPlaceholder"),
      "aria-label": t("search"),
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => app.search(this.search.value),
      onkeydown: (/** @type {KeyboardEvent} */ event) => app.onSearchKey(event),
    });
    this.state = h("button", { type: "button", class: "state", onclick: () => connectionDialog(app) });
    this.count = h("span", { class: "count-badge", hidden: true });
    this.links = new Map(
      NAVIGATION.map(([view, label, name]) => [
        /** @type {string} */ (view),
        h(
          "a",
          { href: viewLink(view), class: "nav-link", title: t(label) },
          icon(name),
          h("span", { class: "nav-label" }, t(label)),
          view === "basket" ? this.count : null,
        ),
      ]),
    );
    this.main = h("main", { id: "main", tabindex: -1 });
    const tree = app.tree?.element ?? "";
    this.side = h("nav", { class: "side", id: "side", "aria-label": t("browse") }, tree);
    this.body = h("div", { class: "body" }, this.side, this.main, app.details?.element);
    this.sideButton = iconButton("menu", t("toggleTree"), () => this.#toggle("side-open"), {
      class: "icon-button side-button",
      "aria-controls": "side",
      "aria-expanded": "false",
    });
    this.detailsButton = iconButton("info", t("toggleDetails"), () => this.#toggle("details-open"), {
      class: "icon-button details-button",
      "aria-expanded": "true",
    });
    const header = h(
      "header",
      { class: "top" },
      this.sideButton,
      h("a", { class: "brand", href: viewLink("home") }, logo(), h("span", null, "refdesk")),
      h("div", { class: "search-wrap" }, icon("search"), this.search, h("kbd", { "aria-hidden": "true" }, "/")),
      h("nav", { class: "nav", "aria-label": t("views") }, [...this.links.values()]),
      h(
        "div",
        { class: "top-actions" },
        this.state,
        this.detailsButton,
        this.#languageButton(),
        this.#themeButton(),
        iconButton("help", t("keys"), helpDialog),
      ),
    );
    if (root)
      fill(
        root,
        h(
          "a",
          {
            class: "skip",
            href: "#main",
            onclick: (/** @type {Event} */ event) => {
              event.preventDefault();
              this.main.focus();
            },
          },
          t("skip"),
        ),
        header,
        this.body,
      );
    app.basket.on("change", () => this.#showCount());
    this.#showCount();
  }

  #languageButton() {
    const other = language() === "ja" ? "en" : "ja";
    const label = other === "ja" ? "日本語" : "English";
    return h(
      "button",
      {
        type: "button",
        class: "icon-button text",
        lang: other,
        title: label,
        "aria-label": label,
        onclick: () => {
          saveSettings({ language: other });
          this.app.rebuild();
        },
      },
      other === "ja" ? "あ" : "A",
    );
  }

  #themeButton() {
    const next = /** @type {const} */ ({ auto: "dark", dark: "light", light: "auto" })[settings.theme];
    const labels = /** @type {const} */ ({ auto: "themeAuto", dark: "themeDark", light: "themeLight" });
    return iconButton("theme", t("themeButton", { now: t(labels[settings.theme]) }), () => {
      saveSettings({ theme: next });
      this.app.rebuild();
      announce(t(labels[next]));
    });
  }

  #showCount() {
    const { length } = this.app.basket.items;
    this.count.textContent = number(length);
    this.count.hidden = length === 0;
  }

  /** @param {"side-open" | "details-open"} name */
  #toggle(name) {
    // Wide screens show a pane until it is closed, narrow ones hide it until it is opened.
    const isNarrow = matchMedia(name === "side-open" ? "(max-width: 760px)" : "(max-width: 1080px)").matches;
    const className = isNarrow ? name : name.replace("open", "closed");
    const isOn = this.body.classList.toggle(className);
    const button = name === "side-open" ? this.sideButton : this.detailsButton;
    button.setAttribute("aria-expanded", String(isNarrow ? isOn : !isOn));
    if (isNarrow && isOn && name === "side-open") this.app.tree?.focus();
  }

  /**
   * @param {import("./mcp.js").ConnectionState} state
   * @param {string} problem
   */
  showState(state, problem) {
    const labels = /** @type {const} */ ({
      connecting: "connecting",
      ready: "connected",
      offline: "offline",
      unauthorized: "needsToken",
      closed: "offline",
    });
    this.state.className = `state ${state}`;
    this.state.title = [t("connection"), problem].filter(Boolean).join(": ");
    fill(this.state, h("span", { class: "state-light" }), h("span", { class: "state-text" }, t(labels[state])));
    if (state === "offline") announce(t("offline"));
  }

  /** @param {import("./types.js").Route} route */
  showRoute(route) {
    for (const [view, link] of this.links) {
      if (view === route.view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (route.view !== "search") this.search.value = "";
    else if (document.activeElement !== this.search) this.search.value = route.query ?? "";
  }

  /**
   * @param {HTMLElement} element
   * @param {boolean} hasDetails
   */
  setMain(element, hasDetails) {
    const hadFocus = this.main.contains(document.activeElement);
    fill(this.main, element);
    // The row that a person opened is gone; the keyboard goes on in what it opened.
    if (hadFocus) this.main.focus({ preventScroll: true });
    this.body.classList.toggle("has-details", hasDetails);
    this.detailsButton.hidden = !hasDetails;
    this.body.classList.remove("side-open", "details-open");
    this.sideButton.setAttribute("aria-expanded", "false");
  }

  focusSearch() {
    this.search.focus();
    this.search.select();
  }

  /** @param {EventTarget | null} target what had the keyboard */
  escape(target) {
    if (this.body.classList.contains("side-open") || this.body.classList.contains("details-open"))
      this.body.classList.remove("side-open", "details-open");
    else if (target === this.search && this.search.value === "") this.app.tree?.focus();
    else if (target === this.search) this.search.value = "";
    else this.app.tree?.focus();
  }
}

function logo() {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "logo");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", "M3 6.5 12 3l9 3.5v2L12 12 3 8.5zM3 12l9 3.5L21 12M3 16l9 3.5L21 16");
  svg.appendChild(path);
  return svg;
}
