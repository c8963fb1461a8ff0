// The lifecycle of 2026-07-28: no session; each request says who asks, and a listening request brings changes.

import { CLIENT_INFO, McpError, METADATA_EXTENSION, readAnswer, readMessages } from "./wire.js";

const REVISION = "2026-07-28";
const PREFIX = "io.modelcontextprotocol/";

/** The arguments of a tool that headers repeat: how deep in its schema, and how many. */
const MAX_DEPTH = 8;
const MAX_HEADERS = 64;

/** What each request says of the page. */
const META = {
  [`${PREFIX}protocolVersion`]: REVISION,
  [`${PREFIX}clientInfo`]: CLIENT_INFO,
  [`${PREFIX}clientCapabilities`]: {
    elicitation: { form: {}, url: {} },
    extensions: { [METADATA_EXTENSION]: {} },
  },
};

/** The parameter that the header `Mcp-Name` repeats. */
const NAMED = /** @type {Record<string, string>} */ ({
  "resources/read": "uri",
  "tools/call": "name",
  "prompts/get": "name",
});

/** @typedef {import("./handshake.js").Send} Send */

export class Stateless {
  hasSession = false;
  /** @type {import("./mcp.js").ServerFacts} */
  server = {};

  /** @param {import("./wire.js").Wire} wire */
  constructor(wire) {
    this.wire = wire;
  }

  /** @param {Send} send */
  async open(send) {
    const told = await send("server/discover", {});
    const offered = Array.isArray(told.supportedVersions) ? told.supportedVersions : [];
    if (!offered.includes(REVISION)) throw new Error(`the server has no revision ${REVISION}`);
    this.server = {
      protocolVersion: REVISION,
      capabilities: told.capabilities ?? {},
      serverInfo: told._meta?.[`${PREFIX}serverInfo`] ?? told.serverInfo,
    };
  }

  /** @param {Send} send */
  async isAlive(send) {
    await this.open(send);
    return true;
  }

  /**
   * Sends a request and returns its response.
   * @param {import("./mcp.js").OutgoingRequest} request
   * @param {(message: any) => void} receive
   * @param {AbortSignal} [signal]
   */
  async exchange(request, receive, signal) {
    const response = await this.#post(request, signal);
    const answer = await readAnswer(request.id, response, receive);
    if (!answer) throw new TypeError("the connection ended before the answer");
    return answer;
  }

  /**
   * @param {import("./mcp.js").OutgoingRequest} request
   * @param {AbortSignal} [signal]
   */
  #post({ id, method, params, schema }, signal) {
    const headers = {
      "MCP-Protocol-Version": REVISION,
      "Mcp-Method": method,
      ...(NAMED[method] ? { "Mcp-Name": headerValue(String(params[NAMED[method]])) } : {}),
      ...(schema ? parameterHeaders(schema, params.arguments) : {}),
    };
    const message = { id, method, params: { ...params, _meta: { ...params._meta, ...META } } };
    return this.wire.send("POST", headers, { message, signal });
  }

  /** A request ends with its connection, which its caller closes. */
  cancel() {}

  /**
   * Reads the changes of lists and of `uris` until the stream breaks; returns at once if the server tells none.
   * @param {{ id: number, uris: string[], signal: AbortSignal, receive: (message: any) => void }} options
   */
  async listen({ id, uris, signal, receive }) {
    const notifications = this.#filter(uris);
    if (Object.keys(notifications).length === 0) return;
    const response = await this.#post({ id, method: "subscriptions/listen", params: { notifications } }, signal);
    if (!(response.headers.get("Content-Type") ?? "").includes("text/event-stream")) {
      if (response.status === 404 || response.ok) return;
      throw new McpError(response.status, `HTTP ${response.status}`);
    }
    await readMessages(response, receive);
    throw new Error("the stream ended");
  }

  /**
   * What the server says that it can tell.
   * @param {string[]} uris
   */
  #filter(uris) {
    const { resources, tools, prompts } = this.server.capabilities ?? {};
    return {
      ...(resources?.listChanged ? { resourcesListChanged: true } : {}),
      ...(tools?.listChanged ? { toolsListChanged: true } : {}),
      ...(prompts?.listChanged ? { promptsListChanged: true } : {}),
      ...(resources?.subscribe && uris.length > 0 ? { resourceSubscriptions: uris } : {}),
    };
  }

  close() {}
}

/**
 * A header value: as it is where a header can carry it, else as `=?base64?…?=`.
 * @param {string} text
 */
export function headerValue(text) {
  const isPlain = /^[ -~]*$/.test(text) && text.trim() === text && !/^=\?base64\?.*\?=$/.test(text);
  if (isPlain) return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}?=`;
}

/**
 * The headers by which a tool wants some of its arguments repeated (`x-mcp-header` in its schema).
 * @param {any} schema
 * @param {any} args
 * @returns {Record<string, string>}
 */
export function parameterHeaders(schema, args) {
  /** @type {Record<string, string>} */
  const headers = {};
  /** @type {(schema: any, value: any, depth: number) => void} */
  const walk = (part, value, depth) => {
    if (depth > MAX_DEPTH || !value || typeof value !== "object") return;
    for (const [name, property] of Object.entries(part?.properties ?? {})) {
      const header = property?.["x-mcp-header"];
      const argument = value[name];
      const isSimple = ["string", "number", "boolean"].includes(typeof argument);
      if (typeof header === "string" && /^[\w.-]{1,128}$/.test(header) && isSimple && Object.keys(headers).length < MAX_HEADERS)
        headers[`Mcp-Param-${header}`] = headerValue(String(argument));
      walk(property, argument, depth + 1);
    }
  };
  walk(schema, args, 0);
  return headers;
}
