// Search as you type: words and meaning, filters, and the matches marked.

import { errorBox, fill, h, icon } from "./dom.js";
import { number, safeName } from "./format.js";
import { t } from "./i18n.js";
import { textOf } from "./resources.js";
import { goTo, linkTo, viewLink } from "./router.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {{ uri: string, title: string, where: string, snippet: string, line?: number }} Hit */

/** How long a person must stop typing, in milliseconds. */
const TYPING_DELAY = 180;
const LIMIT = 20;

/** Names that a search by name shows. */
const MAX_NAMES = 200;

const AGES = { day: 1, week: 7, month: 31, year: 366 };

export class SearchView {
  /** @type {Hit[]} */
  #hits = [];
  #active = -1;
  #timer = 0;
  #cursor = "";
  #abort = new AbortController();
  #isPending = false;
  /** The query that the address has. */
  #addressed = "";
  /** Whether the first hit is opened as soon as it is there. */
  #opensFirst = false;

  /**
   * @param {App} app
   * @param {string} query
   */
  constructor(app, query) {
    this.app = app;
    this.query = query;
    this.#addressed = query;
    this.filters = this.#buildFilters();
    this.status = h("p", { class: "search-status quiet", role: "status", "aria-live": "polite" });
    this.results = h("ol", { class: "hits", role: "listbox", "aria-label": t("searchResults"), id: "search-results" });
    this.more = h("div", null);
    this.element = h(
      "div",
      { class: "page search-view" },
      h("h1", { class: "hidden" }, t("search")),
      this.filters,
      this.status,
      this.results,
      this.more,
    );
    this.results.addEventListener("keydown", (event) => this.onKey(event));
    this.#run();
  }

  destroy() {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  /** Searches for what the address says, unless it still says what was typed before. @param {string} query */
  followAddress(query) {
    if (query === this.#addressed) return;
    this.#addressed = query;
    this.setQuery(query);
  }

  /** @param {string} query */
  setQuery(query) {
    if (query === this.query) return;
    this.query = query;
    this.#isPending = true;
    this.#opensFirst = false;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.#addressed = query;
      history.replaceState(null, "", viewLink("search", undefined, query));
      this.#run();
    }, TYPING_DELAY);
  }

