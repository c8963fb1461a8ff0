//! The machine of roff: runs the lines of a page, with its macros, strings, registers and
//! conditions.

use std::collections::HashMap;
use std::rc::Rc;

use super::expression::{RoffNames, condition, number};
use super::input::{RoffInput, split_args};
use super::macros::ManMacros;
use super::mdoc::MdocMacros;
use super::page::ManPage;
use super::table::RoffTable;

/// The longest string.
const MAX_STRING: usize = 1 << 16;

/// How many `.ie` may wait for their `.el`.
const MAX_BRANCHES: usize = 256;

/// Strings that the macros define.
const STRINGS: [(&str, &str); 18] = [
    ("R", "®"),
    ("Tm", "™"),
    ("lq", "“"),
    ("rq", "”"),
    ("Lq", "“"),
    ("Rq", "”"),
    ("q", "\\(dq"),
    ("Ba", "|"),
    ("Am", "&"),
    ("Lt", "<"),
    ("Gt", ">"),
    ("Le", "≤"),
    ("Ge", "≥"),
    ("Ne", "≠"),
    ("Pm", "±"),
    ("Pi", "π"),
    ("If", "∞"),
    ("Na", "NaN"),
];

/// Macros that a page cannot define anew: without them it has no structure.
const PROTECTED: [&str; 13] =
    ["TH", "SH", "SS", "TP", "IP", "PP", "LP", "P", "HP", "RS", "RE", "TS", "TE"];

/// A page that is being run.
pub(super) struct RoffMachine<'t> {
    pub(super) input: RoffInput<'t>,
    pub(super) page: ManPage,
    pub(super) man: ManMacros,
    pub(super) mdoc: MdocMacros,
    pub(super) table: Option<RoffTable>,
    pub(super) losses: Vec<String>,
    /// Whether a limit left out text.
    pub(super) is_cut: bool,
    pub(super) strings: HashMap<String, String>,
    macros: HashMap<String, Rc<Vec<String>>>,
    pub(super) registers: HashMap<String, i64>,
    branches: Vec<bool>,
    pub(super) expanded: usize,
}

impl RoffNames for RoffMachine<'_> {
    fn has_macro(&self, name: &str) -> bool {
        self.macros.contains_key(name) || self.strings.contains_key(name)
    }

    fn has_register(&self, name: &str) -> bool {
        name == ".g" || self.registers.contains_key(name)
    }
}

