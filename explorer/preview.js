// The preview of a resource: its views, the switch between them, and what is live.

import { CodeView } from "./code_view.js";
import { viewChoices } from "./choices.js";
import { copyText, errorBox, fill, h, icon, iconButton } from "./dom.js";
import { DocumentView } from "./document_view.js";
import { lastSegment, safeName } from "./format.js";
import { htmlFrame } from "./frame.js";
import { hasHistory, HistoryView } from "./history.js";
import { t } from "./i18n.js";
import { imageView, binaryView } from "./image_view.js";
import { jsonTree } from "./json_view.js";
import { FolderView } from "./list.js";
import { linkTo } from "./router.js";
import { parseTable, TableView } from "./table_view.js";
import { TextSource } from "./text_source.js";

/** @typedef {import("./choices.js").ViewChoice} ViewChoice */
/** @typedef {{ element: HTMLElement, destroy?: () => void, reload?: () => unknown, focus?: () => void, goTo?: (line: number) => void }} Shown */

/** How much of a table or of JSON is read. */
const MAX_STRUCTURED = 4 * 1024 * 1024;

export class PreviewView {
  /** @type {Shown | null} */
  #shown = null;
  /** @type {ViewChoice | null} */
  #choice = null;
  #turn = 0;
  /** @type {any} */
  resource = null;