  #buildFilters() {
    const rerun = () => this.#run();
    const field = (/** @type {string} */ id, /** @type {string} */ label, /** @type {HTMLElement} */ input) => {
      input.id = `filter-${id}`;
      input.addEventListener("change", rerun);
      return h("div", { class: "filter" }, h("label", { for: input.id }, label), input);
    };
    const select = (/** @type {[string, string][]} */ options) =>
      h(
        "select",
        null,
        options.map(([value, label]) => h("option", { value }, label)),
      );
    const any = /** @type {[string, string]} */ (["", t("any")]);
    this.mime = select([
      any,
      ["text/markdown", "Markdown"],
      ["text/", t("typeText")],
      ["image/", t("typeImage")],
      ["application/pdf", "PDF"],
      ["application/json", "JSON"],
      ["text/html", "HTML"],
    ]);
    this.audience = select([any, ["user", t("audienceUser")], ["assistant", t("audienceAssistant")]]);
    this.priority = select([any, ["0.3", "≥ 0.3"], ["0.5", "≥ 0.5"], ["0.8", "≥ 0.8"], ["1", "1"]]);
    this.age = select([
      any,
      ["day", t("lastDay")],
      ["week", t("lastWeek")],
      ["month", t("lastMonth")],
      ["year", t("lastYear")],
    ]);
    const mount = (this.mount = select([any]));
    this.app.folders.whenRooted().then(() => {
      const { mounts } = this.app.folders;
      mount.append(...mounts.map(({ name }) => h("option", { value: name }, name)));
      modeField.hidden = !mounts.some(({ index }) => index?.meaning === true);
    });
    this.lang = select([
      any,
      ["en", "English"],
      ["ja", "日本語"],
      ["zh", "中文"],
      ["ko", "한국어"],
      ["de", "Deutsch"],
      ["fr", "Français"],
      ["es", "Español"],
    ]);
    this.mode = select([
      ["both", t("modeBoth")],
      ["words", t("modeWords")],
      ["meaning", t("modeMeaning")],
    ]);
    // Without a model there is nothing to choose.
    const modeField = field("mode", t("mode"), this.mode);
    modeField.hidden = true;
    return h(
      "div",
      { class: "filters", role: "group", "aria-label": t("filters") },
      field("mime", t("columnType"), this.mime),
      field("mount", t("mount"), this.mount),
      field("age", t("columnAge"), this.age),
      field("audience", t("audience"), this.audience),
      field("priority", t("columnPriority"), this.priority),
      field("lang", t("language"), this.lang),
      modeField,
    );
  }

  #arguments() {
    const days = AGES[/** @type {keyof typeof AGES} */ (this.age?.value ?? "")];
    return {
      query: this.lang?.value ? `${this.query} lang:${this.lang.value}` : this.query,
      limit: LIMIT,
      ...(this.mode && this.mode.value !== "both" ? { mode: this.mode.value } : {}),
      ...(this.mime?.value ? { mime: this.mime.value } : {}),
      ...(this.audience?.value ? { audience: this.audience.value } : {}),
      ...(this.priority?.value ? { min_priority: Number(this.priority.value) } : {}),
      ...(this.mount?.value ? { mount: this.mount.value } : {}),
      ...(days ? { modified_since: new Date(Date.now() - days * 86_400_000).toISOString() } : {}),
    };
  }

  /** @param {boolean} [isMore] */
  async #run(isMore = false) {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    if (!isMore) this.#cursor = "";
    if (this.query.trim() === "") return this.#show([], "", t("searchHint"));
    this.status.textContent = t("searching");
    try {
      // Names alone cannot be filtered so.
      this.filters.hidden = !(await this.app.api.hasTool("resources_search"));
      if (this.filters.hidden) return await this.#byName(signal);
      const args = { ...this.#arguments(), ...(this.#cursor ? { cursor: this.#cursor } : {}) };
      const result = await this.app.api.callTool("resources_search", args, { signal });
      if (signal.aborted) return;
      if (result.isError) throw new Error(textOf(result));
      const told = result.structuredContent ?? {};
      const hits = toHits(told);
      const note = [
        told.suggestion && t("didYouMean", { query: String(told.suggestion) }),
        told.note && String(told.note),
      ]
        .filter(Boolean)
        .join(" ");
      this.#show(isMore ? [...this.#hits, ...hits] : hits, String(told.cursor ?? ""), note);
    } catch (error) {
      this.#isPending = signal.aborted;
      if (!signal.aborted)
        fill(
          this.status,
          errorBox(error, () => this.#run()),
        );
    }
  }

  /**
   * A server without a search is searched by the names in its plain list.
   * @param {AbortSignal} signal
   */
  async #byName(signal) {
    const wanted = this.query.toLowerCase();
    const all = await this.app.folders.plainItems();
    if (signal.aborted) return;
    const found = all.filter(({ name, uri, description }) =>
      `${name} ${uri} ${description ?? ""}`.toLowerCase().includes(wanted),
    );
    const hits = found.slice(0, MAX_NAMES).map(({ uri, name, description }) => ({
      uri,
      title: name,
      where: "",
      snippet: description ?? "",
    }));
    this.#show(hits, "", t("searchByName"));
  }

  /**
   * @param {Hit[]} hits
   * @param {string} cursor
   * @param {string} note
   */
  #show(hits, cursor, note) {
    this.#hits = hits;
    this.#cursor = cursor;
    this.#active = -1;
    this.#isPending = false;
    if (this.#opensFirst && hits.length > 0) return this.#open(0);
    const count = this.query.trim()
      ? t(hits.length === 1 ? "oneHit" : "hitCount", { count: number(hits.length) + (cursor ? "+" : "") })
      : "";
    fill(this.status, [count, note].filter(Boolean).join(" · "));
    fill(
      this.results,
      hits.map((hit, index) => this.#render(hit, index)),
    );
    fill(
      this.more,
      cursor && h("button", { type: "button", class: "button", onclick: () => this.#run(true) }, t("moreHits")),
    );
  }

  /**
   * @param {Hit} hit
   * @param {number} index
   */
  #render(hit, index) {
    return h(
      "li",
      {
        class: "hit",
        role: "option",
        tabindex: index === 0 ? 0 : -1,
        id: `hit-${index}`,
        "aria-selected": "false",
        onclick: () => this.#open(index),
      },
      h(
        "div",
        { class: "hit-title" },
        icon("file"),
        h("strong", null, hit.title),
        hit.where && h("span", { class: "quiet" }, hit.where),
      ),
      h("div", { class: "hit-uri mono quiet" }, hit.uri, hit.line ? `:${hit.line}` : ""),
      hit.snippet && h("p", { class: "snippet" }, snippetNodes(hit.snippet)),
    );
  }

  /** @param {number} index */
  #open(index) {
    const hit = this.#hits[index];
    if (!hit) return;
    const words = [...hit.snippet.matchAll(/\*\*(.+?)\*\*/g)].map((found) => found[1]);
    this.app.setMarks(hit.uri, words);
    goTo(linkTo(hit.uri, hit.line && hit.line > 1 ? hit.line : undefined));
  }

  /**
   * Keys in the search box and in the results.
   * @param {KeyboardEvent} event
   */
  onKey(event) {
    // A person who types fast means the hits of what is typed, not those that are still shown.
    if (event.key === "Enter" && this.#isPending) this.#opensFirst = true;
    else if (event.key === "Enter" && this.#hits.length > 0) this.#open(Math.max(0, this.#active));
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = this.#active + (event.key === "ArrowDown" ? 1 : -1);
      this.#activate(Math.max(0, Math.min(next, this.#hits.length - 1)));
    } else return;
    event.preventDefault();
  }

  /** @param {number} index */
  #activate(index) {
    const rows = /** @type {HTMLElement[]} */ ([...this.results.children]);
    for (const [at, row] of rows.entries()) {
      row.setAttribute("aria-selected", String(at === index));
      row.tabIndex = at === index ? 0 : -1;
    }
    this.#active = index;
    rows[index]?.focus();
  }
}

/**
 * @param {any} told
 * @returns {Hit[]}
 */
function toHits(told) {
  const base = String(told.base ?? "");
  const rows = Array.isArray(told.hits) ? told.hits : [];
  return rows.map((/** @type {any} */ row) => {
    const uri = base + String(row.uri);
    const name = uri.slice(uri.lastIndexOf("/") + 1);
    return {
      uri,
      title: safeName(String(row.title ?? name)),
      where: String(row.where ?? ""),
      snippet: String(row.snippet ?? ""),
      line: Number(row.start_line) || undefined,
    };
  });
}

/**
 * A snippet, with what the server put between `**` marked.
 * @param {string} snippet
 * @returns {Node[]}
 */
function snippetNodes(snippet) {
  return snippet
    .split(/\*\*(.+?)\*\*/g)
    .map((piece, at) => (at % 2 === 1 ? h("mark", null, piece) : document.createTextNode(piece)));
}
