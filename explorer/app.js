// The page: connects, keeps the shell, and shows the view that the address names.

import { answerServer } from "./ask.js";
import { Basket } from "./basket.js";
import { BasketView } from "./basket_view.js";
import { ComponentsView } from "./components.js";
import { DetailsPane } from "./details.js";
import { connectionDialog, helpDialog } from "./dialogs.js";
import { announce, fill } from "./dom.js";
import { FolderStore } from "./folders.js";
import { lastSegment } from "./format.js";
import { HomeView } from "./home.js";
import { language, t } from "./i18n.js";
import { McpClient } from "./mcp.js";
import { PreviewView } from "./preview.js";
import { CLIENTS_URI, MOUNTS_URI, ResourceApi, SUBSCRIPTIONS_URI } from "./resources.js";
import { goTo, parseHash, viewLink } from "./router.js";
import { marksFor } from "./sanitize.js";
import { SearchView } from "./search.js";
import { applySettings, mcpAddress, takeTokenFromAddress, tokenFor } from "./settings.js";
import { Shell } from "./shell.js";
import { TreeView } from "./tree.js";

/** @typedef {{ element: HTMLElement, destroy: () => void, focus?: () => void }} View */

/** A server, and what the page holds of it. */
class Connection {
  /** @param {string} address */
  constructor(address) {
    this.client = new McpClient(address, tokenFor(address), answerServer);
    this.api = new ResourceApi(this.client);
    this.folders = new FolderStore(this.api);
    this.basket = new Basket(address);
  }
}

/** How long a burst of changes is gathered, in milliseconds. */
const LIST_DELAY = 400;

export class App {
  #connection = new Connection(mcpAddress());
  /** @type {View | null} */
  #view = null;
  /** @type {import("./types.js").Route} */
  #route = { view: "home" };
  /** @type {{ uri: string, words: string[] }} */
  #marks = { uri: "", words: [] };
  #listTimer = 0;
  /** @type {Set<string>} */
  #changedLists = new Set();
  #mountTimer = 0;

