//! Inline content of a page: text, emphasis, links, images, ruby.

use super::elements::is_block;
use super::escape::{fence, link_target};
use super::tree::{HtmlNodeId, HtmlTree, TEXT};
use super::writer::{HtmlWriter, InlineMarks};
use crate::markdown::push_escaped;

impl HtmlWriter<'_> {
    /// The inline content of an element; `\n` stands for line breaks and for the edges of blocks.
    pub(super) fn inline_of(&mut self, id: HtmlNodeId) -> String {
        let outer = std::mem::take(&mut self.line);
        self.write_inline_children(id);
        let text = std::mem::replace(&mut self.line, outer);
        text.trim().to_owned()
    }

    fn write_inline_children(&mut self, id: HtmlNodeId) {
        let tree = self.tree;
        for child in tree.children(id).filter(|child| self.content.is_kept(*child)) {
            self.write_inline(child);
        }
    }

    /// Appends an element to the inline content.
    pub(super) fn write_inline(&mut self, id: HtmlNodeId) {
        let name = self.tree.name(id);
        let marks = self.marks;
        match name {
            TEXT => self.push_text(self.tree.text(id)),
            "br" => self.line.push('\n'),
            "b" | "strong" if !marks.strong => {
                self.write_marked(id, "**", InlineMarks { strong: true, ..marks });
            }
            "em" | "i" if !marks.emphasis => {
                self.write_marked(id, "*", InlineMarks { emphasis: true, ..marks });
            }
            "del" | "s" | "strike" if !marks.deleted => {
                self.write_marked(id, "~~", InlineMarks { deleted: true, ..marks });
            }
            "code" | "kbd" | "samp" | "tt" if !marks.code => self.write_code_span(id),
            "a" => self.write_link(id),
            "img" => self.write_image(id),
            "sup" | "sub" => self.write_raised(id),
            "ruby" => self.write_ruby(id),
            "q" => {
                self.line.push('“');
                self.write_inline_children(id);
                self.line.push('”');
            }
            "input" => self.write_check_box(id),
            "math" => self.write_math(id),
            "td" | "th" | "dt" | "option" | "label" => {
                self.write_inline_children(id);
                self.push_text(" ");
            }
            _ if is_block(name) => {
                self.line.push('\n');
                self.write_inline_children(id);
                self.line.push('\n');
            }
            _ => self.write_inline_children(id),
        }
    }

    /// Appends running text: white space is one space, and none between Japanese lines.
    pub(super) fn push_text(&mut self, text: &str) {
        let is_space = |letter: char| letter.is_ascii_whitespace() || letter == '\u{a0}';
        let mut rest = text;
        while !rest.is_empty() {
            let word_start = rest.find(|letter| !is_space(letter)).unwrap_or(rest.len());
            let (space, words) = rest.split_at(word_start);
            let needs_space = !space.is_empty() && !self.line.is_empty();
            if needs_space && !self.line.ends_with([' ', '\n']) && !self.joins_lines(space, words) {
                self.line.push(' ');
            }
            let word_end = words.find(is_space).unwrap_or(words.len());
            self.push_word(&words[..word_end]);
            rest = &words[word_end..];
        }
    }

    /// Whether a line of Japanese goes on in the next line, with no space between.
    fn joins_lines(&self, space: &str, after: &str) -> bool {
        let is_wide = |letter: Option<char>| letter.is_some_and(is_wide);
        space.contains('\n')
            && is_wide(self.line.chars().next_back())
            && is_wide(after.chars().next())
    }

    fn push_word(&mut self, word: &str) {
        let is_invisible = |letter: char| matches!(letter, '\u{ad}' | '\u{200b}' | '\u{feff}');
        let cleaned: String;
        let word = if word.contains(is_invisible) {
            cleaned = word.replace(is_invisible, "");
            &cleaned
        } else {
            word
        };
        if self.marks.code || !self.is_markdown() {
            self.line.push_str(word);
        } else {
            push_escaped(&mut self.line, word, self.marks.link || self.block_link.is_some());
        }
    }

    /// Appends what was collected apart, between marks; white space at its ends stays outside.
    fn push_wrapped(&mut self, inner: &str, before: &str, after: &str) {
        let trimmed = inner.trim();
        let (leading, _) = inner.split_at(inner.len() - inner.trim_start().len());
        self.push_edge(leading);
        if !trimmed.is_empty() {
            self.line.push_str(before);
            self.line.push_str(trimmed);
            self.line.push_str(after);
            self.push_edge(&inner[inner.trim_end().len()..]);
        }
    }

    /// Appends the white space at the end of what was collected apart.
    fn push_edge(&mut self, space: &str) {
        if space.contains('\n') {
            self.line.push_str(&space.replace(' ', ""));
        } else if !space.is_empty() {
            self.push_text(" ");
        }
    }

    /// The inline content of an element, with the spaces at its ends.
    fn collect(&mut self, id: HtmlNodeId, marks: InlineMarks) -> String {
        let outer = std::mem::take(&mut self.line);
        let outer_marks = std::mem::replace(&mut self.marks, marks);
        // A mark that is no character keeps the space at the beginning.
        self.line.push('\u{1}');
        self.write_inline_children(id);
        self.marks = outer_marks;
        let mut inner = std::mem::replace(&mut self.line, outer);
        inner.remove(0);
        inner
    }

    fn write_marked(&mut self, id: HtmlNodeId, mark: &str, marks: InlineMarks) {
        let is_marked = self.is_markdown() && !self.marks.code;
        let inner = self.collect(id, marks);
        let mark = if is_marked { mark } else { "" };
        self.push_wrapped(&inner, mark, mark);
    }

    fn write_code_span(&mut self, id: HtmlNodeId) {
        let code = self.collect(id, InlineMarks { code: true, ..self.marks }).replace('\n', " ");
        if !self.is_markdown() {
            return self.push_wrapped(&code, "", "");
        }
        let mark = fence(&code, 1);
        let trimmed = code.trim();
        let pad = if trimmed.starts_with('`') || trimmed.ends_with('`') { " " } else { "" };
        let (mut before, mut after) = (format!("{mark}{pad}"), format!("{pad}{mark}"));
        if let Some(target) = self.link_over_code(id, trimmed) {
            before.insert(0, '[');
            after.push_str(&format!("]({target})"));
        }
        self.push_wrapped(&code, &before, &after);
    }

    /// The target of the link that is all of a code span.
    fn link_over_code(&self, id: HtmlNodeId, code: &str) -> Option<String> {
        let link = self.tree.children(id).find(|child| self.tree.name(*child) == "a")?;
        let is_all = !self.marks.link && self.tree.raw_text(link).trim() == code;
        is_all.then(|| link_of(self.tree, link).map(link_target)).flatten()
    }

    fn write_link(&mut self, id: HtmlNodeId) {
        if let Some(label) = self.notes.reference(id) {
            let mark =
                if self.is_markdown() { format!("[^{label}]") } else { format!("[{label}]") };
            return self.line.push_str(&mark);
        }
        if self.notes.is_back_link(id) || is_heading_anchor(self.tree, id) {
            return;
        }
        let target = link_of(self.tree, id).filter(|_| {
            self.is_markdown() && !self.marks.code && !self.marks.link && self.block_link.is_none()
        });
        let Some(target) = target else { return self.write_inline_children(id) };
        let inner = self.collect(id, InlineMarks { link: true, ..self.marks }).replace('\n', " ");
        if inner.trim() == target && is_absolute(target) && !target.contains(['<', '>', ' ', '\\'])
        {
            return self.push_wrapped(&inner, "<", ">");
        }
        let after = format!("]({})", link_target(target));
        self.push_wrapped(&inner, "[", &after);
    }

    fn write_image(&mut self, id: HtmlNodeId) {
        let side = |name: &str| self.tree.attribute(id, name).map(str::trim);
        let is_pixel = |value| matches!(value, Some("0" | "1"));
        if is_pixel(side("width")) && is_pixel(side("height")) {
            return;
        }
        let is_shown =
            |source: &&str| !source.is_empty() && scheme_of(source) != Some("data".into());
        let source = side("src").filter(is_shown).or_else(|| side("data-src").filter(is_shown));
        let source = source.filter(|source| is_harmless(source)).map(link_target);
        let alt = side("alt").unwrap_or("").to_owned();
        let (outer, outer_marks) = (std::mem::take(&mut self.line), self.marks);
        self.marks.link = true;
        self.push_text(&alt);
        self.marks = outer_marks;
        let alt = std::mem::replace(&mut self.line, outer);
        match source {
            Some(source) if self.is_markdown() && !self.marks.code => {
                self.line.push_str(&format!("![{}]({source})", alt.trim()));
            }
            _ => self.line.push_str(alt.trim()),
        }
    }

    fn write_raised(&mut self, id: HtmlNodeId) {
        let name = self.tree.name(id);
        let inner = self.collect(id, self.marks);
        let text = inner.trim();
        let is_ordinal = matches!(text, "st" | "nd" | "rd" | "th" | "er" | "TM" | "SM" | "™" | "®");
        let is_note = text.starts_with('[') || self.marks.code || !self.is_markdown();
        if is_ordinal || is_note {
            return self.push_wrapped(&inner, "", "");
        }
        self.push_wrapped(&inner, &format!("<{name}>"), &format!("</{name}>"));
    }

    fn write_ruby(&mut self, id: HtmlNodeId) {
        let tree = self.tree;
        let mut reading = String::new();
        for child in tree.children(id).filter(|child| self.content.is_kept(*child)) {
            match tree.name(child) {
                "rt" | "rtc" => reading.push_str(&self.inline_of(child)),
                "rp" => {}
                _ => self.write_inline(child),
            }
        }
        if !reading.is_empty() {
            let kept = self.line.trim_end_matches([' ', '\n']).len();
            self.line.truncate(kept);
            self.line.push_str(&format!("({reading})"));
        }
    }

    fn write_check_box(&mut self, id: HtmlNodeId) {
        if self.tree.attribute(id, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
        {
            let is_checked = self.tree.attribute(id, "checked").is_some();
            self.line.push_str(if is_checked { "[x] " } else { "[ ] " });
        }
    }

    /// Appends a formula: as TeX, if the page has it.
    fn write_math(&mut self, id: HtmlNodeId) {
        match find_tex(self.tree, id) {
            Some(tex) if self.is_markdown() => self.line.push_str(&format!("${}$", tex.trim())),
            Some(tex) => self.line.push_str(tex.trim()),
            None => self.write_inline_children(id),
        }
    }
}

