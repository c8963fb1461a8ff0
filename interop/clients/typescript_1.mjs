// Test client on the TypeScript SDK 1.x: stdio, Streamable HTTP, HTTP+SSE.

import { REQUESTS, reportRequests, requireInstalled } from "./client_requests.mjs";
import { NotificationRecorder, reportNotifications } from "./subscriptions.mjs";

const sdk = (module) => requireInstalled(`@modelcontextprotocol/sdk/${module}.js`);
const { Client } = sdk("client/index");
const { UriTemplate } = sdk("shared/uriTemplate");

const transports = {
  stdio() {
    const [command, ...args] = REQUESTS.command;
    return new (sdk("client/stdio").StdioClientTransport)({ command, args });
  },
  http: () => new (sdk("client/streamableHttp").StreamableHTTPClientTransport)(new URL(REQUESTS.url)),
  sse: () => new (sdk("client/sse").SSEClientTransport)(new URL(REQUESTS.url)),
};

async function runRequests() {
  const transport = transports[REQUESTS.transport]();
  // The client does not expose the agreed revision, but passes it to its transport.
  let revision;
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    revision = version;
    setProtocolVersion?.(version);
  };
  const client = await connect(transport);
  await reportRequests(client, {
    revision,
    listPage: (cursor) => client.listResources({ cursor }),
    expand: (template, values) => new UriTemplate(template).expand(values),
  });
}

async function connect(transport) {
  const client = new Client({ name: "typescript-1", version: "1" });
  await client.connect(transport);
  return client;
}

const connectRecorder = async () => new NotificationRecorder(await connect(transports[REQUESTS.transport]()));

await (REQUESTS.watch ? reportNotifications(await connectRecorder(), await connectRecorder()) : runRequests());