  constructor() {
    this.#start();
    this.#build(new Set());
    addEventListener("hashchange", () => this.#go());
    addEventListener("keydown", (event) => this.#onKey(event));
    addEventListener("pagehide", () => this.client.close());
    addEventListener("pageshow", (event) => event.persisted && this.connect());
    addEventListener("online", () => this.client.retry());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.client.state === "offline") this.client.retry();
    });
  }

  get client() {
    return this.#connection.client;
  }

  get api() {
    return this.#connection.api;
  }

  get folders() {
    return this.#connection.folders;
  }

  get basket() {
    return this.#connection.basket;
  }

  /** Connects to the address of the settings. */
  connect() {
    this.client.close();
    this.#connection = new Connection(mcpAddress());
    this.#start();
    this.#build(new Set());
  }

  #start() {
    const { client } = this;
    client.on("state", () => client === this.client && this.#onState());
    client.on("notification", (message) => client === this.client && this.#onNotification(message));
    client.on("reconnected", () => client === this.client && this.#onReconnected());
    client.start();
    this.#loadRoots();
  }

  async #loadRoots() {
    const { client, folders } = this;
    for (let isDone = false; !isDone;) {
      await client.whenReady();
      if (client.state === "closed") return;
      isDone = await folders.loadRoots().then(
        () => true,
        () => false,
      );
      if (!isDone) await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    if (folders === this.folders && this.#route.view === "resource") this.tree?.reveal(String(this.#route.uri));
  }

  /**
   * Builds the whole page anew: at the start, and in another language.
   * @param {Iterable<string>} expanded
   */
  #build(expanded) {
    document.documentElement.lang = language();
    this.#view?.destroy();
    this.#view = null;
    this.tree?.destroy();
    this.tree = new TreeView(this.folders);
    this.tree.restore(expanded);
    this.details = new DetailsPane(this);
    this.shell = new Shell(this);
    this.#onState();
    this.#go();
  }

  /** Shows the page in the language and the colours of the settings. */
  rebuild() {
    applySettings();
    this.#build(this.tree?.expanded ?? []);
  }

  #onState() {
    const { client } = this;
    this.shell?.showState(client.state, client.problem);
    if (client.state === "unauthorized" && !document.querySelector("dialog[open]")) connectionDialog(this);
    if (client.state === "ready" && this.#view instanceof HomeView) this.#view.refresh();
  }

  async #onReconnected() {
    announce(t("reconnected"));
    this.api.forget();
    await this.folders.refreshAll();
    if (this.#view instanceof PreviewView || this.#view instanceof HomeView || this.#view instanceof ComponentsView)
      this.#view.refresh();
  }

  /** @param {any} message */
  #onNotification({ method, params }) {
    if (method === "notifications/resources/updated") return this.#onUpdated(String(params?.uri ?? ""));
    const list = /^notifications\/(resources|tools|prompts)\/list_changed$/.exec(method)?.[1];
    if (!list) return;
    this.#changedLists.add(list);
    this.#listTimer ||= window.setTimeout(() => {
      this.#listTimer = 0;
      const lists = [...this.#changedLists];
      this.#changedLists.clear();
      for (const one of lists) this.#onListChanged(one);
    }, LIST_DELAY);
  }

  /** @param {string} list of resources, tools or prompts */
  #onListChanged(list) {
    if (list === "tools") this.api.forget();
    if (list === "resources") this.folders.listsChanged();
    const view = this.#view;
    // The server has no word of its own for a change of the templates.
    if (view instanceof ComponentsView && view.kind === (list === "resources" ? "templates" : list)) view.refresh();
  }

  /** @param {string} uri */
  #onUpdated(uri) {
    if (uri.startsWith(MOUNTS_URI)) {
      this.#mountTimer ||= window.setTimeout(() => {
        this.#mountTimer = 0;
        this.folders.loadRoots().catch(() => {});
      }, LIST_DELAY);
    }
    if (this.#view instanceof HomeView) this.#view.updated(uri);
    if (uri === CLIENTS_URI || uri === SUBSCRIPTIONS_URI || uri.startsWith(MOUNTS_URI)) return;
    this.folders.resourceUpdated(uri);
    if (this.#view instanceof PreviewView && this.#view.uri === uri) {
      announce(t("updatedNow"));
      this.#view.refresh();
    }
  }

  #go() {
    const route = parseHash(location.hash);
    const before = this.#route;
    this.#route = route;
    this.shell?.showRoute(route);
    document.title = [route.uri ? lastSegment(route.uri) : route.name, t("pageTitle")].filter(Boolean).join(" – ");
    const view = this.#view;
    if (view instanceof PreviewView && route.view === "resource" && route.uri === view.uri)
      return view.setLine(route.line);
    if (view instanceof SearchView && route.view === "search") return view.followAddress(route.query ?? "");
    if (view instanceof ComponentsView && route.view === view.kind) return view.show(route.name);
    view?.destroy();
    if (before.uri && before.uri !== route.uri && !this.tree?.expanded.has(before.uri))
      this.client.unsubscribe(before.uri);
    this.#view = this.#open(route);
    this.shell?.setMain(this.#view.element, route.view === "resource");
    if (route.view === "resource" && route.uri) this.tree?.reveal(route.uri);
    else this.describe(null);
  }

  /**
   * @param {import("./types.js").Route} route
   * @returns {View}
   */
  #open(route) {
    switch (route.view) {
      case "resource":
        return new PreviewView(this, String(route.uri), route.line);
      case "search":
        return new SearchView(this, route.query ?? "");
      case "basket":
        return new BasketView(this);
      case "home":
        return new HomeView(this);
      default:
        return new ComponentsView(this, route.view, route.name);
    }
  }

  /**
   * Shows the details of a resource.
   * @param {any} resource
   */
  describe(resource) {
    this.details?.show(resource);
  }

  /**
   * The mount that a URI belongs to.
   * @param {string} uri
   */
  mountOf(uri) {
    const mounts = this.folders.mounts.filter((mount) => mount.root && uri.startsWith(mount.root));
    return mounts.sort((a, b) => String(b.root).length - String(a.root).length)[0];
  }

  /**
   * Notes the words that a search found in a resource.
   * @param {string} uri
   * @param {string[]} words
   */
  setMarks(uri, words) {
    this.#marks = { uri, words };
  }

  /** @param {string} uri */
  marksFor(uri) {
    return this.#marks.uri === uri ? marksFor(this.#marks.words) : null;
  }

  /**
   * Searches as a person types.
   * @param {string} query
   */
  search(query) {
    if (this.#view instanceof SearchView) return this.#view.setQuery(query);
    // The view opens now: an event of the address could come after the next letters.
    history.pushState(null, "", viewLink("search", undefined, query));
    this.#go();
  }

  /** @param {KeyboardEvent} event a key in the search box */
  onSearchKey(event) {
    if (this.#view instanceof SearchView) this.#view.onKey(event);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const { target } = event;
    const isTyping = target instanceof HTMLElement && target.matches("input, textarea, select");
    if (event.key === "Escape") return this.shell?.escape(target);
    if (isTyping || document.querySelector("dialog[open]")) return;
    if (event.key === "/") this.shell?.focusSearch();
    else if (event.key === "?") helpDialog();
    else if (event.key === "1") goTo(viewLink("home"));
    else if (event.key === "2") this.tree?.focus();
    else if (event.key === "3") this.#view?.focus?.();
    else if (event.key === "4") goTo(viewLink("basket"));
    else return;
    event.preventDefault();
  }
}

const root = document.getElementById("app");
if (root) {
  takeTokenFromAddress();
  applySettings();
  fill(root);
  const app = new App();
  // For people who look at the page with the tools of their browser.
  Object.defineProperty(window, "refdesk", { value: app });
}
