// Home: mounts, clients, requests, subscriptions, index, and how to add the server to a host.

import { copyButton, fill, h } from "./dom.js";
import { age, date, number, size } from "./format.js";
import { hostEntries } from "./hosts.js";
import { t } from "./i18n.js";
import { jsonTree } from "./json_view.js";
import { CLIENTS_URI, MOUNTS_URI, SUBSCRIPTIONS_URI } from "./resources.js";
import { linkTo } from "./router.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.js").MountStatus} MountStatus */

/** How old the list of clients may be, in milliseconds. */
const CLIENTS_DELAY = 3000;

export class HomeView {
  timer = 0;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.server = h("div", { class: "server-line" });
    this.mounts = h("div", { class: "cards" });
    this.clients = h("div", null);
    this.recent = h("div", null);
    this.subscriptions = h("div", null);
    this.hosts = h("div", null);
    // Only refdesk tells who is connected.
    this.activity = h(
      "div",
      null,
      section(t("clients"), this.clients),
      section(t("recentRequests"), this.recent),
      section(t("subscriptions"), this.subscriptions),
    );
    this.element = h(
      "div",
      { class: "page home" },
      this.server,
      section(t("mounts"), this.mounts),
      this.activity,
      section(t("addToHost"), this.hosts),
    );
    this.off = app.folders.on("roots", () => this.#renderMounts());
    this.#renderServer();
    this.#renderMounts();
    this.#loadClients();
    this.#loadSubscriptions();
    for (const uri of [MOUNTS_URI, CLIENTS_URI, SUBSCRIPTIONS_URI]) app.client.subscribe(uri);
  }

  destroy() {
    this.off();
    clearTimeout(this.timer);
    for (const uri of [CLIENTS_URI, SUBSCRIPTIONS_URI]) this.app.client.unsubscribe(uri);
  }

  /**
   * The server says that a status changed.
   * @param {string} uri
   */
  updated(uri) {
    // Reading who is connected is a request too, which changes it: so not at once, and not unseen.
    if (uri === CLIENTS_URI) {
      this.timer ||= window.setTimeout(() => {
        this.timer = 0;
        if (!document.hidden) this.#loadClients();
      }, CLIENTS_DELAY);
    } else if (uri === SUBSCRIPTIONS_URI) this.#loadSubscriptions();
  }

  /** After a reconnect everything may be different. */
  refresh() {
    this.#renderServer();
    this.#loadClients();
    this.#loadSubscriptions();
  }

