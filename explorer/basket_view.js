// The view of the basket: tokens against a budget, proposals, copies, and saving on the server.

import { copyText, errorBox, fill, h, icon, iconButton, messageOf, openDialog, closeButton, toast } from "./dom.js";
import { number, tokens as tokenText } from "./format.js";
import { t } from "./i18n.js";
import { textOf } from "./resources.js";
import { linkTo } from "./router.js";
import { saveSettings, settings } from "./settings.js";

/** @typedef {import("./app.js").App} App */

/** How much of one resource a copy takes. */
const MAX_TEXT = 1_000_000;

export class BasketView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.summary = h("div", { class: "basket-summary" });
    this.rows = h("ul", { class: "basket-rows", "aria-label": t("basket") });
    this.proposals = h("div", { class: "proposals" });
    this.question = h("input", {
      type: "text",
      id: "pack-question",
      placeholder: t("packPlaceholder"),
      autocomplete: "off",
    });
    this.element = h(
      "div",
      { class: "page basket-view" },
      h("h1", null, t("basket")),
      h("p", { class: "lead" }, t("basketLead")),
      this.summary,
      h(
        "form",
        {
          class: "pack-form",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            this.#propose();
          },
        },
        h("label", { for: "pack-question" }, t("packLabel")),
        h(
          "div",
          { class: "inline" },
          this.question,
          h("button", { class: "button", type: "submit" }, icon("search"), t("propose")),
        ),
      ),
      this.proposals,
      this.rows,
    );
    this.off = app.basket.on("change", () => this.#render());
    this.#render();
    this.#count();
  }

  destroy() {
    this.off();
  }

  /** Asks for the tokens of what has none yet. */
  async #count() {
    const missing = this.app.basket.items.filter((item) => item.tokens === undefined).map((item) => item.uri);
    if (missing.length === 0) return;
    const found = await this.app.api.tokens(missing).catch(() => new Map());
    if (found.size > 0) this.app.basket.setTokens(found);
  }

  #render() {
    const { basket } = this.app;
    const { total } = basket;
    const isOver = total > settings.budget;
    const budget = h("input", {
      type: "number",
      id: "budget",
      min: 100,
      max: 2_000_000,
      step: 100,
      value: settings.budget,
      onchange: () => {
        saveSettings({ budget: Math.max(100, Math.min(2_000_000, Number(budget.value) || 8000)) });
        this.#render();
      },
    });
    const meter = h(
      "div",
      {
        class: `meter${isOver ? " over" : ""}`,
        role: "meter",
        "aria-label": t("tokensOfBudget"),
        "aria-valuemin": 0,
        "aria-valuemax": settings.budget,
        "aria-valuenow": Math.min(total, settings.budget),
        "aria-valuetext": `${tokenText(total)} / ${number(settings.budget)}`,
      },
      h("div", { class: "meter-bar" }),
    );
    /** @type {HTMLElement} */ (meter.firstChild).style.width = `${Math.min(100, (total / settings.budget) * 100)}%`;
    const isEmpty = basket.items.length === 0;
    const button = (/** @type {string} */ label, /** @type {() => void} */ onclick) =>
      h("button", { type: "button", class: "button", disabled: isEmpty, onclick }, label);
    fill(
      this.summary,
      h(
        "div",
        { class: "budget-line" },
        h("strong", { class: isOver ? "over" : "" }, tokenText(total)),
        h("span", null, "/"),
        h("label", { for: "budget" }, t("budget")),
        budget,
      ),
      meter,
      h(
        "div",
        { class: "inline wrap" },
        button(t("copyMarkdown"), () => this.#copy("markdown")),
        button(t("copyBlocks"), () => this.#copy("blocks")),
        this.app.api.hasBaskets && button(t("saveBasket"), () => this.#save()),
        button(t("clear"), () => basket.clear()),
      ),
    );
    if (isEmpty) return fill(this.rows, h("li", { class: "empty" }, t("basketEmpty")));
    fill(
      this.rows,
      basket.items.map((item) =>
        h(
          "li",
          null,
          icon("file"),
          h("a", { href: linkTo(item.uri), title: item.uri }, item.name),
          h("span", { class: "quiet uri" }, item.uri),
          h("span", { class: "count" }, item.tokens === undefined ? "" : tokenText(item.tokens)),
          iconButton("close", t("removeNamed", { name: item.name }), () => basket.remove(item.uri)),
        ),
      ),
    );
    if (basket.items.some((item) => item.tokens === undefined)) this.#countSoon();
  }

  #countSoon() {
    if (this.counting) return;
    this.counting = true;
    this.#count().finally(() => setTimeout(() => (this.counting = false), 2000));
  }

  /** Lets the server propose what answers a question. */
  async #propose() {
    const question = this.question.value.trim();
    if (!question) return this.question.focus();
    fill(this.proposals, h("p", { class: "quiet" }, t("loading")));
    try {
      if (!(await this.app.api.hasTool("resources_pack"))) throw new Error(t("noPack"));
      const result = await this.app.api.callTool("resources_pack", { question, budget: settings.budget });
      if (result.isError) throw new Error(textOf(result));
      this.#showProposals(result);
    } catch (error) {
      fill(this.proposals, errorBox(error));
    }
  }

  /** @param {any} result */
  #showProposals(result) {
    const blocks = Array.isArray(result.content) ? result.content : [];
    const resources = blocks
      .filter((/** @type {any} */ block) => block.type === "resource" && block.resource?.uri)
      .map((/** @type {any} */ block) => block.resource);
    const uris = [...new Set(resources.map((/** @type {any} */ one) => String(one.uri)))].filter(
      (uri) => !uri.startsWith("pack:"),
    );
    const addAll = () => {
      for (const uri of uris) this.app.basket.add({ uri });
      toast(t("addedCount", { count: number(uris.length) }));
    };
    const why = textOf(result);
    fill(
      this.proposals,
      uris.length > 0 &&
        h(
          "div",
          { class: "inline wrap" },
          h("strong", null, t("proposed", { count: number(uris.length) })),
          h("button", { type: "button", class: "button small", onclick: addAll }, icon("add"), t("addAll")),
        ),
      h(
        "ul",
        { class: "basket-rows" },
        uris.map((uri) =>
          h(
            "li",
            null,
            icon("file"),
            h("a", { href: linkTo(uri) }, uri),
            iconButton("add", t("addToBasket"), () => this.app.basket.add({ uri })),
          ),
        ),
      ),
      why && h("details", null, h("summary", null, t("why")), h("pre", { class: "plain" }, why)),
    );
  }

  /**
   * The text of each resource, with its URI.
   * @returns {Promise<{ uri: string, name: string, mime: string, text: string }[]>}
   */
  async #texts() {
    const all = [];
    for (const { uri, name } of this.app.basket.items) {
      try {
        const parts = await this.app.api.read(uri);
        const part = parts.findLast((one) => one.text !== undefined);
        all.push({ uri, name, mime: part?.mime ?? "text/plain", text: (part?.text ?? t("noText")).slice(0, MAX_TEXT) });
      } catch (error) {
        all.push({ uri, name, mime: "text/plain", text: messageOf(error) });
      }
    }
    return all;
  }

  /** @param {"markdown" | "blocks"} form */
  async #copy(form) {
    const texts = await this.#texts();
    if (form === "blocks") {
      const blocks = texts.map(({ uri, mime, text }) => ({
        type: "resource",
        resource: { uri, mimeType: mime, text },
      }));
      return copyText(JSON.stringify(blocks, null, 2));
    }
    return copyText(texts.map(({ uri, text }) => `## ${uri}\n\n${fenced(text)}\n`).join("\n"));
  }

  /** Saves it as a collection of the server, which hosts can attach. */
  #save() {
    const name = h("input", {
      type: "text",
      id: "basket-name",
      required: true,
      pattern: "[A-Za-z0-9_.\\-]{1,64}",
      value: "basket",
    });
    const title = h("input", { type: "text", id: "basket-title", maxlength: 200 });
    const problem = h("div", null);
    const save = async (/** @type {Event} */ event) => {
      event.preventDefault();
      const params = {
        name: name.value,
        uris: this.app.basket.items.map((item) => item.uri),
        ...(title.value ? { title: title.value } : {}),
      };
      try {
        const { uri } = await this.app.client.request("dev.refdesk/baskets/save", params);
        dialog.close();
        toast(t("savedAs", { uri: String(uri) }));
        this.app.folders.listsChanged();
      } catch (error) {
        fill(problem, errorBox(error));
      }
    };
    const form = h(
      "form",
      { class: "form", onsubmit: save },
      h("label", { for: "basket-name" }, t("basketName")),
      name,
      h("label", { for: "basket-title" }, t("basketTitle")),
      title,
      problem,
      h(
        "div",
        { class: "dialog-actions" },
        closeButton(),
        h("button", { class: "button primary", type: "submit" }, t("save")),
      ),
    );
    const dialog = openDialog(t("saveBasket"), [h("p", null, t("saveBasketLead")), form], []);
  }
}

/**
 * A text as a code block, with a fence that the text does not have.
 * @param {string} text
 */
function fenced(text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
