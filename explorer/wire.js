// MCP messages over HTTP: sends one, and reads the answer out of JSON or out of a stream of events.

import { readEvents } from "./sse.js";

/** The name of the page, as servers hear it. */
export const CLIENT_INFO = { name: "refdesk-page", title: "refdesk page", version: "1" };

/** The extension by which a client says that it knows collections and metadata. */
export const METADATA_EXTENSION = "dev.refdesk/resource-metadata";

/** The longest answer that is kept, in characters; a server that sends more is cut off. */
const MAX_ANSWER = 64 * 1024 * 1024;

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

/** The server wants a token, or another one. */
export class Unauthorized extends Error {}

/** An MCP address, and the token for it. */
export class Wire {
  /**
   * @param {string} url
   * @param {string} token
   */
  constructor(url, token) {
    this.url = url;
    this.token = token;
  }

  /**
   * @param {"GET" | "POST" | "DELETE"} verb
   * @param {Record<string, string>} headers
   * @param {{ message?: any, signal?: AbortSignal, keepalive?: boolean }} [options]
   * @returns {Promise<Response>}
   */
  async send(verb, headers, { message, signal, keepalive } = {}) {
    const all = {
      ...headers,
      Accept: verb === "GET" ? "text/event-stream" : "application/json, text/event-stream",
      ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}),
      ...(message ? { "Content-Type": "application/json" } : {}),
    };
    const body = message && JSON.stringify({ jsonrpc: "2.0", ...message });
    const response = await fetch(this.url, { method: verb, headers: all, body, signal, keepalive, credentials: "omit" });
    if (response.status === 401) throw new Unauthorized("401");
    return response;
  }
}

/**
 * The response to the request `id`; `null` if the stream ends before it.
 * @param {number} id
 * @param {Response} response
 * @param {(message: any) => void} receive is given every other message
 * @param {(eventId: string) => void} [onEvent]
 * @returns {Promise<any>}
 */
export async function readAnswer(id, response, receive, onEvent) {
  const type = response.headers.get("Content-Type") ?? "";
  if (type.includes("application/json")) {
    const message = JSON.parse(await readBounded(response));
    if (message?.result !== undefined || message?.error) return message;
    throw new McpError(response.status, `HTTP ${response.status}`);
  }
  if (!type.includes("text/event-stream")) throw new McpError(response.status, `HTTP ${response.status}`);
  for await (const event of readEvents(response)) {
    if (event.id) onEvent?.(event.id);
    const message = parseMessage(event.data);
    if (message && message.id === id && !message.method) return message;
    if (message) receive(message);
  }
  return null;
}

/**
 * The messages of a stream, until it ends.
 * @param {Response} response
 * @param {(message: any) => void} receive
 * @param {(eventId: string) => void} [onEvent]
 */
export async function readMessages(response, receive, onEvent) {
  for await (const event of readEvents(response)) {
    if (event.id) onEvent?.(event.id);
    const message = parseMessage(event.data);
    if (message) receive(message);
  }
}

/** @param {Response} response */
async function readBounded(response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const piece = await reader?.read();
    if (!piece || piece.done) return text;
    text += piece.value;
    if (text.length <= MAX_ANSWER) continue;
    reader?.cancel().catch(() => {});
    throw new Error("an answer of the server is too long");
  }
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
