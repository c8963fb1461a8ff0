// A proxy in front of an MCP server: lets pages of any origin use it, and refuses methods that the server shall not have.

import { createServer, request } from "node:http";

/**
 * @param {string} target the MCP address
 * @param {string[]} [refused] methods
 * @param {number} [port]
 * @returns {Promise<{ url: string, stop: () => void }>}
 */
export function serveProxy(target, refused = [], port = 0) {
  const server = createServer(async (incoming, response) => {
    const allow = { "access-control-allow-origin": "*", "access-control-allow-methods": "GET, POST, DELETE", "access-control-allow-headers": incoming.headers["access-control-request-headers"] ?? "*", "access-control-expose-headers": "mcp-session-id" };
    if (incoming.method === "OPTIONS") return void response.writeHead(204, allow).end();
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += piece;
    const { id, method } = body ? JSON.parse(body) : {};
    if (refused.includes(method)) {
      response.writeHead(404, { ...allow, "content-type": "application/json" });
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } }));
    }
    const { host, origin, ...headers } = incoming.headers;
    const outgoing = request(target, { method: incoming.method, headers }, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500, { ...answer.headers, ...allow })));
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    outgoing.end(body);
  });
  return new Promise((resolve) => {
    server.listen(port, "127.0.0.1", () => {
      const url = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}/mcp`;
      resolve({ url, stop: () => (server.close(), server.closeAllConnections()) });
    });
  });
}
