// A form out of a JSON schema, for tools, prompts, templates and questions of a server.

import { h } from "./dom.js";
import { t } from "./i18n.js";

/**
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => any} value `undefined` if it is empty; throws if it is wrong
 * @property {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} input
 */

/**
 * @typedef {object} FormOptions
 * @property {(name: string, value: string, others: Record<string, string>) => Promise<string[]>} [complete]
 */

let nextForm = 0;

export class SchemaForm {
  /** @type {Map<string, Field>} */
  fields = new Map();

  /**
   * @param {any} schema of an object
   * @param {FormOptions} [options]
   */
  constructor(schema, options = {}) {
    this.options = options;
    this.id = `form-${(nextForm += 1)}`;
    const properties = schema && typeof schema.properties === "object" && schema.properties ? schema.properties : {};
    const required = new Set(Array.isArray(schema?.required) ? schema.required : []);
    const names = Object.keys(properties).slice(0, 200);
    names.sort((a, b) => Number(required.has(b)) - Number(required.has(a)));
    this.element = h(
      "div",
      { class: "form" },
      names.map((name) => this.#row(name, properties[name] ?? {}, required.has(name))),
    );
    if (names.length === 0) this.element.appendChild(h("p", { class: "quiet" }, t("noArguments")));
  }

  /**
   * @param {string} name
   * @param {any} schema
   * @param {boolean} isRequired
   */
  #row(name, schema, isRequired) {
    const id = `${this.id}-${this.fields.size}`;
    const field = makeField(schema);
    field.input.id = id;
    field.input.setAttribute("aria-describedby", `${id}-note`);
    if (isRequired)
      field.input.required = !(field.input instanceof HTMLInputElement && field.input.type === "checkbox");
    this.fields.set(name, field);
    const list =
      this.options.complete && field.input instanceof HTMLInputElement ? this.#completion(name, field.input, id) : null;
    const label = h(
      "label",
      { for: id },
      schema.title ? String(schema.title) : name,
      isRequired ? h("span", { class: "required" }, ` ${t("required")}`) : null,
    );
    return h(
      "div",
      { class: "form-row" },
      label,
      field.element,
      list,
      h("p", { class: "form-note quiet", id: `${id}-note` }, schema.description ? String(schema.description) : ""),
    );
  }

  /**
   * Asks the server for values while a person types.
   * @param {string} name
   * @param {HTMLInputElement} input
   * @param {string} id
   */
  #completion(name, input, id) {
    const list = h("datalist", { id: `${id}-values` });
    input.setAttribute("list", list.id);
    input.autocomplete = "off";
    let timer = 0;
    let turn = 0;
    const ask = async () => {
      const mine = (turn += 1);
      const others = Object.fromEntries(
        [...this.fields]
          .filter(([other]) => other !== name)
          .map(([other, field]) => [other, field.input.value])
          .filter(([, value]) => value !== ""),
      );
      const values = await this.options.complete?.(name, input.value, others).catch(() => []);
      if (mine === turn) list.replaceChildren(...(values ?? []).slice(0, 100).map((value) => h("option", { value })));
    };
    input.addEventListener("focus", ask);
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = window.setTimeout(ask, 120);
    });
    return list;
  }

  /**
   * The values; `null` if one is wrong, which the form then shows.
   * @returns {Record<string, any> | null}
   */
  values() {
    /** @type {Record<string, any>} */
    const values = {};
    for (const [name, field] of this.fields) {
      field.input.setCustomValidity("");
      try {
        const value = field.value();
        if (value !== undefined) values[name] = value;
      } catch (error) {
        field.input.setCustomValidity(error instanceof Error ? error.message : String(error));
      }
      if (!field.input.reportValidity()) return null;
    }
    return values;
  }
}

/**
 * @param {any} schema
 * @returns {Field}
 */
function makeField(schema) {
  const types = [schema.type].flat();
  const choices = choicesOf(schema);
  if (types.includes("array") && choicesOf(schema.items ?? {})) return manyField(choicesOf(schema.items) ?? [], schema);
  if (choices) return choiceField(choices, schema);
  if (types.includes("boolean")) return checkField(schema);
  if (types.includes("integer") || types.includes("number")) return numberField(schema, types.includes("integer"));
  if (types.includes("array") && [schema.items?.type].flat().includes("string")) return linesField(schema);
  if (types.includes("string")) return textField(schema);
  return jsonField(schema);
}