  #renderServer() {
    fill(this.hosts, this.#hosts());
    const { serverInfo = {}, protocolVersion } = this.app.client.server;
    fill(
      this.server,
      h("h1", null, String(serverInfo.title || serverInfo.name || t("server"))),
      h(
        "p",
        { class: "quiet" },
        [
          serverInfo.version,
          protocolVersion && t("revision", { revision: String(protocolVersion) }),
          this.app.client.url,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    );
  }

  #renderMounts() {
    const { mounts, isRooted } = this.app.folders;
    this.activity.hidden = isRooted && mounts.length === 0;
    this.mounts.classList.toggle("cards", mounts.length > 0);
    if (mounts.length > 0)
      return fill(
        this.mounts,
        mounts.map((mount) => this.#card(mount)),
      );
    fill(
      this.mounts,
      h("p", { class: "quiet" }, this.app.client.state === "ready" ? t("noMounts") : t("loading")),
      this.app.folders.problem && h("p", { class: "problem", role: "alert" }, this.app.folders.problem),
      this.app.folders.roots.length > 0 &&
        h(
          "ul",
          null,
          this.app.folders.roots
            .slice(0, 50)
            .map((root) => h("li", null, h("a", { href: linkTo(root.uri) }, root.name))),
        ),
    );
  }

  /** @param {MountStatus} mount */
  #card(mount) {
    const target = mount.root?.includes("://") ? mount.root : `mount:${mount.name}`;
    const states = /** @type {const} */ ({
      ready: "stateReady",
      starting: "stateStarting",
      degraded: "stateDegraded",
      failed: "stateFailed",
    });
    const state = states[/** @type {keyof typeof states} */ (mount.state)];
    const index = mount.index;
    const counts = Object.entries(mount.counts ?? {}).map(([name, count]) => countLine(name, Number(count)));
    if (typeof index?.resources === "number") counts.push(countLine("resources", index.resources));
    const problem = mount.last_error?.words ?? (mount.state === "ready" ? null : mount.words);
    return h(
      "article",
      { class: `card ${mount.state}` },
      h(
        "header",
        null,
        h("h3", null, h("a", { href: linkTo(target) }, mount.name)),
        h("span", { class: `badge ${mount.state}` }, state ? t(state) : mount.state),
      ),
      h("p", { class: "quiet" }, [mount.kind, ...new Set(counts)].join(" · ")),
      mount.facts?.server &&
        h(
          "p",
          { class: "quiet" },
          [mount.facts.server.name, mount.facts.server.version, mount.facts.revision].filter(Boolean).join(" · "),
        ),
      mount.facts?.cache && h("p", { class: "quiet" }, cacheLine(mount.facts.cache)),
      h("p", { class: "mono quiet ellipsis", title: mount.root ?? "" }, mount.root ?? ""),
      index &&
        h(
          "div",
          { class: "index-line" },
          h(
            "span",
            { class: "quiet" },
            index.fault ? String(index.fault) : indexLine(index),
          ),
          h("progress", { max: 1, value: index.complete ? 1 : null, "aria-label": t("indexLabel") }),
        ),
      problem &&
        h(
          "p",
          { class: "problem" },
          String(problem),
          mount.last_error?.at ? h("span", { class: "quiet" }, ` ${age(mount.last_error.at)}`) : null,
        ),
      mount.state !== "ready" && h("p", { class: "next-step" }, nextStep(mount)),
      h("details", null, h("summary", null, t("allFacts")), jsonTree(mount.facts ?? {})),
    );
  }

  async #loadClients() {
    try {
      const told = await this.app.api.readJson(CLIENTS_URI);
      const clients = Array.isArray(told?.clients) ? told.clients : [];
      const names = new Map(clients.map((/** @type {any} */ client) => [client.id, client.name]));
      fill(
        this.clients,
        table(
          [
            t("client"),
            t("revisionColumn"),
            t("transport"),
            t("principal"),
            t("requests"),
            t("errors"),
            t("subscriptions"),
            t("lastSeen"),
          ],
          clients
            .slice(0, 100)
            .map((/** @type {any} */ one) => [
              `${one.name ?? "?"} ${one.version ?? ""}`,
              one.revision,
              one.transport,
              one.principal,
              one.requests,
              one.errors,
              one.subscriptions,
              age(one.lastSeen),
            ]),
        ),
      );
      const recent = Array.isArray(told?.recent) ? told.recent : [];
      fill(
        this.recent,
        table(
          [t("time"), t("client"), t("request"), t("target"), t("outcome"), "ms"],
          recent
            .slice(0, 50)
            .map((/** @type {any} */ one) => [
              h("span", { title: date(one.at) }, age(one.at)),
              names.get(one.client) ?? one.client,
              one.tool ?? one.method,
              one.uri ? h("a", { href: linkTo(String(one.uri)) }, String(one.uri)) : "",
              h("span", { class: one.outcome === "ok" ? "" : "problem" }, String(one.outcome ?? "")),
              one.milliseconds,
            ]),
        ),
      );
    } catch {
      // A server that does not tell who is connected.
      fill(this.clients, h("p", { class: "quiet" }, t("noClients")));
      fill(this.recent, h("p", { class: "quiet" }, t("noClients")));
    }
  }

