//! Blocks of a page: headings, lists, code, quotes, definitions.

use super::elements::{heading_level, is_block};
use super::escape::{fence, link_target};
use super::inline::link_of;
use super::tree::{HtmlNodeId, HtmlTree, ROOT, TEXT};
use super::writer::HtmlWriter;

/// The longest name of a code block's language.
const MAX_LANGUAGE_BYTES: usize = 24;

impl HtmlWriter<'_> {
    /// Writes the title of the page as its heading, if no heading of the content says the same.
    pub(super) fn write_title(&mut self) {
        let tree = self.tree;
        let Some(title) = tree.first("title").map(|id| tree.raw_text(id)) else { return };
        let letters = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = letters(&title);
        let has_heading = tree.ids().any(|id| {
            let is_heading = heading_level(tree.name(id)).is_some() && self.content.is_kept(id);
            is_heading
                && self.is_in_root(id)
                && (tree.name(id) == "h1" || letters(&tree.raw_text(id)) == words)
        });
        if has_heading || words.is_empty() {
            return;
        }
        self.push_text(&title);
        let line = std::mem::take(&mut self.line);
        let mark = if self.is_markdown() { "# " } else { "" };
        self.write_lines(&format!("{mark}{}", line.trim()));
    }

    fn is_in_root(&self, id: HtmlNodeId) -> bool {
        let mut at = id;
        while at != ROOT && at != self.content.root {
            at = self.tree.node(at).parent;
        }
        at == self.content.root
    }

    /// Writes the content of an element as blocks.
    pub(super) fn write_blocks(&mut self, id: HtmlNodeId) {
        let tree = self.tree;
        for child in tree.children(id).filter(|child| self.content.is_kept(*child)) {
            self.write_node(child);
        }
    }

    fn write_node(&mut self, id: HtmlNodeId) {
        let name = self.tree.name(id);
        if let Some(label) = self.notes.definition(id) {
            let label = label.to_owned();
            return self.write_note(id, &label);
        }
        match name {
            "hr" => {
                self.flush();
                if self.is_markdown() {
                    self.write_lines("---");
                }
            }
            "ul" | "ol" | "menu" | "dir" => self.write_list(id),
            "li" => self.write_nested(("- ", "  "), |writer| writer.write_blocks(id)),
            "dl" => self.write_definitions(id),
            "pre" | "xmp" | "plaintext" => self.write_code(id),
            "blockquote" if self.is_markdown() => {
                self.write_nested(("> ", "> "), |writer| writer.write_blocks(id));
            }
            "table" => self.write_table(id),
            "summary" => self.write_summary(id),
            _ if heading_level(name).is_some() => self.write_heading(id),
            _ if is_block(name) || self.content.has_block(id) => {
                self.flush();
                let outer = self.block_link.clone();
                if name == "a" {
                    self.block_link = link_of(self.tree, id).map(link_target).or(outer.clone());
                }
                self.write_blocks(id);
                self.flush();
                self.block_link = outer;
            }
            _ => self.write_inline(id),
        }
    }

    fn write_heading(&mut self, id: HtmlNodeId) {
        self.flush();
        let text = self.inline_of(id).replace('\n', " ");
        if text.is_empty() {
            return;
        }
        let level = heading_level(self.tree.name(id)).unwrap_or(1);
        let text = match &self.block_link {
            Some(target) if self.is_markdown() => format!("[{text}]({target})"),
            _ => text,
        };
        let mark =
            if self.is_markdown() { format!("{} ", "#".repeat(level)) } else { String::new() };
        let was_tight = std::mem::replace(&mut self.is_tight, false);
        self.write_lines(&format!("{mark}{text}"));
        self.is_tight = was_tight;
    }

    fn write_summary(&mut self, id: HtmlNodeId) {
        self.flush();
        let text = self.inline_of(id).replace('\n', " ");
        let is_plain = !self.is_markdown() || text.contains("**");
        match text.as_str() {
            "" => {}
            text if is_plain => self.write_lines(text),
            text => self.write_lines(&format!("**{text}**")),
        }
    }

    fn write_note(&mut self, id: HtmlNodeId, label: &str) {
        let marker =
            if self.is_markdown() { format!("[^{label}]: ") } else { format!("{label}. ") };
        let was_tight = std::mem::replace(&mut self.is_tight, false);
        self.write_nested((&marker, "    "), |writer| writer.write_blocks(id));
        self.is_tight = was_tight;
    }

    fn write_list(&mut self, id: HtmlNodeId) {
        self.flush();
        self.write_gap();
        let tree = self.tree;
        let was_tight = std::mem::replace(&mut self.is_tight, !is_loose(tree, id));
        let is_ordered = tree.name(id) == "ol";
        let number =
            |id, name: &str| tree.attribute(id, name).and_then(|value| value.trim().parse().ok());
        let step: i64 = if tree.attribute(id, "reversed").is_some() { -1 } else { 1 };
        let count = tree.children(id).filter(|child| tree.name(*child) == "li").count();
        let last = i64::try_from(count).unwrap_or(1);
        let mut next: i64 = number(id, "start").unwrap_or(if step < 0 { last } else { 1 });
        for child in tree.children(id).filter(|child| self.content.is_kept(*child)) {
            if tree.name(child) != "li" || self.notes.definition(child).is_some() {
                if tree.name(child) != TEXT || !tree.text(child).trim_ascii().is_empty() {
                    self.write_node(child);
                }
                continue;
            }
            let value = number(child, "value").unwrap_or(next);
            next = value.saturating_add(step);
            // Markdown has no numbers below zero, and none of ten digits.
            let shown = value.clamp(0, 999_999_999);
            let marker = if is_ordered { format!("{shown}. ") } else { "- ".to_owned() };
            let indent = " ".repeat(marker.len());
            self.write_nested((&marker, &indent), |writer| writer.write_blocks(child));
        }
        self.is_tight = was_tight;
    }

    fn write_definitions(&mut self, id: HtmlNodeId) {
        self.flush();
        let tree = self.tree;
        for child in tree.children(id).filter(|child| self.content.is_kept(*child)) {
            match tree.name(child) {
                "dt" => {
                    self.flush();
                    let term = self.inline_of(child).replace('\n', " ");
                    if !term.is_empty() {
                        self.write_lines(&term);
                    }
                }
                "dd" if self.notes.definition(child).is_none() => {
                    self.flush();
                    self.write_line_break();
                    let marker = if self.is_markdown() { ":   " } else { "    " };
                    self.write_nested((marker, "    "), |writer| writer.write_blocks(child));
                }
                "div" => self.write_definitions(child),
                _ => self.write_node(child),
            }
        }
        self.flush();
    }

    pub(super) fn write_code(&mut self, id: HtmlNodeId) {
        self.flush();
        let mut code = String::new();
        collect_code(self.tree, id, &mut code);
        let code = code.strip_prefix('\n').unwrap_or(&code).trim_end().replace('\r', "");
        if code.is_empty() {
            return;
        }
        if !self.is_markdown() {
            return self.write_lines(&code);
        }
        let fence = fence(&code, 3);
        let language = code_language(self.tree, id).unwrap_or_default();
        self.write_lines(&format!("{fence}{language}\n{code}\n{fence}"));
    }
}

