// MCP client: connects in the lifecycle that the server has, keeps the connection, and sends requests.

import { Emitter } from "./emitter.js";
import { Handshake, SessionLost } from "./handshake.js";
import { Stateless } from "./stateless.js";
import { McpError, Unauthorized, Wire } from "./wire.js";

const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;

/** How long new subscriptions are gathered before a server without sessions hears of them, in milliseconds. */
const LISTEN_DELAY = 100;

/** How often, and how much at once, a server may ask back within one request. */
const MAX_ROUNDS = 10;
const MAX_QUESTIONS = 20;

/** @typedef {{ protocolVersion?: string, capabilities?: any, serverInfo?: any }} ServerFacts */
/** @typedef {{ id: number, method: string, params: any, schema?: any }} OutgoingRequest */
/** @typedef {Handshake | Stateless} Lifecycle */

/**
 * @typedef {object} RequestOptions
 * @property {AbortSignal} [signal]
 * @property {(progress: { progress: number, total?: number, message?: string }) => void} [onProgress]
 * @property {any} [schema] the input schema of the tool that is called
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
  /** What the server says of itself. @type {ServerFacts} */
  server = {};
  /** @type {Lifecycle | null} */
  #lifecycle = null;
  #nextId = 0;
  #delay = FIRST_DELAY;
  /** @type {Promise<void> | null} */
  #opening = null;
  #stream = new AbortController();
  #timer = 0;
  #listenTimer = 0;
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
    this.wire = new Wire(url, token);
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
    clearTimeout(this.#listenTimer);
    this.#stream.abort();
    this.#lifecycle?.close();
    this.#lifecycle = null;
  }

  /**
   * @param {string} method
   * @param {any} [params]
   * @param {RequestOptions} [options]
   * @returns {Promise<any>}
   */
  async request(method, params = {}, options = {}) {
    let result = await this.#requestOnce(method, params, options);
    for (let round = 1; result?.resultType === "input_required"; round += 1) {
      if (round > MAX_ROUNDS) throw new McpError(-32603, "the server asks back without end");
      result = await this.#requestOnce(method, { ...params, ...(await this.#answers(result)) }, options);
    }
    return result;
  }

  /**
   * The answers to what a result asks, as the parameters of the request that is repeated with them.
   * @param {any} result
   */
  async #answers({ inputRequests, requestState }) {
    const questions = Object.entries(inputRequests ?? {});
    if (questions.length > MAX_QUESTIONS) throw new McpError(-32603, "the server asks too much at once");
    /** @type {Record<string, any>} */
    const inputResponses = {};
    for (const [key, question] of questions)
      inputResponses[key] = await this.answer(String(question?.method), question?.params ?? {});
    return { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
  }

  /**
   * @param {string} method
   * @param {any} params
   * @param {RequestOptions} options
   */
  async #requestOnce(method, params, options) {
    for (let tries = 0; ; tries += 1) {
      if (this.state !== "ready" || !this.#lifecycle) await this.#open();
      try {
        if (!this.#lifecycle) throw new Error("the connection is closed");
        return await this.#send(this.#lifecycle, method, params, options);
      } catch (error) {
        if (!(error instanceof SessionLost) || tries > 0) throw error;
        this.#lifecycle = null;
        this.#setState("connecting");
      }
    }
  }

  /** @param {string} uri */
  async subscribe(uri) {
    await this.whenReady();
    if (this.#subscriptions.has(uri) || !this.server.capabilities?.resources?.subscribe) return;
    this.#subscriptions.add(uri);
    await this.#follow("resources/subscribe", uri).catch(() => this.#subscriptions.delete(uri));
  }

  /** @param {string} uri */
  async unsubscribe(uri) {
    if (!this.#subscriptions.delete(uri)) return;
    await this.#follow("resources/unsubscribe", uri).catch(() => {});
  }

  /**
   * Tells the server of a change of the subscriptions: by a request, or by listening anew.
   * @param {string} method
   * @param {string} uri
   */
  async #follow(method, uri) {
    if (!this.#lifecycle) await this.#open();
    if (this.#lifecycle?.hasSession) await this.request(method, { uri });
    else this.#listenSoon();
  }

  /**
   * Opens the connection once, however many wait for it.
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
      const before = this.#lifecycle;
      // After a break of the network the session may still be there.
      const isKept = before !== null && (await before.isAlive(this.#sender(before)));
      const lifecycle = isKept ? before : await this.#negotiate();
      // Closed while it opened: the session would stay on the server.
      if (this.state === "closed") return lifecycle.close();
      this.#lifecycle = lifecycle;
      this.server = lifecycle.server;
      this.#delay = FIRST_DELAY;
      this.#setState("ready");
      this.#listen();
      if (this.#wasReady) {
        if (!isKept) await this.#subscribeAgain();
        this.emit("reconnected", { isNew: !isKept });
      }
      this.#wasReady = true;
    } catch (error) {
      // A session may outlive a broken network, but nothing that the server answers.
      if (!(error instanceof TypeError)) this.#lifecycle = null;
      if (error instanceof Unauthorized) this.#setState("unauthorized", error.message);
      else this.#goOffline(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /**
   * Opens a session; with a server that has none, it asks what the server can do.
   * @returns {Promise<Lifecycle>}
   */
  async #negotiate() {
    const handshake = new Handshake(this.wire);
    try {
      await handshake.open(this.#sender(handshake));
      return handshake;
    } catch (error) {
      // Without a network or a token the other lifecycle fails as well.
      if (error instanceof TypeError || error instanceof Unauthorized) throw error;
      const stateless = new Stateless(this.wire);
      await stateless.open(this.#sender(stateless)).catch(() => Promise.reject(error));
      return stateless;
    }
  }

  /**
   * @param {Lifecycle} lifecycle
   * @returns {import("./handshake.js").Send}
   */
  #sender(lifecycle) {
    return (method, params) => this.#send(lifecycle, method, params, {});
  }

  async #subscribeAgain() {
    const uris = [...this.#subscriptions];
    this.#subscriptions.clear();
    await Promise.all(uris.map((uri) => this.subscribe(uri)));
  }

  /**
   * @param {Lifecycle} lifecycle
   * @param {string} method
   * @param {any} params
   * @param {RequestOptions} options
   */
  async #send(lifecycle, method, params, { signal, onProgress, schema }) {
    const id = (this.#nextId += 1);
    if (onProgress) {
      this.#progress.set(id, onProgress);
      params = { ...params, _meta: { ...params._meta, progressToken: id } };
    }
    const cancel = () => lifecycle.cancel(id);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const receive = (/** @type {any} */ message) => this.#receive(lifecycle, message);
      const message = await lifecycle.exchange({ id, method, params, schema }, receive, signal);
      if (!message.error) return message.result;
      throw new McpError(Number(message.error.code), String(message.error.message), message.error.data);
    } catch (error) {
      if (error instanceof Unauthorized) this.#setState("unauthorized", error.message);
      if (error instanceof TypeError && !signal?.aborted) this.#goOffline(error.message);
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#progress.delete(id);
    }
  }

  /** Listens for other resources, once all of them are known. */
  #listenSoon() {
    this.#listenTimer ||= window.setTimeout(() => {
      this.#listenTimer = 0;
      if (this.state === "ready") this.#listen();
    }, LISTEN_DELAY);
  }

  /** Keeps a stream open, for notifications and requests of the server. */
  async #listen() {
    const lifecycle = this.#lifecycle;
    if (!lifecycle) return;
    const before = this.#stream;
    const { signal } = (this.#stream = new AbortController());
    // Without a session the stream before brings the changes until the new one does.
    if (lifecycle.hasSession) before.abort();
    const receive = (/** @type {any} */ message) => {
      before.abort();
      this.#receive(lifecycle, message);
    };
    try {
      await lifecycle.listen({ id: (this.#nextId += 1), uris: [...this.#subscriptions], signal, receive });
    } catch (error) {
      if (!signal.aborted) this.#goOffline(error instanceof Error ? error.message : "");
    } finally {
      before.abort();
    }
  }

  /**
   * @param {Lifecycle} lifecycle
   * @param {any} message
   */
  #receive(lifecycle, message) {
    if (message.method === "notifications/progress") {
      this.#progress.get(Number(message.params?.progressToken))?.(message.params);
    } else if (message.method && message.id !== undefined) {
      // A server may ask in a session only.
      if (lifecycle instanceof Handshake) this.#reply(lifecycle, message).catch(() => {});
    } else if (message.method) {
      this.emit("notification", message);
    }
  }

  /**
   * @param {Handshake} session
   * @param {any} message a request of the server
   */
  async #reply(session, { id, method, params }) {
    if (method === "ping") return void (await session.post({ id, result: {} }));
    try {
      await session.post({ id, result: await this.answer(method, params ?? {}) });
    } catch (error) {
      const code = error instanceof McpError ? error.code : -32603;
      const message = error instanceof Error ? error.message : "failed";
      await session.post({ id, error: { code, message } });
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
