//! Sanitiser: HTML that loads and runs nothing, by a list of what may stay.
//!
//! The output is written anew from the tree: elements and attributes of the list, text with all
//! marks escaped. No element of the list has content that parsers read by other rules, so that
//! every parser reads the output as it was written.

use super::inline::scheme_of;
use super::main_content::MainContent;
use super::tree::{HtmlNodeId, HtmlTree, TEXT};
use crate::conversion::Conversion;
use crate::error::ConvertError;
use crate::options::Options;

/// What ids begin with, so that none hides a name of the page that shows the content.
pub(crate) const ID_PREFIX: &str = "user-content-";

/// What classes of the highlighter begin with.
pub(crate) const HIGHLIGHT_PREFIX: &str = "hl-";

/// The elements that stay, sorted. Others give way to their content.
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "address",
    "article",
    "aside",
    "b",
    "bdi",
    "bdo",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "data",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "nav",
    "ol",
    "p",
    "pre",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "u",
    "ul",
    "var",
    "wbr",
];

/// Makes HTML of `page` that loads and runs nothing.
pub(crate) fn sanitise(page: &str, options: &Options) -> Result<Conversion, ConvertError> {
    let tree = HtmlTree::parse(page)?;
    let content = MainContent::whole(&tree);
    let mut sanitiser =
        Sanitiser { tree: &tree, content: &content, out: String::new(), in_link: false };
    sanitiser.write_children(content.root);
    if sanitiser.out.len() > options.max_output_bytes {
        return Err(super::over_output_limit(options));
    }
    Ok(Conversion { losses: super::losses(&tree), ..Conversion::text(sanitiser.out) })
}

struct Sanitiser<'a> {
    tree: &'a HtmlTree,
    content: &'a MainContent,
    out: String,
    in_link: bool,
}

impl Sanitiser<'_> {
    fn write_children(&mut self, id: HtmlNodeId) {
        let tree = self.tree;
        for child in tree.children(id).filter(|child| self.content.is_kept(*child)) {
            self.write_element(child);
        }
    }

    fn write_element(&mut self, id: HtmlNodeId) {
        let name = self.tree.name(id);
        if name == TEXT {
            return push_text(&mut self.out, self.tree.text(id));
        }
        let name = match name {
            "strike" => "s",
            "tt" => "code",
            "xmp" | "plaintext" => "pre",
            "dir" | "menu" => "ul",
            other => other,
        };
        match name {
            "input" => self.write_check_box(id),
            "img" => self.write_image(id),
            "br" | "hr" | "wbr" | "col" => self.write_start_tag(name, id),
            _ if ELEMENTS.binary_search(&name).is_ok() => {
                let is_link = name == "a";
                if is_link && self.in_link {
                    return self.write_children(id);
                }
                self.in_link |= is_link;
                self.write_start_tag(name, id);
                self.write_children(id);
                self.out.push_str("</");
                self.out.push_str(name);
                self.out.push('>');
                self.in_link &= !is_link;
            }
            _ => self.write_children(id),
        }
    }

    fn write_start_tag(&mut self, name: &str, id: HtmlNodeId) {
        self.out.push('<');
        self.out.push_str(name);
        let node = self.tree.node(id);
        for attribute in &self.tree.attributes[node.start as usize..node.end as usize] {
            let value = &self.tree.characters[attribute.start as usize..attribute.end as usize];
            // Of styles, the side of a cell's text stays, as an attribute.
            let side = value.trim().strip_prefix("text-align:").map(str::trim);
            let (attribute, value) = match (attribute.name, side) {
                ("style", Some(side)) => ("align", side),
                (attribute, _) => (attribute, value),
            };
            if let Some(value) = allowed_value(name, attribute, value) {
                self.push_attribute(attribute, &value);
            }
        }
        if name == "a" {
            self.out.push_str(" rel=\"noreferrer noopener\"");
        }
        self.out.push('>');
    }

    fn push_attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        push_text(&mut self.out, value);
        self.out.push('"');
    }

    /// Writes an image that is in the page, and a link to any other.
    fn write_image(&mut self, id: HtmlNodeId) {
        let source = self.tree.attribute(id, "src").unwrap_or("").trim();
        let alt = self.tree.attribute(id, "alt").unwrap_or("").trim();
        if is_inline_image(source) {
            return self.write_start_tag("img", id);
        }
        match link_value(source).filter(|_| !self.in_link && !source.is_empty()) {
            Some(target) => {
                self.out.push_str("<a");
                self.push_attribute("href", &target);
                self.out.push_str(" rel=\"noreferrer noopener\">");
                push_text(&mut self.out, if alt.is_empty() { "image" } else { alt });
                self.out.push_str("</a>");
            }
            None => push_text(&mut self.out, alt),
        }
    }

    /// Writes a box as a character: forms do not stay.
    fn write_check_box(&mut self, id: HtmlNodeId) {
        if self.tree.attribute(id, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
        {
            let is_checked = self.tree.attribute(id, "checked").is_some();
            self.out.push_str(if is_checked { "☑ " } else { "☐ " });
        }
    }
}

