// Tools, templates and prompts: a list to choose from, and a form for the one that was chosen.

import { contentBlock, toolResult } from "./blocks.js";
import { announce, copyButton, errorBox, fill, h, icon } from "./dom.js";
import { SchemaForm } from "./forms.js";
import { number } from "./format.js";
import { t } from "./i18n.js";
import { goTo, linkTo, viewLink } from "./router.js";
import { expand, variablesOf } from "./uri_template.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {"tools" | "templates" | "prompts"} ComponentKind */

export class ComponentsView {
  /** @type {any[]} */
  #all = [];
  /** @type {AbortController | null} */
  #running = null;

  /**
   * @param {App} app
   * @param {ComponentKind} kind
   * @param {string | undefined} name
   */
  constructor(app, kind, name) {
    this.app = app;
    this.kind = kind;
    this.name = name;
    const titles = /** @type {const} */ ({ tools: "tools", templates: "templates", prompts: "prompts" });
    this.filter = h("input", {
      type: "search",
      placeholder: t("filterNames"),
      "aria-label": t("filterNames"),
      oninput: () => this.#renderList(),
    });
    this.list = h("ul", { class: "component-list" });
    this.body = h("div", { class: "component-body" });
    this.element = h(
      "div",
      { class: "components" },
      h("div", { class: "component-side" }, h("h1", null, t(titles[kind])), this.filter, this.list),
      this.body,
    );
    this.load();
  }

  destroy() {
    this.#running?.abort();
  }

  async load() {
    fill(this.list, h("li", { class: "quiet" }, t("loading")));
    try {
      this.#all = await this.#read();
      this.#renderList();
      this.show(this.name);
    } catch (error) {
      fill(
        this.list,
        h(
          "li",
          null,
          errorBox(error, () => this.load()),
        ),
      );
    }
  }

