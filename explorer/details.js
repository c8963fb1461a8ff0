// Everything that is known of a resource, and texts to copy that lead to it.

import { copyButton, fill, h } from "./dom.js";
import { age, date, number, safeName, size, tokens } from "./format.js";
import { t } from "./i18n.js";
import { jsonTree } from "./json_view.js";
import { headerValue } from "./stateless.js";

/** @typedef {import("./app.js").App} App */

export class DetailsPane {
  /** @type {any} */
  #resource = null;
  /** @type {number | undefined} */
  #tokens;
  #readAt = 0;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.body = h("div", { class: "details-body" });
    this.element = h("aside", { class: "details", "aria-label": t("details") }, h("h2", null, t("details")), this.body);
    this.show(null);
  }

  /** @param {any} resource */
  async show(resource) {
    this.#resource = resource;
    this.#tokens = undefined;
    this.#readAt = Date.now();
    this.#render();
    if (!resource || this.app.folders.isVirtual(String(resource.uri))) return;
    const uri = String(resource.uri);
    const found = await this.app.api.tokens([uri]).catch(() => new Map());
    if (this.#resource !== resource) return;
    this.#tokens = found.get(uri);
    this.#render();
  }

  #render() {
    const resource = this.#resource;
    if (!resource) return fill(this.body, h("p", { class: "quiet" }, t("noDetails")));
    const uri = String(resource.uri);
    const meta = resource._meta ?? {};
    const { audience, priority, lastModified } = resource.annotations ?? {};
    const mount = this.app.mountOf(uri);
    /** @type {[string, any][]} */
    const rows = [
      [t("columnName"), safeName(String(resource.name ?? ""))],
      [t("titleLabel"), safeName(String(resource.title ?? ""))],
      [t("description"), resource.description],
      [t("columnType"), resource.mimeType],
      [
        t("columnSize"),
        resource.size === undefined
          ? undefined
          : resource.size < 1024
            ? size(resource.size)
            : `${size(resource.size)} (${number(resource.size)} B)`,
      ],
      [t("tokens"), this.#tokens === undefined ? undefined : tokens(this.#tokens)],
      [t("modified"), lastModified && `${date(lastModified)} (${age(lastModified)})`],
      [t("columnPriority"), priority],
      [t("audience"), Array.isArray(audience) ? audience.join(", ") : undefined],
      [t("language"), meta["dev.refdesk/language"]],
      [t("charset"), meta["dev.refdesk/charset"]],
      [t("capabilities"), capabilities(resource)],
      [t("whereFrom"), mount && `${mount.name} (${mount.kind})`],
      [t("origin"), origin(meta)],
      [t("derived"), derived(meta)],
      [t("version"), meta["dev.refdesk/etag"]],
      [t("cacheAge"), cacheAge(meta, this.#readAt)],
      [t("notes"), Array.isArray(meta["dev.refdesk/notes"]) ? meta["dev.refdesk/notes"].join("; ") : undefined],
    ];
    const formats = Array.isArray(meta["dev.refdesk/formats"]) ? meta["dev.refdesk/formats"] : [];
    fill(
      this.body,
      h("p", { class: "uri-box mono" }, uri),
      h(
        "div",
        { class: "copies" },
        copyButton(t("copyUri"), () => uri),
        copyButton("@server:uri", () => `@${this.app.api.serverName}:${uri}`),
        copyButton(t("copyCall"), () => toolCall(this.app, uri)),
        copyButton("curl", () => curl(this.app, uri)),
      ),
      h(
        "dl",
        null,
        rows
          .filter(([, value]) => value !== undefined && value !== null && value !== "")
          .map(([name, value]) => [h("dt", null, name), h("dd", null, String(value))])
          .flat(),
      ),
      formats.length > 1 &&
        h(
          "div",
          null,
          h("h3", null, t("formats")),
          h(
            "ul",
            { class: "formats" },
            formats.map((/** @type {any} */ one) =>
              h(
                "li",
                null,
                h("span", { class: "mono" }, String(one.mimeType)),
                h("span", { class: "quiet" }, one.size === undefined ? "" : ` ${size(one.size)}`),
              ),
            ),
          ),
        ),
      h("details", null, h("summary", null, t("allMetadata")), jsonTree(resource, t("allMetadata"))),
    );
  }
}

/** @param {any} resource */
function capabilities(resource) {
  const { list, subscribe } = resource.capabilities ?? {};
  return [list && t("canList"), subscribe && t("canSubscribe")].filter(Boolean).join(", ");
}

/** @param {any} meta */
function derived(meta) {
  const said = meta["dev.refdesk/derived"];
  const polled = meta["dev.refdesk/polled"] ? t("polled") : "";
  const text = Array.isArray(said) ? said.join(", ") : said ? JSON.stringify(said) : "";
  return [text, polled].filter(Boolean).join("; ");
}

/** @param {any} meta */
function origin(meta) {
  const said = meta["dev.refdesk/origin"];
  return said && (typeof said === "object" ? JSON.stringify(said) : String(said));
}

/**
 * How old what is shown is: since refdesk has it from the server behind it, or since the page has read it.
 * @param {any} meta
 * @param {number} readAt
 */
function cacheAge(meta, readAt) {
  if (meta["dev.refdesk/immutable"]) return t("immutable");
  const fetched = age(String(meta["dev.refdesk/fetched"] ?? ""));
  const read = t("readAt", { age: age(readAt) });
  return fetched ? `${t("fetchedAt", { age: fetched })}; ${read}` : read;
}

/**
 * @param {App} app
 * @param {string} uri
 */
async function toolCall(app, uri) {
  const isTool = await app.api.hasTool("resources_read").catch(() => false);
  const call = isTool
    ? { method: "tools/call", params: { name: "resources_read", arguments: { uri } } }
    : { method: "resources/read", params: { uri } };
  return JSON.stringify(call, null, 2);
}

/**
 * A command that reads the resource: without a session where the server needs none, else with one
 * in the revision that it knows.
 * @param {App} app
 * @param {string} uri
 */
export function curl(app, uri) {
  const { url, token, server } = app.client;
  const request = (/** @type {string[]} */ headers, /** @type {any} */ message) => {
    const all = ["Content-Type: application/json", "Accept: application/json, text/event-stream", ...headers].map(
      (header) => `-H ${quoted(header)}`,
    );
    // Double quotes: the shell puts the token in.
    if (token) all.push('-H "Authorization: Bearer $TOKEN"');
    return [quoted(url), ...all, `-d ${quoted(JSON.stringify({ jsonrpc: "2.0", ...message }))}`].join(" \\\n  ");
  };
  const client = { name: "curl", version: "1" };
  const [prefix, revision] = ["io.modelcontextprotocol/", "2026-07-28"];
  if (server.serverInfo?.name === "refdesk" || server.protocolVersion === revision) {
    const meta = {
      [`${prefix}protocolVersion`]: revision,
      [`${prefix}clientInfo`]: client,
      [`${prefix}clientCapabilities`]: {},
    };
    const headers = [`MCP-Protocol-Version: ${revision}`, "Mcp-Method: resources/read", `Mcp-Name: ${headerValue(uri)}`];
    return `curl -s ${request(headers, { id: 1, method: "resources/read", params: { uri, _meta: meta } })}`;
  }
  const params = { protocolVersion: server.protocolVersion, capabilities: {}, clientInfo: client };
  const open = request([], { id: 1, method: "initialize", params });
  const read = request([`MCP-Protocol-Version: ${server.protocolVersion}`], {
    id: 2,
    method: "resources/read",
    params: { uri },
  });
  return `SESSION=$(curl -si ${open} | sed -n 's/^mcp-session-id: *\\([^[:space:]]*\\).*/\\1/Ip')\ncurl -s -H "Mcp-Session-Id: $SESSION" ${read}`;
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
