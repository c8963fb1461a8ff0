// A document as text: whole, or by page, sheet, slide or chapter.

import { errorBox, fill, h, iconButton } from "./dom.js";
import { resolveLink } from "./frame.js";
import { number } from "./format.js";
import { t } from "./i18n.js";
import { renderMarkdown } from "./markdown.js";

/** How much of a document without pages is shown at first, in bytes. */
const FIRST_PIECE = 256 * 1024;

export class DocumentView {
  #section = 1;
  #offset = 0;
  #turn = 0;

  /**
   * @param {import("./app.js").App} app
   * @param {any} resource
   * @param {string | undefined} mime
   * @param {RegExp | null} marks
   */
  constructor(app, resource, mime, marks) {
    this.app = app;
    this.uri = String(resource.uri);
    this.mime = mime;
    this.marks = marks;
    const outline = resource._meta?.["dev.refdesk/outline"];
    this.unit =
      typeof outline?.unit === "string" && ["page", "sheet", "slide", "chapter"].includes(outline.unit)
        ? outline.unit
        : "";
    this.total = Number(outline?.total) || 0;
    /** @type {any[]} */
    this.titles = Array.isArray(outline?.titles) ? outline.titles : [];
    this.bar = h("div", { class: "section-bar" });
    this.text = h("div", { class: "document scroll", tabindex: 0, role: "region", "aria-label": t("renderedContent") });
    this.element = h("div", { class: "document-view" }, this.bar, this.text);
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.reload();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (!this.unit || event.target instanceof HTMLInputElement || event.altKey || event.ctrlKey || event.metaKey)
      return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      this.#goTo(this.#section + (event.key === "ArrowRight" ? 1 : -1));
      event.preventDefault();
    }
  }

  /** @param {number} section */
  #goTo(section) {
    this.#section = Math.max(1, Math.min(section, this.total));
    this.reload();
  }

  async reload() {
    const turn = (this.#turn += 1);
    this.#offset = 0;
    this.#renderBar();
    try {
      const { text, next } = await this.#read();
      if (turn !== this.#turn) return;
      fill(this.text, this.#render(text), next ? this.#more(next) : null);
      this.text.scrollTop = 0;
    } catch (error) {
      if (turn === this.#turn)
        fill(
          this.text,
          errorBox(error, () => this.reload()),
        );
    }
  }

  async #read() {
    const { api } = this.app;
    const window = this.unit
      ? { [this.unit]: this.#section }
      : api.hasMetadata
        ? { offset: this.#offset, length: FIRST_PIECE }
        : undefined;
    const parts = await api.read(this.uri, { accept: this.mime ? [this.mime] : undefined, window });
    const part = parts.find((one) => one.text !== undefined);
    if (!part) throw new Error(t("noText"));
    return { text: part.text ?? "", next: part.window && !part.window.eof ? Number(part.window.next) : 0 };
  }

  /** @param {string} text */
  #render(text) {
    const link = (/** @type {string} */ href) => resolveLink(href, this.uri)?.href ?? null;
    return renderMarkdown(text, { link, marks: this.marks });
  }

  /** @param {number} next */
  #more(next) {
    const button = h(
      "button",
      {
        type: "button",
        class: "button",
        onclick: async () => {
          button.disabled = true;
          this.#offset = next;
          const piece = await this.#read();
          button.remove();
          this.text.append(this.#render(piece.text));
          if (piece.next) this.text.append(this.#more(piece.next));
        },
      },
      t("showRest"),
    );
    return button;
  }

  #renderBar() {
    if (!this.unit || this.total < 1) return fill(this.bar);
    const names = /** @type {const} */ ({
      page: "sectionPage",
      sheet: "sectionSheet",
      slide: "sectionSlide",
      chapter: "sectionChapter",
    });
    const label = t(names[/** @type {keyof typeof names} */ (this.unit)]);
    const title = this.titles.find((one) => one.number === this.#section)?.title;
    const input = h("input", {
      type: "number",
      min: 1,
      max: this.total,
      value: this.#section,
      "aria-label": label,
      onchange: () => this.#goTo(Number(input.value) || 1),
    });
    const back = iconButton("chevron", t("previous"), () => this.#goTo(this.#section - 1), {
      disabled: this.#section <= 1,
    });
    back.classList.add("back");
    fill(
      this.bar,
      back,
      h("span", null, label),
      input,
      h("span", null, `/ ${number(this.total)}`),
      iconButton("chevron", t("next"), () => this.#goTo(this.#section + 1), { disabled: this.#section >= this.total }),
      title && h("span", { class: "quiet" }, String(title)),
    );
  }
}
