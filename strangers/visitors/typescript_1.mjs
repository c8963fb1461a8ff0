// Test client on the TypeScript SDK 1.x: stdio, Streamable HTTP, HTTP+SSE.

import { ERRAND, installed, report } from "./errand.mjs";
import { Ear, reportHeard } from "./watching.mjs";

const sdk = (part) => installed(`@modelcontextprotocol/sdk/${part}.js`);
const { Client } = sdk("client/index");
const { UriTemplate } = sdk("shared/uriTemplate");

const transports = {
  stdio() {
    const [command, ...args] = ERRAND.command;
    return new (sdk("client/stdio").StdioClientTransport)({ command, args });
  },
  http: () => new (sdk("client/streamableHttp").StreamableHTTPClientTransport)(new URL(ERRAND.url)),
  sse: () => new (sdk("client/sse").SSEClientTransport)(new URL(ERRAND.url)),
};

async function visit() {
  const transport = transports[ERRAND.transport]();
  // The client does not expose the agreed revision, but passes it to its transport.
  let revision;
  const told = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => {
    revision = agreed;
    told?.(agreed);
  };
  const client = await connected(transport);
  await report(client, {
    revision,
    listPage: (cursor) => client.listResources({ cursor }),
    expand: (template, values) => new UriTemplate(template).expand(values),
  });
}

async function connected(transport) {
  const client = new Client({ name: "typescript-1", version: "1" });
  await client.connect(transport);
  return client;
}

const listening = async () => new Ear(await connected(transports[ERRAND.transport]()));

await (ERRAND.watch ? reportHeard(await listening(), await listening()) : visit());
