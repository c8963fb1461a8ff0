// What the page asks of a server: lists, metadata, content, tools; with less where it offers less.

import { lastSegment, safeName } from "./format.js";
import { readAll } from "./paging.js";
import { METADATA_EXTENSION, McpError } from "./wire.js";

/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").ContentPart} ContentPart */
/** @typedef {import("./types.js").ReadOptions} ReadOptions */
/** @typedef {import("./types.js").MountStatus} MountStatus */
/** @typedef {{ items: Item[], next: string }} ItemPage */

export const MOUNTS_URI = "refdesk://mounts";
export const CLIENTS_URI = "refdesk://clients";
export const SUBSCRIPTIONS_URI = "refdesk://subscriptions";

/** What all tools, templates and prompts may be together; a server that floods is cut off. */
const MAX_COMPONENTS = 5000;

/** The mounts that are shown. */
const MAX_MOUNTS = 1000;

export class ResourceApi {
  /** @type {Promise<import("./types.js").Tool[]> | null} */
  #tools = null;

  /** @param {import("./mcp.js").McpClient} client */
  constructor(client) {
    this.client = client;
  }

  /** @param {string} name */
  #extension(name) {
    const { extensions, experimental } = this.client.server.capabilities ?? {};
    return extensions?.[name] ?? experimental?.[name];
  }

  /** Whether collections can be listed one by one. */
  get hasCollections() {
    return Boolean(this.#extension(METADATA_EXTENSION)?.scopedList);
  }

  /** Whether it has resources at all. */
  get hasResources() {
    return Boolean(this.client.server.capabilities?.resources);
  }

  get hasMetadata() {
    return Boolean(this.#extension(METADATA_EXTENSION)?.metadata);
  }

  get hasBaskets() {
    return this.#extension("dev.refdesk/baskets") !== undefined;
  }

  /** The name of the server, as hosts call it. */
  get serverName() {
    return String(this.client.server.serverInfo?.name ?? "server");
  }

  forget() {
    this.#tools = null;
  }

  /**
   * One page of the plain list, or of the members of a collection.
   * @param {string | null} uri
   * @param {string} cursor
   * @returns {Promise<ItemPage>}
   */
  async list(uri, cursor) {
    const params = { ...(uri ? { uri } : {}), ...(cursor ? { cursor } : {}) };
    const result = await this.client.request("resources/list", params);
    const rows = Array.isArray(result?.resources) ? result.resources : [];
    return { items: rows.filter(isObject).map(toItem), next: String(result?.nextCursor ?? "") };
  }

  /**
   * One page of the tool `resources_list`, which knows mounts and patterns.
   * @param {Record<string, any>} filter
   * @param {string} cursor
   * @returns {Promise<ItemPage>}
   */
  async listByTool(filter, cursor) {
    const result = await this.callTool("resources_list", { ...filter, ...(cursor ? { cursor } : {}) });
    if (result.isError) throw new Error(textOf(result));
    const told = result.structuredContent ?? {};
    const rows = Array.isArray(told.resources) ? told.resources : [];
    return { items: rows.filter(isObject).map(toItem), next: String(told.cursor ?? "") };
  }

  /**
   * All metadata of a resource.
   * @param {string} uri
   * @returns {Promise<any>}
   */
  async metadata(uri) {
    if (!this.hasMetadata) return { uri, name: lastSegment(uri) };
    return (await this.client.request("resources/metadata", { uri })).resource ?? { uri };
  }

  /**
   * @param {string} uri
   * @param {ReadOptions} [options]
   * @returns {Promise<ContentPart[]>}
   */
  async read(uri, { accept, window, signal } = {}) {
    const meta = {
      ...(accept && accept.length > 0 ? { "dev.refdesk/accept": accept } : {}),
      ...(window ? { "dev.refdesk/window": window } : {}),
    };
    const params = Object.keys(meta).length > 0 ? { uri, _meta: meta } : { uri };
    const result = await this.client.request("resources/read", params, { signal });
    const contents = Array.isArray(result.contents) ? result.contents : [];
    return contents.map((/** @type {any} */ part) => ({
      uri: String(part.uri ?? uri),
      mime: String(part.mimeType ?? (typeof part.text === "string" ? "text/plain" : "application/octet-stream")),
      text: typeof part.text === "string" ? part.text : undefined,
      blob: typeof part.blob === "string" ? part.blob : undefined,
      meta: part._meta ?? {},
      window: part._meta?.["dev.refdesk/window"],
    }));
  }

  /**
   * The JSON that a resource holds.
   * @param {string} uri
   */
  async readJson(uri) {
    const [part] = await this.read(uri);
    return JSON.parse(part?.text ?? "null");
  }

  /**
   * The mounts; `null` if the server is no refdesk.
   * @returns {Promise<MountStatus[] | null>}
   */
  async mounts() {
    await this.client.whenReady();
    if (!this.hasCollections) return null;
    /** @type {Item[]} */
    let rows;
    try {
      rows = await readAll((cursor) => this.list(MOUNTS_URI, cursor), MAX_MOUNTS);
    } catch (error) {
      if (error instanceof McpError) return null;
      throw error;
    }
    const status = async (/** @type {Item} */ row) => {
      const told = await this.readJson(row.uri).catch((error) => {
        // Without a network it is not known what stands at the top.
        if (error instanceof McpError || error instanceof SyntaxError) return {};
        throw error;
      });
      return { kind: "", root: null, state: "unknown", ...told, name: String(told?.name ?? row.name), facts: told };
    };
    return Promise.all(rows.slice(0, MAX_MOUNTS).map(status));
  }

  /** @param {string} name */
  async hasTool(name) {
    return (await this.tools()).some((tool) => tool.name === name);
  }

  /** @returns {Promise<import("./types.js").Tool[]>} */
  async tools() {
    await this.client.whenReady();
    if (!this.client.server.capabilities?.tools) return [];
    const tools = (this.#tools ??= this.#components("tools/list", "tools"));
    return tools.catch((error) => {
      if (this.#tools === tools) this.#tools = null;
      throw error;
    });
  }

  /** @returns {Promise<import("./types.js").Prompt[]>} */
  async prompts() {
    await this.client.whenReady();
    return this.client.server.capabilities?.prompts ? this.#components("prompts/list", "prompts") : [];
  }

  /** @returns {Promise<import("./types.js").Template[]>} */
  async templates() {
    await this.client.whenReady();
    if (!this.hasResources) return [];
    return this.#components("resources/templates/list", "resourceTemplates");
  }

  /**
   * @param {string} method
   * @param {string} member
   * @returns {Promise<any[]>}
   */
  async #components(method, member) {
    const read = async (/** @type {string} */ cursor) => {
      const result = await this.client.request(method, cursor ? { cursor } : {});
      const rows = Array.isArray(result?.[member]) ? result[member] : [];
      return { items: rows.filter(isObject), next: String(result?.nextCursor ?? "") };
    };
    return (await readAll(read, MAX_COMPONENTS)).slice(0, MAX_COMPONENTS);
  }

  /**
   * @param {string} name
   * @param {Record<string, any>} args
   * @param {import("./mcp.js").RequestOptions} [options]
   * @returns {Promise<any>}
   */
  async callTool(name, args, options) {
    const tool = (await this.tools()).find((one) => one.name === name);
    const params = { name, arguments: args };
    return this.client.request("tools/call", params, { ...options, schema: tool?.inputSchema });
  }

  /**
   * Values that complete an argument of a template or a prompt.
   * @param {{ type: string, uri?: string, name?: string }} ref
   * @param {string} name
   * @param {string} value
   * @param {Record<string, string>} others
   * @returns {Promise<string[]>}
   */
  async complete(ref, name, value, others) {
    if (!this.client.server.capabilities?.completions) return [];
    const params = { ref, argument: { name, value }, context: { arguments: others } };
    const result = await this.client.request("completion/complete", params);
    const values = result.completion?.values;
    return Array.isArray(values) ? values.map(String) : [];
  }

  /**
   * Tokens by URI, as far as the server estimates them.
   * @param {string[]} uris
   * @returns {Promise<Map<string, number>>}
   */
  async tokens(uris) {
    /** @type {Map<string, number>} */
    const found = new Map();
    if (!(await this.hasTool("resources_metadata"))) return found;
    for (let at = 0; at < uris.length; at += 100) {
      const result = await this.callTool("resources_metadata", { uris: uris.slice(at, at + 100) });
      for (const row of result.structuredContent?.resources ?? []) {
        if (typeof row.tokens === "number") found.set(row.uri, row.tokens);
      }
    }
    return found;
  }
}

/**
 * What a row needs of a resource.
 * @param {any} resource
 * @returns {Item}
 */
export function toItem(resource) {
  const uri = String(resource.uri ?? "");
  const { lastModified = resource.lastModified, priority = resource.priority } = resource.annotations ?? {};
  const modified = Date.parse(lastModified ?? "");
  const isCollection =
    resource.isCollection ?? resource._meta?.["dev.refdesk/collection"] ?? resource.mimeType === "inode/directory";
  /** @type {Item} */
  const item = {
    uri,
    name: safeName(String(resource.title || resource.name || lastSegment(uri))),
    isCollection: Boolean(isCollection),
  };
  if (resource.mimeType) item.mime = String(resource.mimeType);
  if (resource.description) item.description = String(resource.description);
  if (typeof resource.size === "number") item.size = resource.size;
  if (Number.isFinite(modified)) item.modified = modified;
  if (typeof priority === "number") item.priority = priority;
  return item;
}

/**
 * Whether a row of a list is one.
 * @param {any} row
 */
function isObject(row) {
  return typeof row === "object" && row !== null;
}

/** @param {any} result of a tool */
export function textOf(result) {
  const blocks = Array.isArray(result?.content) ? result.content : [];
  return blocks
    .filter((/** @type {any} */ block) => block.type === "text")
    .map((/** @type {any} */ block) => String(block.text))
    .join("\n");
}
