// URI templates (RFC 6570): their variables, and a URI out of values.

/** @typedef {{ literal: string } | { operator: string, names: { name: string, explode: boolean, prefix: number }[] }} TemplatePart */

const OPERATORS = {
  "": { first: "", separator: ",", named: false, ifEmpty: "", reserved: false },
  "+": { first: "", separator: ",", named: false, ifEmpty: "", reserved: true },
  "#": { first: "#", separator: ",", named: false, ifEmpty: "", reserved: true },
  ".": { first: ".", separator: ".", named: false, ifEmpty: "", reserved: false },
  "/": { first: "/", separator: "/", named: false, ifEmpty: "", reserved: false },
  ";": { first: ";", separator: ";", named: true, ifEmpty: "", reserved: false },
  "?": { first: "?", separator: "&", named: true, ifEmpty: "=", reserved: false },
  "&": { first: "&", separator: "&", named: true, ifEmpty: "=", reserved: false },
};

/**
 * @param {string} template
 * @returns {TemplatePart[]}
 */
function parse(template) {
  return template
    .split(/(\{[^{}]*\})/)
    .filter(Boolean)
    .map((piece) => {
      const found = /^\{([+#./;?&]?)([^{}]+)\}$/.exec(piece);
      if (!found) return { literal: piece };
      const names = found[2].split(",").map((text) => {
        const [, name, explode, prefix] = /^([^*:]+)(\*)?(?::(\d+))?/.exec(text.trim()) ?? ["", text, "", ""];
        return { name, explode: Boolean(explode), prefix: Number(prefix) || 0 };
      });
      return { operator: found[1], names };
    });
}

/**
 * @param {string} template
 * @returns {string[]}
 */
export function variablesOf(template) {
  return [...new Set(parse(template).flatMap((part) => ("names" in part ? part.names.map(({ name }) => name) : [])))];
}

/**
 * @param {string} template
 * @param {Record<string, string>} values an empty value counts as none
 */
export function expand(template, values) {
  return parse(template)
    .map((part) => {
      if ("literal" in part) return part.literal;
      const rule = OPERATORS[/** @type {keyof typeof OPERATORS} */ (part.operator)];
      const pieces = part.names.flatMap(({ name, prefix }) => {
        const value = values[name];
        if (value === undefined || value === "") return [];
        const text = encode(prefix ? [...value].slice(0, prefix).join("") : value, rule.reserved);
        return [rule.named ? `${name}${text ? "=" : rule.ifEmpty}${text}` : text];
      });
      return pieces.length > 0 ? rule.first + pieces.join(rule.separator) : "";
    })
    .join("");
}

/**
 * @param {string} text
 * @param {boolean} isReserved whether reserved characters stay
 */
function encode(text, isReserved) {
  const strict = (/** @type {string} */ piece) =>
    encodeURIComponent(piece).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  if (!isReserved) return strict(text);
  return text
    .split(/(%[0-9a-f]{2}|[:/?#[\]@!$&'()*+,;=]+)/i)
    .map((piece, at) => (at % 2 === 1 ? piece : strict(piece)))
    .join("");
}
