// Which views a resource has: from its type, and from the formats that the server offers.

import { HIGHLIGHTED } from "./text_source.js";

/** @typedef {import("./i18n.js").StringKey} StringKey */

/**
 * @typedef {object} ViewChoice
 * @property {"list" | "frame" | "document" | "table" | "json" | "image" | "code" | "outline" | "history" | "binary"} kind
 * @property {StringKey} label
 * @property {string} [mime] the format to accept; none is what the server gives first
 * @property {boolean} [isHighlighted]
 */

const TEXT_TYPES =
  /^(text\/|message\/|application\/(.*\+)?(json|xml|yaml|toml|javascript|sql|graphql|x-sh|x-yaml|x-toml|x-ndjson|x-sh|x-httpd-php|x-tex|x-perl|x-ruby|x-python|x-ipynb\+json)($|;))/;

/** @param {string} mime */
export function isText(mime) {
  return TEXT_TYPES.test(mime);
}

/**
 * @param {any} resource the metadata
 * @param {{ hasLine: boolean, hasHistory: boolean }} options
 * @returns {ViewChoice[]} the best one first
 */
export function viewChoices(resource, { hasLine, hasHistory }) {
  const told = resource._meta?.["dev.refdesk/formats"];
  /** @type {string[]} */
  const formats = Array.isArray(told) ? told.map((one) => String(one.mimeType)) : [];
  const own = String(resource.mimeType ?? formats[0] ?? "text/plain");
  /** @type {ViewChoice[]} */
  const choices = [];
  if (isCollection(resource)) choices.push({ kind: "list", label: "viewList" });
  if (isCollection(resource) && formats.length === 0) return choices;
  const others = formats.filter((mime) => mime !== own);
  const isHighlighted = others.includes(HIGHLIGHTED);
  // The server's own clean form of a web page is better than ours.
  const isCleaned =
    own.startsWith("text/html") && others.some((mime) => mime.startsWith("text/html") && mime !== HIGHLIGHTED);
  for (const mime of [own, ...others]) choices.push(...formChoices(mime, mime === own, isHighlighted));
  if (own.startsWith("text/markdown") && !others.some((mime) => mime.startsWith("text/html")))
    choices.push({ kind: "document", label: "viewRendered" });
  if (isCleaned)
    choices.splice(
      choices.findIndex((choice) => choice.kind === "frame" && !choice.mime),
      1,
    );
  if (hasHistory) choices.push({ kind: "history", label: "viewHistory" });
  return order(choices, own, hasLine);
}

/** @param {any} resource */
export function isCollection(resource) {
  return Boolean(
    resource.isCollection ?? resource._meta?.["dev.refdesk/collection"] ?? resource.mimeType === "inode/directory",
  );
}

/**
 * The views of one format.
 * @param {string} mime
 * @param {boolean} isOwn
 * @param {boolean} isHighlighted whether the own format has a highlighted form
 * @returns {ViewChoice[]}
 */
function formChoices(mime, isOwn, isHighlighted) {
  const accept = isOwn ? undefined : mime;
  const [type] = mime.split(";");
  if (mime === HIGHLIGHTED) return [];
  if (mime === "application/json;variant=outline") return [{ kind: "outline", label: "viewOutline", mime }];
  if (type === "image/svg+xml" || type.startsWith("image/")) {
    if (mime.includes("variant=thumbnail")) return [];
    /** @type {ViewChoice[]} */
    const image = [
      { kind: "image", label: mime.includes("sanitised") ? "viewSanitised" : "viewImage", mime: accept ?? mime },
    ];
    return type === "image/svg+xml" && isOwn ? [...image, { kind: "code", label: "viewSource", isHighlighted }] : image;
  }
  if (type === "text/html")
    return [
      { kind: "frame", label: "viewRendered", mime: accept },
      ...(isOwn ? [/** @type {ViewChoice} */ ({ kind: "code", label: "viewSource", isHighlighted })] : []),
    ];
  if (type === "text/markdown" && !isOwn) return [{ kind: "document", label: "viewDocument", mime }];
  if (type === "text/csv" || type === "text/tab-separated-values") {
    return [
      { kind: "table", label: "viewTable", mime: accept },
      { kind: "code", label: "viewSource", mime: accept, isHighlighted: isOwn && isHighlighted },
    ];
  }
  if (/^application\/(.*\+)?json$/.test(type)) {
    return [
      { kind: "json", label: "viewTree", mime: accept },
      ...(isOwn ? [/** @type {ViewChoice} */ ({ kind: "code", label: "viewSource", isHighlighted })] : []),
    ];
  }
  if (isText(mime))
    return [
      { kind: "code", label: isOwn ? "viewSource" : "viewText", mime: accept, isHighlighted: isOwn && isHighlighted },
    ];
  return isOwn ? [{ kind: "binary", label: "viewBinary" }] : [];
}

/**
 * @param {ViewChoice[]} choices
 * @param {string} own
 * @param {boolean} hasLine a link to a line shows lines
 */
function order(choices, own, hasLine) {
  const rank = (/** @type {ViewChoice} */ choice) => {
    if (hasLine && choice.kind === "code") return -1;
    if (choice.kind === "image" && choice.label === "viewSanitised") return 1;
    const kinds = ["list", "frame", "image", "document", "table", "json", "code", "outline", "history", "binary"];
    // A notebook is JSON that nobody reads as such, a folder's report is not its list.
    if (choice.kind === "json" && own.includes("ipynb")) return 6.5;
    // JSON beside a text is for programs: a commit shows its diff first.
    if (choice.kind === "json" && choice.mime !== undefined) return 7.5;
    // What is a table already needs no document around it.
    if (choice.kind === "table" && choice.mime === undefined) return 0;
    return kinds.indexOf(choice.kind) + 1;
  };
  const seen = new Set();
  const unique = choices.filter((choice) => {
    const key = `${choice.kind} ${choice.label} ${choice.mime ?? ""}`;
    return !seen.has(key) && seen.add(key);
  });
  return unique
    .map((choice, at) => ({ choice, at }))
    .sort((a, b) => rank(a.choice) - rank(b.choice) || a.at - b.at)
    .map(({ choice }) => choice);
}