/// Whether the items of a list have several blocks each, so that blank lines set them off.
fn is_loose(tree: &HtmlTree, list: HtmlNodeId) -> bool {
    tree.children(list).any(|item| {
        let blocks = tree.children(item).filter(|child| {
            let name = tree.name(*child);
            is_block(name) && !matches!(name, "ul" | "ol" | "menu" | "dir" | "div")
        });
        blocks.count() > 1
    })
}

/// Collects the characters of code as they are, without the numbers of its lines.
fn collect_code(tree: &HtmlTree, id: HtmlNodeId, code: &mut String) {
    for child in tree.children(id) {
        let is_gutter = |class: &str| {
            matches!(class, "lineno" | "linenos" | "linenumber" | "line-number" | "line-numbers")
                || class == "gutter"
        };
        match tree.name(child) {
            TEXT => code.push_str(tree.text(child)),
            "br" => code.push('\n'),
            _ if tree.has_class(child, is_gutter) => {}
            _ => collect_code(tree, child, code),
        }
    }
}

/// The language of a code block, as the classes of its elements or of those around it say.
fn code_language(tree: &HtmlTree, pre: HtmlNodeId) -> Option<String> {
    let code = tree.children(pre).find(|child| tree.name(*child) == "code");
    let around = tree.node(pre).parent;
    let ids = code.into_iter().chain([pre, around, tree.node(around).parent]);
    ids.filter(|id| *id != ROOT).find_map(|id| language_of_element(tree, id))
}

fn language_of_element(tree: &HtmlTree, id: HtmlNodeId) -> Option<String> {
    let named = tree.attribute(id, "data-lang").or_else(|| tree.attribute(id, "data-language"));
    let classes = tree.attribute(id, "class").unwrap_or("");
    let mut words = classes.split_ascii_whitespace().peekable();
    let mut by_class = None;
    while let Some(class) = words.next() {
        let found = ["language-", "lang-", "highlight-source-", "highlight-"]
            .iter()
            .find_map(|prefix| class.strip_prefix(prefix));
        by_class = match class {
            "sourceCode" | "brush:" | "src" => words.peek().copied(),
            _ => found.or_else(|| class.strip_prefix("src-")),
        };
        if by_class.is_some() {
            break;
        }
    }
    let language = named.or(by_class)?.trim_end_matches(';').to_ascii_lowercase();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"+-#._".contains(&byte);
    let is_language = !language.is_empty()
        && language.len() <= MAX_LANGUAGE_BYTES
        && language.bytes().all(is_name)
        && !matches!(language.as_str(), "default" | "none" | "notranslate");
    is_language.then_some(language)
}