  async #loadSubscriptions() {
    try {
      const told = await this.app.api.readJson(SUBSCRIPTIONS_URI);
      const rows = Array.isArray(told?.subscriptions) ? told.subscriptions : [];
      if (rows.length === 0) return fill(this.subscriptions, h("p", { class: "quiet" }, t("noSubscriptions")));
      fill(
        this.subscriptions,
        table(
          [t("target"), t("subscribers"), t("modified")],
          rows
            .slice(0, 100)
            .map((/** @type {any} */ one) => [
              one.uri
                ? h("a", { href: linkTo(String(one.uri)) }, String(one.uri))
                : t("listOf", { what: String(one.list ?? "") }),
              one.subscribers,
              age(one.last_change ?? undefined),
            ]),
        ),
      );
    } catch {
      fill(this.subscriptions, h("p", { class: "quiet" }, t("noSubscriptions")));
    }
  }

  #hosts() {
    const { client } = this.app;
    const entries = hostEntries(client.url, client.token, hostName(this.app.api.serverName));
    const shown = h("div", { class: "host-text" });
    const buttons = entries.map((entry) =>
      h("button", { type: "button", class: "tab", "aria-pressed": "false", onclick: () => show(entry) }, entry.title),
    );
    const show = (/** @type {import("./hosts.js").HostEntry} */ entry) => {
      for (const [at, button] of buttons.entries()) button.setAttribute("aria-pressed", String(entries[at] === entry));
      fill(
        shown,
        h("p", { class: "quiet" }, entry.file ? t("pasteInto", { file: entry.file }) : t("runThis")),
        h("pre", { class: "block-code", tabindex: 0 }, entry.text),
        copyButton(t("copy"), () => entry.text),
      );
    };
    show(entries[0]);
    return h("div", null, h("div", { class: "tabs", role: "group", "aria-label": t("hosts") }, buttons), shown);
  }
}

/**
 * @param {string} title
 * @param {HTMLElement} body
 */
function section(title, body) {
  return h("section", null, h("h2", null, title), body);
}

/**
 * The name of a server in a host.
 * @param {string} name
 */
function hostName(name) {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 40) || "server"
  );
}

/** How far an index is; while a mount is walked nobody knows the share. @param {any} index */
function indexLine({ complete, indexed }) {
  if (complete) return t("indexComplete");
  return typeof indexed === "number" ? t("indexSoFar", { count: number(indexed) }) : t("indexing");
}

/**
 * @param {string[]} names
 * @param {any[][]} rows
 */
function table(names, rows) {
  if (rows.length === 0) return h("p", { class: "quiet" }, t("nothingYet"));
  return h(
    "div",
    { class: "table-scroll", tabindex: 0, role: "region", "aria-label": names.join(", ") },
    h(
      "table",
      { class: "facts" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          names.map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((cells) =>
          h(
            "tr",
            null,
            cells.map((cell) =>
              h("td", null, cell instanceof Node ? cell : cell === undefined || cell === null ? "" : String(cell)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {MountStatus} mount */
function nextStep(mount) {
  if (mount.state === "starting") return t("nextStarting");
  return mount.kind === "upstream" ? t("nextUpstream") : t("nextOther");
}

/**
 * How many of something a mount has.
 * @param {string} name
 * @param {number} count
 */
function countLine(name, count) {
  const keys = /** @type {const} */ ({
    resources: ["oneResource", "resourceCount"],
    templates: ["oneTemplate", "templateCount"],
  });
  const [one, many] = keys[/** @type {keyof typeof keys} */ (name)] ?? [];
  return one ? t(count === 1 ? one : many, { count: number(count) }) : `${number(count)} ${name}`;
}

/** What the server keeps of converted documents. @param {Record<string, any>} cache */
function cacheLine(cache) {
  const counts = t("formCounts", { converted: number(Number(cache.converted) || 0), reused: number(Number(cache.reused) || 0) });
  if (typeof cache.bytes !== "number") return counts;
  return `${counts} · ${t("cacheSize", { size: size(cache.bytes), limit: size(cache.max_bytes) })}`;
}
