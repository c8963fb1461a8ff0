//! Tables of HTML elements and attributes: which of them the tree knows, and how they nest.

/// The elements that the tree tells apart, sorted.
const NAMES: &[&str] = &[
    "a",
    "abbr",
    "address",
    "annotation",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "base",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "data",
    "datalist",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "li",
    "link",
    "main",
    "map",
    "mark",
    "math",
    "menu",
    "meta",
    "nav",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "output",
    "p",
    "param",
    "picture",
    "plaintext",
    "pre",
    "progress",
    "q",
    "rb",
    "rp",
    "rt",
    "rtc",
    "ruby",
    "s",
    "samp",
    "script",
    "search",
    "section",
    "select",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "text",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "track",
    "tt",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
    "xmp",
];

/// What an element that is not in [`NAMES`] is called: it has no meaning, but content.
pub(super) const UNKNOWN: &str = "unknown";

/// The attributes that a converter reads, sorted.
const ATTRIBUTES: &[&str] = &[
    "align",
    "alt",
    "aria-hidden",
    "checked",
    "class",
    "colspan",
    "content",
    "data-lang",
    "data-language",
    "data-src",
    "datetime",
    "encoding",
    "height",
    "hidden",
    "href",
    "id",
    "lang",
    "name",
    "open",
    "reversed",
    "role",
    "rowspan",
    "scope",
    "src",
    "start",
    "style",
    "title",
    "type",
    "value",
    "width",
];

/// The element's name as the tree writes it.
pub(super) fn known_name(name: &str) -> &'static str {
    find(NAMES, name).unwrap_or(UNKNOWN)
}

/// The attribute's name, if a converter reads it.
pub(super) fn known_attribute(name: &str) -> Option<&'static str> {
    find(ATTRIBUTES, name)
}

fn find(table: &[&'static str], name: &str) -> Option<&'static str> {
    let name = || name.bytes().map(|byte| byte.to_ascii_lowercase());
    table.binary_search_by(|known| known.bytes().cmp(name())).ok().map(|at| table[at])
}

/// Whether the element has no content and no end tag.
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "frame"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Whether the element is laid out as a block: a paragraph ends where it starts.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "plaintext"
            | "pre"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
            | "xmp"
    ) || heading_level(name).is_some()
}

/// The level of a heading element.
pub(super) fn heading_level(name: &str) -> Option<usize> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(usize::from(level - b'0')),
        _ => None,
    }
}

/// Whether the start tag of this element ends an open paragraph.
pub(super) fn closes_paragraph(name: &str) -> bool {
    is_block(name)
        && !matches!(
            name,
            "body"
                | "caption"
                | "html"
                | "legend"
                | "tbody"
                | "td"
                | "tfoot"
                | "th"
                | "thead"
                | "tr"
        )
}

/// Whether the element gives its content a look and nothing more, so that its end tag may cross
/// that of a block.
pub(super) fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "a" | "b"
            | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    )
}

/// Whether an end tag inside this element cannot end an element around it.
pub(super) fn is_boundary(name: &str) -> bool {
    matches!(name, "caption" | "object" | "table" | "td" | "template" | "th")
}

/// Whether the element stands for a part of a table, and has no meaning outside of one.
pub(super) fn is_table_part(name: &str) -> bool {
    matches!(
        name,
        "caption" | "col" | "colgroup" | "tbody" | "td" | "tfoot" | "th" | "thead" | "tr"
    )
}

/// Whether the element belongs into the head of a page.
pub(super) fn is_head_part(name: &str) -> bool {
    matches!(
        name,
        "base" | "link" | "meta" | "noscript" | "script" | "style" | "template" | "title"
    )
}

/// Whether the element's content is not for readers: programs, styles, other documents.
pub(super) fn is_machinery(name: &str) -> bool {
    matches!(
        name,
        "audio"
            | "datalist"
            | "embed"
            | "frameset"
            | "head"
            | "iframe"
            | "noembed"
            | "noframes"
            | "noscript"
            | "object"
            | "progress"
            | "script"
            | "select"
            | "style"
            | "svg"
            | "template"
            | "title"
            | "video"
    )
}

#[cfg(test)]
mod tests {
    use super::{ATTRIBUTES, NAMES, UNKNOWN, known_attribute, known_name};

    #[test]
    fn the_tables_are_sorted_so_that_every_name_is_found() {
        assert!(NAMES.is_sorted());
        assert!(ATTRIBUTES.is_sorted());
        assert!(NAMES.iter().all(|name| known_name(name) == *name));
        assert_eq!(known_name("x-widget"), UNKNOWN);
        assert_eq!(known_attribute("HRef"), Some("href"));
        assert_eq!(known_attribute("onclick"), None);
    }
}
