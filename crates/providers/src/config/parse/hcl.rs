//! Parser for HCL, of Terraform and Nomad: attributes, blocks and literal values.
//!
//! Nothing is evaluated: an expression that is no literal is a string as it is written. A block is
//! a table under its type and its labels, as in HCL's form in JSON; several of one name are a list.

use indexmap::IndexMap;

use super::super::tree::{ConfigNode, NodeValue, ScalarKind};
use super::{LineStarts, NodeBudget, ParseFailure};

type Entries = IndexMap<String, ConfigNode>;

struct HclReader<'t> {
    text: &'t str,
    at: usize,
    lines: LineStarts,
    budget: NodeBudget,
}

pub(super) fn parse(text: &str, budget: NodeBudget) -> Result<ConfigNode, ParseFailure> {
    let mut reader = HclReader { text, at: 0, lines: LineStarts::of(text), budget };
    let entries = reader.body(0)?;
    reader.budget.take(1, 1)?;
    Ok(ConfigNode::new(1, NodeValue::Table(entries)))
}

impl<'t> HclReader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        self.lines.line(self.at)
    }

    fn fault(&self) -> ParseFailure {
        ParseFailure::syntax("HCL", self.lines.position(self.at.min(self.text.len())))
    }

    /// Skips blanks and comments; ends of lines too, if `over_lines`.
    fn skip_blanks(&mut self, over_lines: bool) -> Result<(), ParseFailure> {
        loop {
            let blank = |c: char| c == ' ' || c == '\t' || c == '\r' || over_lines && c == '\n';
            self.at = self.text.len() - self.rest().trim_start_matches(blank).len();
            let rest = self.rest();
            if rest.starts_with('#') || rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").ok_or_else(|| self.fault())? + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// Takes `token` if it comes next.
    fn take(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    /// The attributes and blocks up to the end of the block or of the text.
    fn body(&mut self, depth: usize) -> Result<Entries, ParseFailure> {
        NodeBudget::check_depth(depth, self.line())?;
        let mut entries = Entries::new();
        loop {
            self.skip_blanks(true)?;
            let is_end = if depth == 0 { self.rest().is_empty() } else { self.take("}") };
            if is_end {
                return Ok(entries);
            }
            let line = self.line();
            let name = self.name()?;
            self.skip_blanks(false)?;
            if self.take("=") {
                self.skip_blanks(false)?;
                let value = self.value(depth + 1)?;
                self.skip_blanks(false)?;
                if !(self.rest().is_empty() || self.rest().starts_with(['\n', '}'])) {
                    return Err(self.fault());
                }
                entries.insert(name, value);
            } else {
                self.block(&mut entries, (name, line), depth + 1)?;
            }
        }
    }

    /// The labels and the body of a block.
    fn block(
        &mut self,
        entries: &mut Entries,
        (name, line): (String, usize),
        depth: usize,
    ) -> Result<(), ParseFailure> {
        let mut path = vec![name];
        while !self.take("{") {
            NodeBudget::check_depth(depth + path.len(), line)?;
            path.push(match self.rest().starts_with('"') {
                true => self.quoted()?,
                false => self.name()?,
            });
            self.skip_blanks(false)?;
        }
        self.budget.take(path.len(), line)?;
        let body = self.body(depth + path.len() - 1)?;
        add_block(entries, &path, ConfigNode::new(line, NodeValue::Table(body)));
        Ok(())
    }

    fn name(&mut self) -> Result<String, ParseFailure> {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let rest = self.rest();
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.fault());
        }
        self.at += length;
        Ok(rest[..length].to_owned())
    }

    fn value(&mut self, depth: usize) -> Result<ConfigNode, ParseFailure> {
        let line = self.line();
        NodeBudget::check_depth(depth, line)?;
        self.budget.take(1, line)?;
        let start = self.at;
        if self.rest().starts_with("<<") {
            return Ok(ConfigNode::text(line, self.heredoc()?));
        }
        let literal = match self.rest().as_bytes().first() {
            Some(b'[') => self.list(depth)?,
            Some(b'{') => self.object(depth)?,
            Some(b'"') => Some(ConfigNode::text(line, self.quoted()?)),
            _ => None,
        };
        if let Some(literal) = literal {
            let end = self.at;
            self.skip_blanks(false)?;
            if self.is_at_end_of_value() {
                return Ok(literal);
            }
            self.at = end;
        }
        // An operator follows, or it is no literal.
        self.skip_expression()?;
        let written = self.text[start..self.at].trim_end();
        Ok(match written {
            "" => return Err(self.fault()),
            "true" | "false" => {
                ConfigNode::scalar(line, ScalarKind::Bool(written == "true"), written)
            }
            "null" => ConfigNode::scalar(line, ScalarKind::Null, written),
            number if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                ConfigNode::number(line, number)
            }
            expression => ConfigNode::text(line, expression),
        })
    }

    fn is_at_end_of_value(&self) -> bool {
        self.rest().is_empty() || self.rest().starts_with(['\n', ',', ']', '}'])
    }

    /// The elements of a list; `None` if it is an expression over one (`[for …]`).
    fn list(&mut self, depth: usize) -> Result<Option<ConfigNode>, ParseFailure> {
        let (start, line) = (self.at, self.line());
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blanks(true)?;
            if self.take("]") {
                return Ok(Some(ConfigNode::new(line, NodeValue::List(items))));
            }
            if items.is_empty() && self.rest().starts_with("for ") {
                self.at = start;
                return Ok(None);
            }
            items.push(self.value(depth + 1)?);
            self.skip_blanks(true)?;
            if !self.take(",") && !self.rest().starts_with(']') {
                return Err(self.fault());
            }
        }
    }

    /// The members of an object; `None` if it is an expression over one (`{for …}`).
    fn object(&mut self, depth: usize) -> Result<Option<ConfigNode>, ParseFailure> {
        let (start, line) = (self.at, self.line());
        self.at += 1;
        let mut entries = Entries::new();
        loop {
            self.skip_blanks(true)?;
            if self.take("}") {
                return Ok(Some(ConfigNode::new(line, NodeValue::Table(entries))));
            }
            if entries.is_empty() && self.rest().starts_with("for ") {
                self.at = start;
                return Ok(None);
            }
            let key = match self.rest().as_bytes().first() {
                Some(b'"') => self.quoted()?,
                _ => {
                    let from = self.at;
                    let end = self.rest().find(['=', ':', '\n']).ok_or_else(|| self.fault())?;
                    self.at += end;
                    self.text[from..self.at].trim_end().to_owned()
                }
            };
            self.skip_blanks(false)?;
            if key.is_empty() || !(self.take("=") || self.take(":")) {
                return Err(self.fault());
            }
            self.skip_blanks(true)?;
            let value = self.value(depth + 1)?;
            entries.insert(key, value);
            self.skip_blanks(false)?;
            if !self.take(",") && !self.rest().starts_with(['\n', '}']) {
                return Err(self.fault());
            }
        }
    }

    /// A string in quotes, without its escapes; what it interpolates stays as it is written.
    fn quoted(&mut self) -> Result<String, ParseFailure> {
        let start = self.at + 1;
        self.skip_quoted()?;
        let raw = &self.text[start..self.at - 1];
        if !raw.contains('\\') {
            return Ok(raw.to_owned());
        }
        let mut text = String::with_capacity(raw.len());
        let mut letters = raw.chars();
        while let Some(letter) = letters.next() {
            match (letter, letter == '\\') {
                (_, true) => match letters.next() {
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some('t') => text.push('\t'),
                    Some(escaped @ ('"' | '\\')) => text.push(escaped),
                    Some(code @ ('u' | 'U')) => {
                        let digits = if code == 'u' { 4 } else { 8 };
                        let hex: String = letters.by_ref().take(digits).collect();
                        let number = u32::from_str_radix(&hex, 16).ok();
                        text.push(number.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                    }
                    Some(other) => text.extend(['\\', other]),
                    None => text.push('\\'),
                },
                (letter, false) => text.push(letter),
            }
        }
        Ok(text)
    }

    /// Skips a string in quotes, and the strings inside of what it interpolates.
    fn skip_quoted(&mut self) -> Result<(), ParseFailure> {
        // How many braces are open in each interpolation, the innermost last.
        let mut open: Vec<usize> = Vec::new();
        let mut in_string = true;
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        while let Some(byte) = bytes.get(at) {
            let next = bytes.get(at + 1);
            match (in_string, byte) {
                (true, b'\\') => at += 1,
                (true, b'"') if open.is_empty() => {
                    self.at = at + 1;
                    return Ok(());
                }
                (true, b'"') => in_string = false,
                (true, b'$' | b'%') if next == Some(&b'{') && bytes[at - 1] != *byte => {
                    open.push(0);
                    NodeBudget::check_depth(open.len(), self.line())?;
                    in_string = false;
                    at += 1;
                }
                (true, b'\n') if open.is_empty() => return Err(self.fault()),
                (false, b'"') => in_string = true,
                (false, b'{') => *open.last_mut().unwrap_or(&mut 0) += 1,
                (false, b'}') => match open.last_mut() {
                    Some(0) => {
                        open.pop();
                        in_string = true;
                    }
                    Some(braces) => *braces -= 1,
                    None => return Err(self.fault()),
                },
                _ => {}
            }
            at += 1;
        }
        Err(self.fault())
    }

    /// The lines of a heredoc: `<<END` or `<<-END`.
    fn heredoc(&mut self) -> Result<String, ParseFailure> {
        self.at += 2;
        let is_indented = self.take("-");
        let end = self.name()?;
        let rest = self.rest();
        let first = rest.find('\n').ok_or_else(|| self.fault())? + 1;
        let (mut lines, mut at) = (Vec::new(), first);
        while at < rest.len() {
            let length = rest[at..].find('\n').unwrap_or(rest.len() - at);
            let line = &rest[at..at + length];
            if line.trim() == end {
                self.at += at + length;
                let blank = |line: &&str| line.len() - line.trim_start().len();
                let is_text = |line: &&&str| !line.trim().is_empty();
                let indent = lines.iter().filter(is_text).map(blank).min();
                let cut = if is_indented { indent.unwrap_or(0) } else { 0 };
                let cut = |line: &&str| format!("{}\n", line.get(cut..).unwrap_or_default());
                return Ok(lines.iter().map(cut).collect());
            }
            lines.push(line);
            at += length + 1;
        }
        Err(self.fault())
    }

    /// Skips an expression up to the end of its line, or to what ends it in a list or an object.
    fn skip_expression(&mut self) -> Result<(), ParseFailure> {
        let mut open: Vec<u8> = Vec::new();
        while let Some(byte) = self.rest().as_bytes().first().copied() {
            match byte {
                b'\n' | b',' if open.is_empty() => break,
                b']' | b'}' | b')' if open.is_empty() => break,
                // A comment at the end of the line.
                b'#' if open.is_empty() => break,
                b'/' if open.is_empty() && self.rest().starts_with("//") => break,
                b'#' => self.skip_blanks(false)?,
                b'/' if self.rest().starts_with("//") || self.rest().starts_with("/*") => {
                    self.skip_blanks(false)?;
                }
                b'"' => self.skip_quoted()?,
                b'[' | b'{' | b'(' => {
                    open.push(byte);
                    self.at += 1;
                    NodeBudget::check_depth(open.len(), self.line())?;
                }
                b']' | b'}' | b')' => {
                    open.pop();
                    self.at += 1;
                }
                _ => self.at += self.rest().chars().next().map_or(1, char::len_utf8),
            }
        }
        if open.is_empty() { Ok(()) } else { Err(self.fault()) }
    }
}

/// Adds a block under its type and labels; several of one name become a list.
fn add_block(entries: &mut Entries, path: &[String], body: ConfigNode) {
    let [name, labels @ ..] = path else { return };
    let line = body.line as usize;
    if labels.is_empty() {
        match entries.get_mut(name).map(|node| &mut node.value) {
            None => drop(entries.insert(name.clone(), body)),
            Some(NodeValue::List(items)) => items.push(body),
            Some(_) => {
                if let Some(first) = entries.get_mut(name) {
                    let line = first.line as usize;
                    let old = std::mem::replace(first, ConfigNode::text(line, ""));
                    *first = ConfigNode::new(line, NodeValue::List(vec![old, body]));
                }
            }
        }
        return;
    }
    let outer = entries
        .entry(name.clone())
        .or_insert_with(|| ConfigNode::new(line, NodeValue::Table(Entries::new())));
    if let NodeValue::Table(inner) = &mut outer.value {
        add_block(inner, labels, body);
    }
}