/// The value with which an attribute stays; `None` if it does not.
fn allowed_value(element: &str, name: &str, value: &str) -> Option<String> {
    let number = || value.trim().parse::<u32>().ok().map(|number| number.min(10_000).to_string());
    let kept = || Some(value.to_owned());
    match (element, name) {
        (_, "title") | ("img", "alt") => kept(),
        (_, "lang") => kept().filter(|lang| is_word(lang)),
        (_, "id") => kept().filter(|id| !id.is_empty()).map(|id| format!("{ID_PREFIX}{id}")),
        ("a", "href") => link_value(value),
        ("img", "src") => is_inline_image(value.trim()).then(|| value.trim().to_owned()),
        ("img", "width" | "height") | ("td" | "th", "colspan" | "rowspan") | ("li", "value") => {
            number()
        }
        ("ol", "start") => number(),
        ("ol", "reversed") | ("details", "open") => Some(String::new()),
        ("th", "scope") => kept().filter(|scope| is_word(scope)),
        ("time" | "del" | "ins", "datetime") | ("data", "value") => kept(),
        ("td" | "th" | "p" | "div", "align") => {
            kept().filter(|side| matches!(side.as_str(), "left" | "right" | "center"))
        }
        ("code" | "pre" | "span" | "table", "class") => allowed_classes(value),
        _ => None,
    }
}

/// The classes that name a language or come from the highlighter.
fn allowed_classes(value: &str) -> Option<String> {
    let is_allowed = |class: &&str| {
        let name = class.strip_prefix(HIGHLIGHT_PREFIX).or_else(|| class.strip_prefix("language-"));
        name.is_some_and(is_word)
    };
    let classes: Vec<_> = value.split_ascii_whitespace().filter(is_allowed).collect();
    (!classes.is_empty()).then(|| classes.join(" "))
}

fn is_word(value: &str) -> bool {
    !value.is_empty()
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_+#".contains(&byte))
}

/// The target of a link that stays: of the web, of mail, relative, or in the page.
fn link_value(value: &str) -> Option<String> {
    // Browsers leave these characters out of URLs, wherever they stand.
    let target: String = value.chars().filter(|letter| !letter.is_control()).collect();
    let target = target.trim();
    if let Some(fragment) = target.strip_prefix('#') {
        return Some(format!("#{}{fragment}", if fragment.is_empty() { "" } else { ID_PREFIX }));
    }
    match scheme_of(target).as_deref() {
        None | Some("http" | "https" | "mailto") => Some(target.to_owned()),
        Some(_) => None,
    }
}

/// Whether the source of an image is the image itself, of a kind that holds pixels alone.
fn is_inline_image(source: &str) -> bool {
    let Some((head, data)) = source.split_once(',') else { return false };
    let head = head.to_ascii_lowercase();
    let is_pixels = ["png", "jpeg", "gif", "webp"]
        .iter()
        .any(|kind| head.strip_prefix("data:image/") == Some(&format!("{kind};base64")));
    is_pixels
        && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=%\r\n ".contains(&byte))
}

/// Appends text with every character escaped that HTML reads as a mark, in text or in a value, and
/// without control characters, which have no meaning in HTML.
pub(crate) fn push_text(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '`' => out.push_str("&#96;"),
            letter if letter.is_control() && !letter.is_ascii_whitespace() => {}
            letter => out.push(letter),
        }
    }
}
