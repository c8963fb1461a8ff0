// How do the TypeScript SDK's successor packages come to the desk, in any of the five revisions?

import { ERRAND, installed, report } from "./errand.mjs";

const sdk = installed("@modelcontextprotocol/client");

const transports = {
  stdio() {
    const [command, ...args] = ERRAND.command;
    return new (installed("@modelcontextprotocol/client/stdio").StdioClientTransport)({ command, args });
  },
  http: () => new sdk.StreamableHTTPClientTransport(new URL(ERRAND.url)),
  sse: () => new sdk.SSEClientTransport(new URL(ERRAND.url)),
};

// An era is "auto", the modern revision to insist on, or the one legacy revision to offer.
const eras = {
  auto: { versionNegotiation: { mode: "auto" } },
  "2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
};
const era = eras[ERRAND.era] ?? { supportedProtocolVersions: [ERRAND.era] };

const client = new sdk.Client({ name: "typescript-2", version: "2" }, era);
const transport = transports[ERRAND.transport]();
await client.connect(transport);

// The SDK tells every miss as -32602; its transport hears what was said.
let refusal;
const hear = transport.onmessage;
transport.onmessage = (message, extra) => {
  refusal = message.error ?? refusal;
  hear(message, extra);
};

await report(client, {
  revision: client.getNegotiatedProtocolVersion(),
  // `listResources()` joins the pages by itself; the request shows them one by one.
  listPage: (cursor) => client.request({ method: "resources/list", params: cursor === undefined ? {} : { cursor } }),
  expand: (template, values) => new sdk.UriTemplate(template).expand(values),
  refusalIn(error) {
    if (error instanceof sdk.ResourceNotFoundError) return refusal;
    throw error;
  },
});
