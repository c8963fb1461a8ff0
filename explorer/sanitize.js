// Markup of a server, rebuilt from a list of allowed elements and attributes. Nothing else passes.

const ELEMENTS = new Set(
  "a abbr b blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small span strong sub summary sup table tbody td tfoot th thead tr tt u ul var".split(
    " ",
  ),
);

/** Elements whose text is no text to show. */
const DROPPED = new Set(
  "applet embed frame frameset head iframe link math meta noembed noframes noscript object script style svg template textarea title xmp".split(
    " ",
  ),
);

const MAX_DEPTH = 200;

/**
 * The nodes of a markup text, in a document that loads and runs nothing.
 * @param {string} markup
 */
export function parseInert(markup) {
  return new DOMParser().parseFromString(markup, "text/html").body;
}

/**
 * @typedef {object} RebuildOptions
 * @property {(href: string) => { href: string, target: string } | null} link
 * @property {RegExp | null} marks words to mark
 */

/**
 * A safe copy of what a markup text holds, as markup.
 * @param {string} markup
 * @param {RebuildOptions} options
 */
export function safeMarkup(markup, options) {
  const page = document.implementation.createHTMLDocument("");
  copyChildren(parseInert(markup), page.body, page, options, 0);
  return page.body.innerHTML;
}

/**
 * @param {Node} from
 * @param {Node} to
 * @param {Document} page
 * @param {RebuildOptions} options
 * @param {number} depth
 */
function copyChildren(from, to, page, options, depth) {
  if (depth > MAX_DEPTH) return;
  for (const node of from.childNodes) {
    if (node instanceof Text) {
      for (const piece of markedNodes(node.data, options.marks, page)) to.appendChild(piece);
      continue;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) continue;
    const element = /** @type {Element} */ (node);
    const name = element.localName;
    if (DROPPED.has(name)) continue;
    if (!ELEMENTS.has(name)) {
      copyChildren(element, to, page, options, depth + 1);
      continue;
    }
    const copy = page.createElement(name);
    copyAttributes(element, copy, options);
    to.appendChild(copy);
    copyChildren(element, copy, page, options, depth + 1);
  }
}

/**
 * @param {Element} from
 * @param {HTMLElement} to
 * @param {RebuildOptions} options
 */
function copyAttributes(from, to, options) {
  for (const name of ["colspan", "rowspan", "start"]) {
    const value = from.getAttribute(name);
    if (value && /^\d{1,4}$/.test(value)) to.setAttribute(name, value);
  }
  for (const name of ["title", "alt", "lang"]) {
    const value = from.getAttribute(name);
    if (value) to.setAttribute(name, value.slice(0, 500));
  }
  const classes = [...from.classList].filter((name) => /^(hl-[a-z]+|language-[\w+-]+)$/.test(name));
  if (classes.length > 0) to.className = classes.join(" ");
  const id = from.getAttribute("id");
  if (id && /^[\w.-]{1,200}$/.test(id)) to.id = id;
  const source = from.getAttribute("src");
  if (to.localName === "img" && source && /^data:image\/(png|jpeg|gif|webp);base64,/i.test(source))
    to.setAttribute("src", source);
  const href = from.getAttribute("href");
  const link = to.localName === "a" && href ? options.link(href) : null;
  if (link) {
    to.setAttribute("href", link.href);
    to.setAttribute("target", link.target);
    to.setAttribute("rel", "noopener noreferrer");
  }
}

/**
 * A text, with the words that match in `mark` elements.
 * @param {string} text
 * @param {RegExp | null} marks
 * @param {Document} page
 * @returns {Node[]}
 */
export function markedNodes(text, marks, page = document) {
  if (!marks) return [page.createTextNode(text)];
  /** @type {Node[]} */
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(marks)) {
    if (found[0] === "") continue;
    if (found.index > end) nodes.push(page.createTextNode(text.slice(end, found.index)));
    const mark = page.createElement("mark");
    mark.textContent = found[0];
    nodes.push(mark);
    end = found.index + found[0].length;
  }
  if (end < text.length) nodes.push(page.createTextNode(text.slice(end)));
  return nodes;
}

/**
 * An expression for words to mark.
 * @param {string[]} words
 */
export function marksFor(words) {
  const kept = [...new Set(words)].filter((word) => word.length > 0 && word.length < 100).slice(0, 20);
  if (kept.length === 0) return null;
  const escaped = kept.sort((a, b) => b.length - a.length).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(escaped.join("|"), "giu");
}