impl<'t> RoffMachine<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let strings = STRINGS.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Self {
            input: RoffInput::new(text),
            page: ManPage::default(),
            man: ManMacros::default(),
            mdoc: MdocMacros::default(),
            table: None,
            losses: Vec::new(),
            is_cut: false,
            strings: strings.collect(),
            macros: HashMap::new(),
            registers: HashMap::new(),
            branches: Vec::new(),
            expanded: 0,
        }
    }

    /// Runs all lines.
    pub(super) fn run(&mut self) {
        while let Some(raw) = self.input.next_line() {
            let mut line = String::with_capacity(raw.len());
            self.interpolate(&raw, &mut line, 0);
            self.execute(&line);
        }
        self.end_table();
        self.page.end_paragraph();
    }

    /// Runs a line: a condition leads to what stands behind it.
    fn execute(&mut self, line: &str) {
        let mut line = line;
        loop {
            let is_format = self.table.as_ref().is_some_and(RoffTable::is_format);
            let request = split_request(line).filter(|(name, _)| !is_format || !name.is_empty());
            let Some((name, rest)) = request else { return self.text_line(line) };
            let (is_true, body) = match name {
                "if" | "ie" => {
                    let (is_true, body) = condition(rest, self);
                    if name == "ie" && self.branches.len() < MAX_BRANCHES {
                        self.branches.push(is_true);
                    }
                    (is_true, body)
                }
                "el" => (!self.branches.pop().unwrap_or(true), rest),
                "do" | "nop" => (true, rest),
                "while" => {
                    self.lose("loops of the page are left out");
                    (false, condition(rest, self).1)
                }
                name => return self.request(name, rest),
            };
            let body = body.trim_start_matches([' ', '\t']);
            if !is_true {
                return self.skip_branch(body);
            }
            let inner = body.strip_prefix("\\{").unwrap_or(body).trim_start_matches([' ', '\t']);
            if inner.is_empty() || inner == "\\" || inner == "\\}" {
                return;
            }
            line = inner;
        }
    }

    /// Leaves out what stands behind a condition that is false.
    fn skip_branch(&mut self, body: &str) {
        let mut open = braces(body);
        while open > 0 {
            let Some(line) = self.input.next_line() else { return };
            open += braces(&line);
        }
    }

    fn text_line(&mut self, line: &str) {
        if let Some(table) = &self.table
            && !table.is_in_block()
        {
            return self.table_line(line);
        }
        if self.table.is_some() && line.starts_with("T}") {
            return self.table_line(line);
        }
        if line.trim().is_empty() {
            return self.page.space();
        }
        self.man_text(line);
    }

    /// Runs a request or a macro.
    fn request(&mut self, name: &str, rest: &str) {
        // A comment, or the end of a branch.
        if name.is_empty() {
            return;
        }
        if self.table.as_ref().is_some_and(|table| !table.is_in_block())
            && !self.table_request(name)
        {
            return;
        }
        let is_free = !PROTECTED.contains(&name);
        if let Some(body) = self.macros.get(name).filter(|_| is_free) {
            let body = Rc::clone(body);
            let args = split_args(rest).into_iter().map(|arg| arg.text).collect();
            if !self.input.call(&body, args) {
                self.cut("macros that call each other without end are left out");
            }
        } else if !self.define(name, rest) && !self.typeset(name, rest) {
            self.mdoc.is_mdoc |= matches!(name, "Dd" | "Dt");
            let args = split_args(rest);
            if !(self.mdoc.is_mdoc && self.mdoc_macro(name, &args)) {
                self.man_macro(name, &args);
            }
        }
    }

    /// Requests that define names; false if `name` is none.
    fn define(&mut self, name: &str, rest: &str) -> bool {
        let mut words = rest.split([' ', '\t']).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or("").to_owned();
        match name {
            "de" | "de1" | "dei" | "dei1" | "am" | "am1" | "ig" => {
                let end = if name == "ig" { Some(first.as_str()) } else { words.next() };
                let end = end.filter(|end| !end.is_empty()).unwrap_or(".").to_owned();
                let body = self.body(&end);
                if name.starts_with("am") {
                    let lines = self.macros.entry(first).or_default();
                    // A macro that runs is copied before it grows.
                    if Rc::strong_count(lines) > 1 {
                        self.input.charge(lines.len());
                    }
                    Rc::make_mut(lines).extend(body);
                } else if name != "ig" {
                    self.macros.insert(first, Rc::new(body));
                }
            }
            "ds" | "ds1" | "as" | "as1" => {
                let text = rest.strip_prefix(first.as_str()).unwrap_or("");
                let text = text.trim_start_matches([' ', '\t']);
                let text = text.strip_prefix('"').unwrap_or(text).replace("\\\\", "\\");
                let string = self.strings.entry(first).or_default();
                if name.starts_with("ds") {
                    string.clear();
                }
                if string.len() + text.len() <= MAX_STRING {
                    string.push_str(&text);
                } else {
                    self.cut("long strings of the page are left out");
                }
            }
            "nr" => {
                let value = words.next().unwrap_or("0");
                let before = self.registers.get(&first).copied().unwrap_or(0);
                let (number, _) = number(value);
                let is_step = value.starts_with(['+', '-']);
                let value = if is_step { before.saturating_add(number) } else { number };
                self.registers.insert(first, value);
            }
            "rm" => {
                self.strings.remove(&first);
                self.macros.remove(&first);
            }
            "rr" => drop(self.registers.remove(&first)),
            "rn" | "als" => {
                let other = words.next().unwrap_or("").to_owned();
                let (from, to) = if name == "rn" { (first, other) } else { (other, first) };
                if let Some(body) = self.macros.get(&from).cloned() {
                    self.macros.insert(to, body);
                } else if let Some(string) = self.strings.get(&from).cloned() {
                    self.strings.insert(to, string);
                }
            }
            _ => return false,
        }
        true
    }

    /// The lines of a definition, up to `.` and `end`.
    fn body(&mut self, end: &str) -> Vec<String> {
        let mut body = Vec::new();
        while let Some(line) = self.input.next_line() {
            let inner = line.strip_prefix(['.', '\'']).map(str::trim_start);
            if inner.is_some_and(|inner| inner.trim_end() == end) {
                break;
            }
            body.push(line.replace("\\\\", "\\"));
        }
        body
    }

    /// Requests that set text; false if `name` is none.
    fn typeset(&mut self, name: &str, rest: &str) -> bool {
        let first = rest.split_whitespace().next().unwrap_or("");
        match name {
            "br" | "ti" | "in" | "bp" | "ce" => self.page.line_break(),
            "sp" if first.starts_with('-') => self.page.line_break(),
            "sp" => self.page.space(),
            "nf" => self.page.fill(false),
            "fi" => self.page.fill(true),
            "ft" => self.page.set_font(first),
            "so" => self.include(first),
            "shift" => self.input.shift(first.parse().unwrap_or(1)),
            "return" => self.input.end_call(),
            "TS" => self.start_table(),
            "PS" | "GS" | "G1" => {
                self.body(match name {
                    "PS" => "PE",
                    "GS" => "GE",
                    _ => "G2",
                });
                self.lose("drawings are left out");
            }
            "EQ" => self.page.fill(false),
            "EN" => self.page.fill(true),
            _ => return false,
        }
        true
    }

    /// Says what a limit leaves out, once.
    pub(super) fn cut(&mut self, sentence: &str) {
        self.lose(sentence);
        self.is_cut = true;
    }

    /// Says what the page does not show, once.
    pub(super) fn lose(&mut self, sentence: &str) {
        if !self.losses.iter().any(|loss| loss == sentence) {
            self.losses.push(sentence.to_owned());
        }
    }
}

/// The name of the request on a line and what stands behind it; `None` if the line is text.
fn split_request(line: &str) -> Option<(&str, &str)> {
    let inner = line.strip_prefix(['.', '\''])?.trim_start_matches([' ', '\t']);
    let end = inner.find([' ', '\t', '\\']).unwrap_or(inner.len());
    Some((&inner[..end], inner[end..].trim_start_matches([' ', '\t'])))
}

/// How many more braces a text opens than it closes.
fn braces(text: &str) -> i64 {
    let mut open = 0;
    let mut letters = text.bytes();
    while let Some(byte) = letters.next() {
        if byte == b'\\' {
            match letters.next() {
                Some(b'{') => open += 1,
                Some(b'}') => open -= 1,
                _ => {}
            }
        }
    }
    open
}
