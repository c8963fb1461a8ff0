// Test server on the TypeScript SDK 2.x packages: over stdio, or over HTTP at a port. `stateless` behind the port leaves out
// the revisions with a handshake.

import { createServer } from "node:http";
import { createRequire } from "node:module";

const [folder, port, eras] = process.argv.slice(2);
/** Loads a package from the server's install folder. */
const requireInstalled = createRequire(`${folder}/`);
const { McpServer, ResourceTemplate, createMcpHandler } = requireInstalled("@modelcontextprotocol/server");
const { z } = requireInstalled("zod");

// As contents.py has them.
const TEXT = "one note\n";
const BLOB = Buffer.from(Uint8Array.from({ length: 256 }, (_, index) => index)).toString("base64");

function notes() {
  const server = new McpServer({ name: "typescript-2", version: "1.0.0" });
  const text = { mimeType: "text/plain" };
  const bytes = { mimeType: "application/octet-stream" };
  server.registerResource("one", "note://one", text, (uri) => ({ contents: [{ uri: uri.href, ...text, text: TEXT }] }));
  server.registerResource("blob", "note://blob", bytes, (uri) => ({
    contents: [{ uri: uri.href, ...bytes, blob: BLOB }],
  }));
  const items = new ResourceTemplate("note://item/{id}", { list: undefined });
  server.registerResource("item", items, text, (uri, { id }) => ({
    contents: [{ uri: uri.href, ...text, text: `item ${id}` }],
  }));
  const echo = { description: "Returns the message.", inputSchema: z.object({ message: z.string() }) };
  server.registerTool("echo", echo, ({ message }) => ({ content: [{ type: "text", text: `Echo: ${message}` }] }));
  const greet = { description: "Asks for a greeting.", argsSchema: z.object({ name: z.string() }) };
  server.registerPrompt("greet", greet, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Say hello to ${name}.` } }],
  }));
  return server;
}

if (port === undefined) {
  requireInstalled("@modelcontextprotocol/server/stdio").serveStdio(notes);
} else {
  const { toNodeHandler } = requireInstalled("@modelcontextprotocol/node");
  const server = createServer(toNodeHandler(createMcpHandler(notes, { legacy: eras === "stateless" ? "reject" : "stateless" })));
  server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
