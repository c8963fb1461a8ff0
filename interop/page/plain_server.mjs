// An MCP server in this process, over HTTP with sessions: what it answers is given, and it can notify. Any origin may use it.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

/** @typedef {(params: any) => any} Answer throws `{ code, message }` */

export class PlainServer {
  /** @type {Set<import("node:http").ServerResponse>} */
  #streams = new Set();
  /** How often each method was asked. @type {Record<string, number>} */
  asked = {};
  url = "";

  /**
   * @param {Record<string, Answer>} answers by method
   * @param {any} [capabilities]
   */
  constructor(answers, capabilities = { resources: { listChanged: true } }) {
    this.answers = answers;
    this.capabilities = capabilities;
    this.server = createServer((request, response) => this.#handle(request, response).catch(() => response.destroy()));
  }

  async start() {
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", () => resolve(undefined)));
    this.url = `http://127.0.0.1:${/** @type {any} */ (this.server.address()).port}/mcp`;
    return this;
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** How many clients listen. */
  get listeners() {
    return this.#streams.size;
  }

  /** Sends a notification to all that listen. @param {string} method @param {any} [params] */
  notify(method, params = {}) {
    for (const stream of this.#streams) stream.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`);
  }

  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async #handle(request, response) {
    for (const [name, value] of [["origin", "*"], ["headers", request.headers["access-control-request-headers"] ?? "*"], ["methods", "GET, POST, DELETE"]]) response.setHeader(`access-control-allow-${name}`, value);
    response.setHeader("access-control-expose-headers", "mcp-session-id");
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      this.#streams.add(response);
      return void response.on("close", () => this.#streams.delete(response));
    }
    if (request.method !== "POST") return void response.writeHead(204).end();
    let body = "";
    for await (const piece of request) body += piece;
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "initialize") response.setHeader("mcp-session-id", randomUUID());
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...this.#answer(method, params ?? {}) }));
  }

  /** @param {string} method @param {any} params */
  #answer(method, params) {
    this.asked[method] = (this.asked[method] ?? 0) + 1;
    if (method === "initialize") return { result: { protocolVersion: "2025-11-25", capabilities: this.capabilities, serverInfo: { name: "plain", version: "1" } } };
    if (method === "ping") return { result: {} };
    const answer = this.answers[method];
    if (!answer) return { error: { code: -32601, message: "no such method" } };
    try {
      return { result: answer(params) };
    } catch (error) {
      return { error };
    }
  }
}