  /**
   * @param {import("./app.js").App} app
   * @param {string} uri
   * @param {number} [line]
   */
  constructor(app, uri, line) {
    this.app = app;
    this.uri = uri;
    this.line = line;
    this.crumbs = h("nav", { class: "crumbs", "aria-label": t("breadcrumbs") });
    this.bar = h("div", { class: "preview-bar" });
    this.body = h("div", { class: "preview-body" });
    this.element = h("div", { class: "preview" }, this.crumbs, this.bar, this.body);
    this.offs = [app.basket.on("change", () => this.#renderBar()), app.folders.on("roots", () => this.#renderCrumbs())];
    this.#renderCrumbs();
    this.load();
  }

  destroy() {
    for (const off of this.offs) off();
    this.#shown?.destroy?.();
    this.#turn += 1;
  }

  focus() {
    if (this.#shown?.focus) this.#shown.focus();
    else
      /** @type {HTMLElement | null} */ (
        this.body.querySelector('[tabindex="0"], iframe, summary, a, button')
      )?.focus();
  }

  /** @param {number | undefined} line */
  setLine(line) {
    this.line = line;
    if (!line) return;
    if (this.#shown?.goTo) this.#shown.goTo(line);
    else this.load();
  }

  /** Asks for the metadata and shows the best view. */
  async load() {
    const turn = (this.#turn += 1);
    const { app, uri } = this;
    await app.folders.whenRooted();
    if (turn !== this.#turn) return;
    if (app.folders.isVirtual(uri)) {
      const folder = app.folders.folder(uri);
      this.resource = { uri, name: folder.name, isCollection: true };
      return this.#setChoices();
    }
    fill(this.body, h("p", { class: "quiet padded", role: "status" }, t("loading")));
    try {
      this.resource = await this.#describe();
      if (turn !== this.#turn) return;
      app.client.subscribe(uri);
      app.folders.unmark(uri);
      this.#setChoices();
    } catch (error) {
      if (turn === this.#turn)
        fill(
          this.body,
          errorBox(error, () => this.load()),
        );
    }
    app.describe(this.resource);
  }

  /** The metadata; of a server that has none, what its list and a reading tell. */
  async #describe() {
    const { api, folders } = this.app;
    if (api.hasMetadata) return api.metadata(this.uri);
    const [part] = await api.read(this.uri);
    const row = folders.listed(this.uri);
    const { modified, priority } = row ?? {};
    return {
      uri: this.uri,
      name: row?.name ?? lastSegment(this.uri),
      description: row?.description,
      mimeType: row?.mime ?? part?.mime,
      size: row?.size ?? part?.text?.length,
      annotations: { priority, lastModified: modified === undefined ? undefined : new Date(modified).toISOString() },
    };
  }

  #setChoices() {
    this.choices = viewChoices(this.resource, {
      hasLine: this.line !== undefined,
      hasHistory: hasHistory(this.app, this.uri),
    });
    const kept = this.choices.find(
      (choice) => choice.kind === this.#choice?.kind && choice.mime === this.#choice?.mime,
    );
    this.#show(kept ?? this.choices[0]);
  }

  /** The server says that it changed: read it again, at the same place. */
  async refresh() {
    this.bar.classList.add("fresh");
    setTimeout(() => this.bar.classList.remove("fresh"), 2000);
    if (this.#shown?.reload) {
      await this.#shown.reload();
      this.resource = await this.#describe().catch(() => this.resource);
      this.app.describe(this.resource);
    } else if (this.#choice?.kind !== "list") await this.load();
  }

  #renderCrumbs() {
    const above = this.app.folders.ancestors(this.uri);
    const name =
      this.app.folders.roots.find((root) => root.uri === this.uri)?.name ??
      (this.app.folders.isVirtual(this.uri) ? this.app.folders.folder(this.uri).name : lastSegment(this.uri));
    const links = above.map((item) => h("li", null, h("a", { href: linkTo(item.uri) }, item.name)));
    fill(this.crumbs, h("ol", null, links, h("li", { "aria-current": "page" }, h("h1", null, name))));
  }

  #renderBar() {
    if (!this.resource) return;
    const { basket } = this.app;
    const isIn = basket.has(this.uri);
    const tabs = (this.choices ?? []).map((choice) =>
      h(
        "button",
        {
          type: "button",
          class: "tab",
          "aria-pressed": String(choice === this.#choice),
          title: choice.mime,
          onclick: () => this.#show(choice),
        },
        t(choice.label),
      ),
    );
    fill(
      this.bar,
      h("div", { class: "tabs", role: "group", "aria-label": t("formats") }, tabs),
      h(
        "div",
        { class: "bar-actions" },
        h(
          "button",
          {
            type: "button",
            class: "button small",
            "aria-pressed": String(isIn),
            onclick: () =>
              basket.toggle({
                uri: this.uri,
                name: safeName(String(this.resource.title || this.resource.name)),
                size: this.resource.size,
              }),
          },
          icon(isIn ? "check" : "add"),
          t("basket"),
        ),
        iconButton("link", t("copyLink"), () => copyText(location.href)),
        iconButton("refresh", t("reload"), () => this.load()),
      ),
    );
  }

  /** @param {ViewChoice} choice */
  async #show(choice) {
    const turn = (this.#turn += 1);
    this.#shown?.destroy?.();
    this.#shown = null;
    this.#choice = choice;
    this.#renderBar();
    if (!choice) return fill(this.body, h("p", { class: "quiet padded" }, t("noPreview")));
    fill(this.body, h("p", { class: "quiet padded" }, t("loading")));
    try {
      const shown = await this.#build(choice);
      if (turn !== this.#turn) return void shown.destroy?.();
      this.#shown = shown;
      fill(this.body, shown.element);
    } catch (error) {
      if (turn === this.#turn)
        fill(
          this.body,
          errorBox(error, () => this.#show(choice)),
        );
    }
  }

  /**
   * @param {ViewChoice} choice
   * @returns {Promise<Shown>}
   */
  async #build({ kind, mime, isHighlighted }) {
    const { app, uri } = this;
    const marks = app.marksFor(uri);
    const accept = mime ? [mime] : undefined;
    switch (kind) {
      case "list":
        return new FolderView(app.folders, uri, app.basket);
      case "code":
        return new CodeView(new TextSource(app.api, uri, { accept, isHighlighted: Boolean(isHighlighted) }), {
          line: this.line,
          marks,
        });
      case "document":
        return new DocumentView(app, this.resource, mime, marks);
      case "history":
        return new HistoryView(app, uri);
      case "image":
        return imageView(app.api, uri, mime);
      case "binary":
        return binaryView(app.api, this.resource);
      default:
        return this.#buildRead(kind, accept, marks);
    }
  }

  /**
   * The views that need the whole text.
   * @param {"frame" | "table" | "json" | "outline"} kind
   * @param {string[] | undefined} accept
   * @param {RegExp | null} marks
   * @returns {Promise<Shown>}
   */
  async #buildRead(kind, accept, marks) {
    const window = this.app.api.hasMetadata && kind === "table" ? { offset: 0, length: MAX_STRUCTURED } : undefined;
    const parts = await this.app.api.read(this.uri, { accept, window });
    const part = parts.find((one) => one.text !== undefined);
    const text = part?.text;
    if (text === undefined) throw new Error(t("noText"));
    if (kind === "frame") return { element: htmlFrame(text, this.uri, marks, this.resource?._meta?.["dev.refdesk/language"]) };
    if (kind === "table")
      return new TableView(
        parseTable(text, part?.mime.startsWith("text/tab") ? "\t" : ","),
        part?.window?.eof === false,
      );
    if (text.length > MAX_STRUCTURED) throw new Error(t("tooLong"));
    const value = JSON.parse(text);
    return { element: kind === "json" ? h("div", { class: "scroll padded" }, jsonTree(value)) : this.#outline(value) };
  }

  /** @param {any} symbols */
  #outline(symbols) {
    /** @type {(rows: any[], depth: number) => HTMLElement} */
    const level = (rows, depth) =>
      h(
        "ul",
        { class: "outline" },
        rows
          .slice(0, 2000)
          .map((row) =>
            h(
              "li",
              null,
              h(
                "a",
                { href: linkTo(this.uri, Number(row.start_line) || 1) },
                h("span", { class: "quiet" }, `${row.kind ?? ""} `),
                String(row.name ?? ""),
              ),
              h("span", { class: "quiet" }, ` ${row.start_line ?? ""}`),
              Array.isArray(row.children) && row.children.length > 0 && depth < 20
                ? level(row.children, depth + 1)
                : null,
            ),
          ),
      );
    return h("div", { class: "scroll padded" }, level(Array.isArray(symbols) ? symbols : [], 0));
  }
}
