// Test client on the TypeScript SDK 2.x packages, in any of the five revisions.

import { isDeepStrictEqual } from "node:util";

import { REQUESTS, reportRequests, requireInstalled } from "./client_requests.mjs";
import { LIST_CHANGED, NotificationRecorder, reportNotifications } from "./subscriptions.mjs";

const sdk = requireInstalled("@modelcontextprotocol/client");

const transports = {
  stdio() {
    const [command, ...args] = REQUESTS.command;
    return new (requireInstalled("@modelcontextprotocol/client/stdio").StdioClientTransport)({ command, args });
  },
  http: () => new sdk.StreamableHTTPClientTransport(new URL(REQUESTS.url)),
  sse: () => new sdk.SSEClientTransport(new URL(REQUESTS.url)),
};

// An era is "auto", the modern revision to pin, or the one legacy revision to offer.
const modernEras = {
  auto: { versionNegotiation: { mode: "auto" } },
  "2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
};
const clientOptions = modernEras[REQUESTS.era] ?? { supportedProtocolVersions: [REQUESTS.era] };

/** Notifications of the modern era: one listen stream per subscription. */
class StreamRecorder extends NotificationRecorder {
  #streams = new Map();

  subscribeToLists() {
    return this.#open(LIST_CHANGED, { resourcesListChanged: true });
  }

  subscribe(uri) {
    return this.#open(uri, { resourceSubscriptions: [uri] });
  }

  unsubscribe(uri) {
    return this.#streams.get(uri).close();
  }

  async #open(key, filter) {
    const stream = await this.client.listen(filter);
    const accepted = stream.honoredFilter;
    if (!isDeepStrictEqual(accepted, filter)) throw new Error(`the server accepted ${JSON.stringify(accepted)}`);
    this.#streams.set(key, stream);
  }
}

async function connect(transport) {
  const client = new sdk.Client({ name: "typescript-2", version: "2" }, clientOptions);
  await client.connect(transport);
  return client;
}

async function connectRecorder() {
  const client = await connect(transports[REQUESTS.transport]());
  return new (REQUESTS.era in modernEras ? StreamRecorder : NotificationRecorder)(client);
}

async function runRequests() {
  const transport = transports[REQUESTS.transport]();
  const client = await connect(transport);

  // The SDK reports every missing resource as -32602; the transport sees the original code.
  let lastError;
  const onmessage = transport.onmessage;
  transport.onmessage = (message, extra) => {
    lastError = message.error ?? lastError;
    onmessage(message, extra);
  };

  await reportRequests(client, {
    revision: client.getNegotiatedProtocolVersion(),
    // `listResources()` joins the pages itself; a plain request returns them one by one.
    listPage: (cursor) => client.request({ method: "resources/list", params: cursor === undefined ? {} : { cursor } }),
    expand: (template, values) => new sdk.UriTemplate(template).expand(values),
    rpcErrorOf(error) {
      if (error instanceof sdk.ResourceNotFoundError) return lastError;
      throw error;
    },
  });
}

await (REQUESTS.watch ? reportNotifications(await connectRecorder(), await connectRecorder()) : runRequests());