  /** @returns {Promise<any[]>} */
  #read() {
    const { api } = this.app;
    if (this.kind === "tools") return api.tools();
    return this.kind === "prompts" ? api.prompts() : api.templates();
  }

  /** The server says that the list changed. A form that is still right keeps what a person has typed. */
  async refresh() {
    const found = () => JSON.stringify(this.#all.find((one) => this.#idOf(one) === this.name));
    const before = found();
    const all = await this.#read().catch(() => null);
    if (!all) return;
    this.#all = all;
    if (found() === before) this.#renderList();
    else this.show(this.name);
    announce(t("listChanged"));
  }

  /** @param {any} one */
  #idOf(one) {
    return String(this.kind === "templates" ? one.uriTemplate : one.name);
  }

  #renderList() {
    const wanted = this.filter.value.toLowerCase();
    const kept = this.#all.filter((one) =>
      `${this.#idOf(one)} ${one.title ?? ""} ${one.name ?? ""}`.toLowerCase().includes(wanted),
    );
    if (kept.length === 0) return fill(this.list, h("li", { class: "quiet padded" }, t("nothingHere")));
    fill(
      this.list,
      kept.map((one) =>
        h(
          "li",
          null,
          h(
            "a",
            {
              href: viewLink(this.kind, this.#idOf(one)),
              "aria-current": this.#idOf(one) === this.name ? "true" : undefined,
            },
            h("strong", null, String(one.title || one.name || this.#idOf(one))),
            h("span", { class: "mono quiet" }, this.#idOf(one)),
          ),
        ),
      ),
    );
  }

  /** @param {string | undefined} name */
  show(name) {
    this.name = name;
    this.#renderList();
    const one = this.#all.find((each) => this.#idOf(each) === name);
    if (!one)
      return fill(this.body, h("p", { class: "quiet padded" }, name ? t("unknownName", { name }) : t("chooseOne")));
    if (this.kind === "tools") this.#showTool(one);
    else if (this.kind === "templates") this.#showTemplate(one);
    else this.#showPrompt(one);
  }

  /**
   * @param {any} one
   * @param {SchemaForm} form
   * @param {import("./dom.js").Child} action
   * @param {() => void} run
   * @param {HTMLElement} output
   */
  #frame(one, form, action, run, output) {
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      run();
    };
    fill(
      this.body,
      h("h2", null, String(one.title || one.name)),
      h("p", { class: "mono quiet" }, this.#idOf(one)),
      one.description && h("p", { class: "description" }, String(one.description)),
      hints(one.annotations),
      h("form", { onsubmit: submit, novalidate: false }, form.element, h("div", { class: "inline wrap" }, action)),
      output,
    );
  }

  /** @param {any} tool */
  #showTool(tool) {
    const form = new SchemaForm(tool.inputSchema);
    const output = h("div", { class: "output", "aria-live": "polite" });
    const cancel = h(
      "button",
      { type: "button", class: "button", hidden: true, onclick: () => this.#running?.abort() },
      t("cancel"),
    );
    const run = async () => {
      const args = form.values();
      if (!args) return;
      this.#running?.abort();
      const running = (this.#running = new AbortController());
      const progress = h("p", { class: "quiet", role: "status" }, t("running"));
      fill(output, progress);
      cancel.hidden = false;
      const onProgress = (/** @type {any} */ told) => {
        progress.textContent = [
          t("running"),
          told.message,
          told.total ? `${number(told.progress)} / ${number(told.total)}` : number(told.progress ?? 0),
        ]
          .filter(Boolean)
          .join(" · ");
      };
      try {
        const result = await this.app.api.callTool(tool.name, args, { signal: running.signal, onProgress });
        fill(output, toolResult(this.app, result));
      } catch (error) {
        fill(output, running.signal.aborted ? h("p", { class: "quiet" }, t("cancelled")) : errorBox(error));
      } finally {
        cancel.hidden = true;
      }
    };
    const copy = copyButton(t("copyCall"), () =>
      JSON.stringify({ method: "tools/call", params: { name: tool.name, arguments: form.values() ?? {} } }, null, 2),
    );
    this.#frame(
      tool,
      form,
      [h("button", { type: "submit", class: "button primary" }, t("run")), cancel, copy],
      run,
      output,
    );
  }

  /** @param {any} template */
  #showTemplate(template) {
    const known = template._meta?.["dev.refdesk/variables"];
    /** @type {any[]} */
    const variables = Array.isArray(known) ? known : [];
    const properties = Object.fromEntries(
      variablesOf(template.uriTemplate).map((name) => {
        const { description, enum: allowed, default: usual } = variables.find((one) => one.name === name) ?? {};
        return [
          name,
          {
            type: "string",
            description,
            default: usual,
            ...(Array.isArray(allowed) && allowed.length > 0 ? { enum: allowed } : {}),
          },
        ];
      }),
    );
    const ref = { type: "ref/resource", uri: template.uriTemplate };
    const form = new SchemaForm(
      { properties },
      { complete: (name, value, others) => this.app.api.complete(ref, name, value, others) },
    );
    const preview = h("output", { class: "uri-box mono" });
    const uriOf = () => {
      const values = form.values() ?? {};
      return expand(
        template.uriTemplate,
        Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])),
      );
    };
    const update = () => (preview.textContent = uriOf());
    form.element.addEventListener("input", update);
    form.element.addEventListener("change", update);
    update();
    const open = h("button", { type: "submit", class: "button primary" }, t("open"));
    this.#frame(
      template,
      form,
      [open, copyButton(t("copyUri"), uriOf)],
      () => goTo(linkTo(uriOf())),
      h("div", null, preview),
    );
  }

  /** @param {any} prompt */
  #showPrompt(prompt) {
    const declared = Array.isArray(prompt.arguments) ? prompt.arguments : [];
    const properties = Object.fromEntries(
      declared.map((/** @type {any} */ one) => [
        String(one.name),
        { type: "string", title: one.title, description: one.description },
      ]),
    );
    const required = declared
      .filter((/** @type {any} */ one) => one.required)
      .map((/** @type {any} */ one) => String(one.name));
    const ref = { type: "ref/prompt", name: prompt.name };
    const form = new SchemaForm(
      { properties, required },
      { complete: (name, value, others) => this.app.api.complete(ref, name, value, others) },
    );
    const output = h("div", { class: "output", "aria-live": "polite" });
    const run = async () => {
      const args = form.values();
      if (!args) return;
      fill(output, h("p", { class: "quiet" }, t("running")));
      try {
        const result = await this.app.client.request("prompts/get", { name: prompt.name, arguments: args });
        const messages = Array.isArray(result.messages) ? result.messages : [];
        fill(
          output,
          result.description && h("p", { class: "quiet" }, String(result.description)),
          messages.map((/** @type {any} */ message) =>
            h(
              "div",
              { class: "message" },
              h("h3", null, icon("prompt"), String(message.role)),
              contentBlock(this.app, message.content),
            ),
          ),
        );
      } catch (error) {
        fill(output, errorBox(error));
      }
    };
    this.#frame(prompt, form, h("button", { type: "submit", class: "button primary" }, t("getPrompt")), run, output);
  }
}

/** @param {any} annotations of a tool: hints, which no server must keep */
function hints(annotations) {
  if (!annotations) return null;
  const said = [
    annotations.readOnlyHint === true && t("hintReadOnly"),
    annotations.destructiveHint === true && t("hintDestructive"),
    annotations.openWorldHint === true && t("hintOpenWorld"),
  ].filter(Boolean);
  return said.length > 0
    ? h(
        "p",
        { class: "hints" },
        said.map((text) => h("span", { class: "badge" }, text)),
      )
    : null;
}
