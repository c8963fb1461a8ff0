// MCP client over Streamable HTTP, revision 2025-11-25: a session, its stream, and reconnects.

import { Emitter } from "./emitter.js";
import { readEvents } from "./sse.js";

const REVISION = "2025-11-25";
const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;
const RESUMES = 3;

/** The extension by which a client says that it knows collections and metadata. */
export const METADATA_EXTENSION = "dev.refdesk/resource-metadata";

/** An error that the server answers. */
export class McpError extends Error {
  /**
   * @param {number} code
   * @param {string} message
   * @param {any} [data]
   */
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The session is gone, so a new one is needed. */
class SessionLost extends Error {}

/** The server wants a token, or another one. */
export class Unauthorized extends Error {}

/**
 * @typedef {object} RequestOptions
 * @property {AbortSignal} [signal]
 * @property {(progress: { progress: number, total?: number, message?: string }) => void} [onProgress]
 */

/** @typedef {"connecting" | "ready" | "offline" | "unauthorized" | "closed"} ConnectionState */

/**
 * Emits `state`, `notification` (a message) and `reconnected`.
 */
export class McpClient extends Emitter {
  /** @type {ConnectionState} */
  state = "connecting";
  /** Why it is not ready. */
  problem = "";
  /** @type {any} the result of `initialize` */
  server = {};
  #session = "";
  #nextId = 0;
  #lastEvent = "";
  #delay = FIRST_DELAY;
  /** @type {Promise<void> | null} */
  #opening = null;
  #stream = new AbortController();
  #timer = 0;
  /** @type {Map<number, (progress: any) => void>} */
  #progress = new Map();
  /** @type {Set<string>} */
  #subscriptions = new Set();
  #wasReady = false;

  /**
   * @param {string} url
   * @param {string} token
   * @param {(method: string, params: any) => Promise<any>} answer handles requests of the server
   */
  constructor(url, token, answer) {
    super();
    this.url = url;
    this.token = token;
    this.answer = answer;
  }

  /** Connects, and connects again whenever that is needed. */
  start() {
    this.#open().catch(() => {});
  }

