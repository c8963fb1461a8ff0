// Test client on the TypeScript SDK 2.x packages, in any of the five revisions.

import { isDeepStrictEqual } from "node:util";

import { ERRAND, installed, report } from "./errand.mjs";
import { Ear, reportHeard } from "./watching.mjs";

const sdk = installed("@modelcontextprotocol/client");

const transports = {
  stdio() {
    const [command, ...args] = ERRAND.command;
    return new (installed("@modelcontextprotocol/client/stdio").StdioClientTransport)({ command, args });
  },
  http: () => new sdk.StreamableHTTPClientTransport(new URL(ERRAND.url)),
  sse: () => new sdk.SSEClientTransport(new URL(ERRAND.url)),
};

// An era is "auto", the modern revision to pin, or the one legacy revision to offer.
const eras = {
  auto: { versionNegotiation: { mode: "auto" } },
  "2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
};
const era = eras[ERRAND.era] ?? { supportedProtocolVersions: [ERRAND.era] };

/** Notifications of the modern era: one listen stream per subscription. */
class StreamEar extends Ear {
  #streams = new Map();

  attendToLists() {
    return this.#open("lists", { resourcesListChanged: true });
  }

  subscribe(uri) {
    return this.#open(uri, { resourceSubscriptions: [uri] });
  }

  unsubscribe(uri) {
    return this.#streams.get(uri).close();
  }

  async #open(key, wishes) {
    const stream = await this.client.listen(wishes);
    const granted = stream.honoredFilter;
    if (!isDeepStrictEqual(granted, wishes)) throw new Error(`granted ${JSON.stringify(granted)}`);
    this.#streams.set(key, stream);
  }
}

async function connected(transport) {
  const client = new sdk.Client({ name: "typescript-2", version: "2" }, era);
  await client.connect(transport);
  return client;
}

async function listening() {
  const client = await connected(transports[ERRAND.transport]());
  return new (ERRAND.era in eras ? StreamEar : Ear)(client);
}

async function visit() {
  const transport = transports[ERRAND.transport]();
  const client = await connected(transport);

  // The SDK reports every missing resource as -32602; the transport sees the original code.
  let refusal;
  const hear = transport.onmessage;
  transport.onmessage = (message, extra) => {
    refusal = message.error ?? refusal;
    hear(message, extra);
  };

  await report(client, {
    revision: client.getNegotiatedProtocolVersion(),
    // `listResources()` joins the pages itself; a plain request returns them one by one.
    listPage: (cursor) => client.request({ method: "resources/list", params: cursor === undefined ? {} : { cursor } }),
    expand: (template, values) => new sdk.UriTemplate(template).expand(values),
    refusalIn(error) {
      if (error instanceof sdk.ResourceNotFoundError) return refusal;
      throw error;
    },
  });
}

await (ERRAND.watch ? reportHeard(await listening(), await listening()) : visit());