fn find_tex(tree: &HtmlTree, id: HtmlNodeId) -> Option<String> {
    tree.children(id).find_map(|child| {
        let is_tex = tree.name(child) == "annotation"
            && tree.attribute(child, "encoding").is_some_and(|kind| kind.contains("tex"));
        if is_tex { Some(tree.raw_text(child).replace('\n', " ")) } else { find_tex(tree, child) }
    })
}

/// Whether a link only says where its heading is.
fn is_heading_anchor(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    let is_anchor = |class: &str| matches!(class, "headerlink" | "anchorjs-link" | "hash-link");
    let is_local = tree.attribute(id, "href").is_some_and(|target| target.starts_with('#'));
    tree.has_class(id, is_anchor)
        || (is_local && matches!(tree.raw_text(id).trim(), "¶" | "#" | "§" | "🔗"))
}

/// The target of a link, if a reader may follow it.
pub(super) fn link_of(tree: &HtmlTree, id: HtmlNodeId) -> Option<&str> {
    let target = tree.attribute(id, "href")?.trim();
    (!target.is_empty() && is_harmless(target)).then_some(target)
}

/// The scheme of a URL, in lower case. Browsers ignore white space and control characters in it.
pub(super) fn scheme_of(url: &str) -> Option<String> {
    let url = url.chars().filter(|letter| !letter.is_control() && !letter.is_whitespace());
    let mut scheme = String::new();
    for letter in url {
        match letter {
            ':' => return Some(scheme),
            '/' | '?' | '#' => return None,
            _ => scheme.push(letter.to_ascii_lowercase()),
        }
    }
    None
}

fn is_harmless(url: &str) -> bool {
    let scheme = scheme_of(url);
    !matches!(scheme.as_deref(), Some("javascript" | "vbscript" | "data" | "blob" | "livescript"))
}

fn is_absolute(url: &str) -> bool {
    matches!(scheme_of(url).as_deref(), Some("http" | "https"))
}

/// Whether the letter is of a script that is written without spaces, or its punctuation.
fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        || matches!(letter, '\u{ff00}'..='\u{ff9f}')
}
