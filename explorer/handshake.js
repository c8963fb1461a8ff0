// The lifecycle through 2025-11-25: `initialize` opens a session, whose stream brings what the server says.

import { CLIENT_INFO, METADATA_EXTENSION, readAnswer, readMessages } from "./wire.js";

/** The revision that the page offers; the server answers with it or with an older one. */
const REVISION = "2025-11-25";

/** How often an answer whose stream broke is asked for again. */
const RESUMES = 3;

/** The session is gone, so a new one is needed. */
export class SessionLost extends Error {}

/** @typedef {(method: string, params: any) => Promise<any>} Send */
/** @typedef {import("./mcp.js").ServerFacts} ServerFacts */

export class Handshake {
  /** The server subscribes by request, and asks by requests of its own. */
  hasSession = true;
  /** @type {ServerFacts} */
  server = {};
  #session = "";
  #lastEvent = "";

  /** @param {import("./wire.js").Wire} wire */
  constructor(wire) {
    this.wire = wire;
  }

  /** @param {Send} send */
  async open(send) {
    const known = { [METADATA_EXTENSION]: {} };
    const capabilities = { elicitation: { form: {}, url: {} }, experimental: known, extensions: known };
    this.server = await send("initialize", { protocolVersion: REVISION, capabilities, clientInfo: CLIENT_INFO });
    await this.post({ method: "notifications/initialized" });
  }

  /**
   * Whether the session is still there after a break of the network.
   * @param {Send} send
   */
  async isAlive(send) {
    try {
      await send("ping", {});
      return true;
    } catch (error) {
      if (error instanceof SessionLost) return false;
      throw error;
    }
  }

  #headers() {
    return {
      ...(this.#session ? { "Mcp-Session-Id": this.#session } : {}),
      ...(this.server.protocolVersion ? { "MCP-Protocol-Version": this.server.protocolVersion } : {}),
    };
  }

  /**
   * Sends a message; what it answers is not read yet.
   * @param {any} message
   * @param {AbortSignal} [signal]
   */
  async post(message, signal) {
    const response = await this.wire.send("POST", this.#headers(), { message, signal });
    if (this.#session && (response.status === 404 || (await isSessionError(response)))) throw new SessionLost();
    this.#session ||= response.headers.get("Mcp-Session-Id") ?? "";
    return response;
  }

  /**
   * Sends a request. Returns its response, out of a stream that is resumed where it breaks.
   * @param {import("./mcp.js").OutgoingRequest} request
   * @param {(message: any) => void} receive
   * @param {AbortSignal} [signal]
   */
  async exchange({ id, method, params }, receive, signal) {
    let response = await this.post({ id, method, params }, signal);
    let last = "";
    for (let resumes = 0; ; resumes += 1) {
      try {
        const answer = await readAnswer(id, response, receive, (event) => (last = event));
        if (answer) return answer;
      } catch (error) {
        if (!last || signal?.aborted) throw error;
      }
      if (!last || resumes >= RESUMES) throw new TypeError("the connection ended before the answer");
      response = await this.wire.send("GET", { ...this.#headers(), "Last-Event-ID": last }, { signal });
    }
  }

  /** @param {number} id of a request that nobody waits for any more */
  cancel(id) {
    const params = { requestId: id, reason: "the person left" };
    this.post({ method: "notifications/cancelled", params }).catch(() => {});
  }

  /**
   * Reads the stream of the session until it breaks; returns at once if the server has none.
   * @param {{ signal: AbortSignal, receive: (message: any) => void }} options
   */
  async listen({ signal, receive }) {
    const headers = { ...this.#headers(), ...(this.#lastEvent ? { "Last-Event-ID": this.#lastEvent } : {}) };
    const response = await this.wire.send("GET", headers, { signal });
    if (response.status === 405) return;
    if (response.status === 404) this.#session = "";
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    await readMessages(response, receive, (event) => (this.#lastEvent = event));
    throw new Error("the stream ended");
  }

  close() {
    if (!this.#session) return;
    this.wire.send("DELETE", this.#headers(), { keepalive: true }).catch(() => {});
    this.#session = "";
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