/**
 * The values that a schema allows, with titles.
 * @param {any} schema
 * @returns {[any, string][] | null}
 */
function choicesOf(schema) {
  if (Array.isArray(schema.enum)) {
    const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
    return schema.enum.map((/** @type {any} */ value, /** @type {number} */ at) => [value, String(names[at] ?? value)]);
  }
  const options = Array.isArray(schema.oneOf) ? schema.oneOf : Array.isArray(schema.anyOf) ? schema.anyOf : [];
  if (options.length === 0 || !options.every((/** @type {any} */ one) => one && "const" in one)) return null;
  return options.map((/** @type {any} */ one) => [one.const, String(one.title ?? one.const)]);
}

/** @param {any} schema @returns {Field} */
function textField(schema) {
  const types = /** @type {Record<string, string>} */ ({
    email: "email",
    uri: "url",
    date: "date",
    password: "password",
  });
  const input = h("input", {
    type: types[schema.format] ?? "text",
    minlength: schema.minLength,
    maxlength: schema.maxLength,
    spellcheck: "false",
    value: schema.default === undefined ? "" : String(schema.default),
  });
  if (schema.format === "date-time") input.placeholder = "2026-01-31T12:00:00Z";
  return { element: input, input, value: () => (input.value === "" ? undefined : input.value) };
}

/**
 * @param {any} schema
 * @param {boolean} isInteger
 * @returns {Field}
 */
function numberField(schema, isInteger) {
  const input = h("input", {
    type: "number",
    step: isInteger ? 1 : "any",
    min: schema.minimum,
    max: schema.maximum,
    value: schema.default === undefined ? "" : String(schema.default),
  });
  return { element: input, input, value: () => (input.value === "" ? undefined : Number(input.value)) };
}

/** @param {any} schema @returns {Field} */
function checkField(schema) {
  const input = h(
    "select",
    null,
    h("option", { value: "" }, "–"),
    h("option", { value: "true" }, t("yes")),
    h("option", { value: "false" }, t("no")),
  );
  if (typeof schema.default === "boolean") input.value = String(schema.default);
  return { element: input, input, value: () => (input.value === "" ? undefined : input.value === "true") };
}

/**
 * @param {[any, string][]} choices
 * @param {any} schema
 * @returns {Field}
 */
function choiceField(choices, schema) {
  const input = h(
    "select",
    null,
    h("option", { value: "" }, "–"),
    choices.map(([, label], at) => h("option", { value: String(at) }, label)),
  );
  const chosen = choices.findIndex(([value]) => value === schema.default);
  if (chosen >= 0) input.value = String(chosen);
  return { element: input, input, value: () => (input.value === "" ? undefined : choices[Number(input.value)][0]) };
}

/**
 * @param {[any, string][]} choices
 * @param {any} schema
 * @returns {Field}
 */
function manyField(choices, schema) {
  const chosen = Array.isArray(schema.default) ? schema.default : [];
  const input = h(
    "select",
    { multiple: true, size: Math.min(6, choices.length) },
    choices.map(([value, label], at) => h("option", { value: String(at), selected: chosen.includes(value) }, label)),
  );
  const value = () => {
    const values = [...input.selectedOptions].map((option) => choices[Number(option.value)][0]);
    return values.length === 0 && !input.required ? undefined : values;
  };
  return { element: input, input, value };
}

/** @param {any} schema @returns {Field} */
function linesField(schema) {
  const input = h("textarea", { rows: 3, placeholder: t("onePerLine"), spellcheck: "false" });
  input.value = Array.isArray(schema.default) ? schema.default.join("\n") : "";
  const value = () => {
    const lines = input.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    return lines.length === 0 ? undefined : lines;
  };
  return { element: input, input, value };
}

/** @param {any} schema @returns {Field} */
function jsonField(schema) {
  const input = h("textarea", { rows: 4, class: "mono", placeholder: "JSON", spellcheck: "false" });
  input.value = schema.default === undefined ? "" : JSON.stringify(schema.default, null, 2);
  const value = () => {
    if (input.value.trim() === "") return undefined;
    try {
      return JSON.parse(input.value);
    } catch {
      throw new Error(t("notJson"));
    }
  };
  return { element: input, input, value };
}