  /** Tries at once instead of at the end of the waiting time. */
  retry() {
    this.#delay = FIRST_DELAY;
    clearTimeout(this.#timer);
    this.start();
  }

  /**
   * Resolves once the server has said what it can do.
   * @returns {Promise<void>}
   */
  whenReady() {
    if (this.server.capabilities || this.state === "closed") return Promise.resolve();
    return new Promise((resolve) => {
      const off = this.on("state", (state) => {
        if (state !== "ready" && state !== "closed") return;
        off();
        resolve();
      });
    });
  }

  /** Ends the session. */
  close() {
    this.#setState("closed");
    clearTimeout(this.#timer);
    this.#stream.abort();
    if (!this.#session) return;
    const headers = this.#headers();
    fetch(this.url, { method: "DELETE", headers, keepalive: true, credentials: "omit" }).catch(() => {});
    this.#session = "";
  }

  /**
   * @param {string} method
   * @param {any} [params]
   * @param {RequestOptions} [options]
   * @returns {Promise<any>}
   */
  async request(method, params = {}, options = {}) {
    for (let tries = 0; ; tries += 1) {
      if (this.state !== "ready") await this.#open();
      try {
        return await this.#send(method, params, options);
      } catch (error) {
        if (!(error instanceof SessionLost) || tries > 0) throw error;
        this.#session = "";
        this.#setState("connecting");
      }
    }
  }

  /** @param {string} uri */
  async subscribe(uri) {
    await this.whenReady();
    if (this.#subscriptions.has(uri) || !this.server.capabilities?.resources?.subscribe) return;
    this.#subscriptions.add(uri);
    await this.request("resources/subscribe", { uri }).catch(() => this.#subscriptions.delete(uri));
  }

  /** @param {string} uri */
  async unsubscribe(uri) {
    if (!this.#subscriptions.delete(uri)) return;
    await this.request("resources/unsubscribe", { uri }).catch(() => {});
  }

  /**
   * Opens the session once, however many wait for it.
   * @returns {Promise<void>}
   */
  #open() {
    if (this.state === "closed") return Promise.reject(new Error("the connection is closed"));
    this.#opening ??= this.#connect().finally(() => (this.#opening = null));
    return this.#opening;
  }

  async #connect() {
    clearTimeout(this.#timer);
    try {
      // After a break of the network the session may still be there.
      const isNew = !this.#session || !(await this.#isAlive());
      if (isNew) await this.#initialize();
      this.#delay = FIRST_DELAY;
      this.#setState("ready");
      this.#listen();
      if (this.#wasReady) {
        if (isNew) await this.#subscribeAgain();
        this.emit("reconnected", { isNew });
      }
      this.#wasReady = true;
    } catch (error) {
      this.#session = "";
      if (error instanceof Unauthorized) this.#setState("unauthorized", error.message);
      else this.#goOffline(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  async #isAlive() {
    try {
      await this.#send("ping", {}, {});
      return true;
    } catch (error) {
      if (error instanceof SessionLost) return false;
      throw error;
    }
  }

  async #initialize() {
    this.#session = "";
    this.#lastEvent = "";
    const known = { [METADATA_EXTENSION]: {} };
    this.server = await this.#send(
      "initialize",
      {
        protocolVersion: REVISION,
        capabilities: { elicitation: { form: {}, url: {} }, experimental: known, extensions: known },
        clientInfo: { name: "refdesk-page", title: "refdesk page", version: "1" },
      },
      {},
    );
    await this.#post({ method: "notifications/initialized" });
  }

  async #subscribeAgain() {
    const uris = [...this.#subscriptions];
    this.#subscriptions.clear();
    await Promise.all(uris.map((uri) => this.subscribe(uri)));
  }

  /** @returns {Record<string, string>} */
  #headers() {
    /** @type {Record<string, string>} */
    const headers = {};
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (this.#session) headers["Mcp-Session-Id"] = this.#session;
    if (this.server.protocolVersion) headers["MCP-Protocol-Version"] = this.server.protocolVersion;
    return headers;
  }

  /**
   * @param {any} message
   * @param {AbortSignal} [signal]
   * @returns {Promise<Response>}
   */
  async #post(message, signal) {
    const headers = {
      ...this.#headers(),
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const init = { method: "POST", headers, body, signal, credentials: /** @type {const} */ ("omit") };
    const response = await fetch(this.url, init);
    if (response.status === 401) {
      this.#setState("unauthorized", "401");
      throw new Unauthorized("401");
    }
    if (this.#session && (response.status === 404 || (await isSessionError(response)))) throw new SessionLost();
    this.#session ||= response.headers.get("Mcp-Session-Id") ?? "";
    return response;
  }

  /**
   * @param {string} method
   * @param {any} params
   * @param {RequestOptions} options
   */
  async #send(method, params, { signal, onProgress }) {
    const id = (this.#nextId += 1);
    if (onProgress) {
      this.#progress.set(id, onProgress);
      params = { ...params, _meta: { ...params._meta, progressToken: id } };
    }
    const cancel = () => {
      const reason = { requestId: id, reason: "the person left" };
      this.#post({ method: "notifications/cancelled", params: reason }).catch(() => {});
    };
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const response = await this.#post({ id, method, params }, signal);
      const message = await this.#answerTo(id, response, signal);
      if (message.error) {
        throw new McpError(message.error.code, String(message.error.message), message.error.data);
      }
      return message.result;
    } catch (error) {
      if (error instanceof TypeError && !signal?.aborted) this.#goOffline(error.message);
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#progress.delete(id);
    }
  }

  /**
   * The answer to a request, out of JSON or out of a stream that may be resumed.
   * @param {number} id
   * @param {Response} response
   * @param {AbortSignal} [signal]
   */
  async #answerTo(id, response, signal) {
    const type = response.headers.get("Content-Type") ?? "";
    if (type.includes("application/json")) return response.json();
    if (!type.includes("text/event-stream")) throw new McpError(response.status, `HTTP ${response.status}`);
    let last = "";
    for (let resumes = 0; ; resumes += 1) {
      try {
        for await (const event of readEvents(response)) {
          last = event.id || last;
          const message = parseMessage(event.data);
          if (message && message.id === id && !message.method) return message;
          if (message) this.#receive(message);
        }
      } catch (error) {
        if (signal?.aborted) throw error;
      }
      if (!last || resumes >= RESUMES) throw new TypeError("the connection ended before the answer");
      const headers = { ...this.#headers(), Accept: "text/event-stream", "Last-Event-ID": last };
      response = await fetch(this.url, { headers, signal, credentials: "omit" });
    }
  }

  /** Keeps the stream of the session open, for notifications and requests of the server. */
  async #listen() {
    this.#stream.abort();
    const { signal } = (this.#stream = new AbortController());
    try {
      /** @type {Record<string, string>} */
      const headers = { ...this.#headers(), Accept: "text/event-stream" };
      if (this.#lastEvent) headers["Last-Event-ID"] = this.#lastEvent;
      const response = await fetch(this.url, { headers, signal, credentials: "omit" });
      // A server may have no such stream.
      if (response.status === 405) return;
      if (response.status === 404) this.#session = "";
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      for await (const event of readEvents(response)) {
        this.#lastEvent = event.id || this.#lastEvent;
        const message = parseMessage(event.data);
        if (message) this.#receive(message);
      }
      throw new Error("the stream ended");
    } catch (error) {
      if (!signal.aborted) this.#goOffline(error instanceof Error ? error.message : "");
    }
  }

  /** @param {any} message */
  #receive(message) {
    if (message.method === "notifications/progress") {
      this.#progress.get(Number(message.params?.progressToken))?.(message.params);
    } else if (message.method && message.id !== undefined) {
      this.#reply(message).catch(() => {});
    } else if (message.method) {
      this.emit("notification", message);
    }
  }

  /** @param {any} message a request of the server */
  async #reply({ id, method, params }) {
    if (method === "ping") return void (await this.#post({ id, result: {} }));
    try {
      await this.#post({ id, result: await this.answer(method, params ?? {}) });
    } catch (error) {
      const code = error instanceof McpError ? error.code : -32603;
      const message = error instanceof Error ? error.message : "failed";
      await this.#post({ id, error: { code, message } });
    }
  }

  /** @param {string} problem */
  #goOffline(problem) {
    if (this.state === "closed" || this.state === "unauthorized") return;
    this.#setState("offline", problem);
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.start(), this.#delay * (0.75 + Math.random() / 2));
    this.#delay = Math.min(this.#delay * 2, LONGEST_DELAY);
  }

  /**
   * @param {ConnectionState} state
   * @param {string} [problem]
   */
  #setState(state, problem = "") {
    if (this.state === "closed") return;
    const isNew = this.state !== state;
    [this.state, this.problem] = [state, problem];
    if (isNew) this.emit("state", state);
  }
}

/**
 * Whether a server says in its own way that it does not know the session.
 * @param {Response} response
 */
async function isSessionError(response) {
  if (response.status !== 400) return false;
  const message = await response
    .clone()
    .json()
    .catch(() => null);
  return message?.error?.code === -32000;
}

/** @param {string} data */
function parseMessage(data) {
  if (!data) return null;
  try {
    const message = JSON.parse(data);
    return message && typeof message === "object" ? message : null;
  } catch {
    return null;
  }
}
