//! Macros of `mdoc` that make blocks: headings, lists and displays.

mod inline;
mod words;

use super::input::RoffArg;
use super::machine::RoffMachine;
use super::macros::{ManTitle, joined, plain};
use super::page::ManMarker;
use crate::rich_text::{RichBlock, RichCell, RichTable};

/// How many lists and displays may be open in each other.
const MAX_OPEN: usize = 1_000;

/// The state of the macros of `mdoc`.
#[derive(Debug, Default)]
pub(super) struct MdocMacros {
    pub(super) is_mdoc: bool,
    /// What the page describes.
    name: Option<String>,
    is_synopsis: bool,
    /// Whether no spaces are set between words.
    is_tight: bool,
    lists: Vec<MdocList>,
    displays: Vec<bool>,
    /// The parts of the reference that is open.
    reference: Option<Vec<String>>,
    /// The arguments of the function that is open.
    arguments: Option<usize>,
    /// Whether the type of a function was set last.
    is_after_type: bool,
    /// Whether the tag of an item goes on in the next lines.
    is_tag_open: bool,
}

/// An open list.
#[derive(Debug)]
struct MdocList {
    kind: MdocListKind,
    items: u32,
    /// The rows of a list of columns.
    rows: Vec<Vec<RichCell>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MdocListKind {
    Tag,
    Bullet,
    Number,
    Plain,
    Column,
}

impl RoffMachine<'_> {
    /// Runs a macro; false if it is none of `mdoc`.
    pub(super) fn mdoc_macro(&mut self, name: &str, args: &[RoffArg]) -> bool {
        let first = args.first().map_or("", |arg| arg.text.as_str());
        match name {
            "Dd" => {
                let title = self.man.title.get_or_insert_default();
                title.footer = vec![joined(args).replace("$Mdocdate:", "").replace('$', "")];
            }
            "Dt" => {
                let text = |at: usize| args.get(at).map(|arg| plain(&arg.text)).unwrap_or_default();
                let footer = self.man.title.take().map(|title| title.footer).unwrap_or_default();
                self.man.title = Some(ManTitle { name: text(0), section: text(1), footer });
            }
            "Os" | "Bk" | "Ek" | "Bf" | "Ef" | "Tg" | "Db" | "Hf" => {}
            "Sh" | "Ss" => {
                self.close_all();
                self.page.start_heading(if name == "Sh" { 2 } else { 3 });
                self.mdoc_line(None, args);
                self.page.end_paragraph();
                self.mdoc.is_synopsis = matches!(first, "SYNOPSIS" | "書式" | "概要" | "形式");
            }
            "Pp" | "Lp" => {
                let is_inside = !self.mdoc.lists.is_empty() || !self.mdoc.displays.is_empty();
                if is_inside { self.page.space() } else { self.page.start_paragraph() }
            }
            "Bl" => self.start_list(args),
            "It" => self.list_item(args),
            "El" => self.end_list(),
            "Bd" => {
                let is_literal = args
                    .iter()
                    .any(|arg| matches!(arg.text.as_str(), "-literal" | "-unfilled" | "-centered"));
                if self.mdoc.displays.len() < MAX_OPEN {
                    self.page.end_paragraph();
                    self.mdoc.displays.push(self.page.is_filled);
                    self.page.fill(!is_literal && self.page.is_filled);
                }
            }
            "Ed" => {
                let is_filled = self.mdoc.displays.pop().unwrap_or(true);
                self.page.fill(is_filled);
            }
            "D1" | "Dl" => {
                let is_filled = self.page.is_filled;
                self.page.fill(false);
                self.mdoc_line(None, args);
                self.page.fill(is_filled);
            }
            name => return self.mdoc_inline(name, args),
        }
        true
    }

    /// Closes lists that a heading ends.
    fn close_all(&mut self) {
        self.end_table();
        while !self.mdoc.lists.is_empty() {
            self.end_list();
        }
        self.mdoc.displays.clear();
        (self.mdoc.arguments, self.mdoc.is_tag_open) = (None, false);
        self.end_reference();
    }

    fn start_list(&mut self, args: &[RoffArg]) {
        let kind = args.iter().find_map(|arg| match arg.text.as_str() {
            "-bullet" | "-dash" | "-hyphen" => Some(MdocListKind::Bullet),
            "-enum" => Some(MdocListKind::Number),
            "-item" => Some(MdocListKind::Plain),
            "-column" => Some(MdocListKind::Column),
            "-tag" | "-hang" | "-ohang" | "-inset" | "-diag" => Some(MdocListKind::Tag),
            _ => None,
        });
        if self.mdoc.lists.len() < MAX_OPEN {
            self.page.end_paragraph();
            self.page.indent();
            let kind = kind.unwrap_or(MdocListKind::Plain);
            self.mdoc.lists.push(MdocList { kind, items: 0, rows: Vec::new() });
        }
    }

    fn list_item(&mut self, args: &[RoffArg]) {
        self.page.end_paragraph();
        self.mdoc.is_tag_open = false;
        let Some(list) = self.mdoc.lists.last_mut() else { return };
        list.items = list.items.saturating_add(1);
        let number = list.items;
        match list.kind {
            MdocListKind::Tag => {
                self.page.start_tag();
                self.mdoc.is_tag_open = true;
                // The line must not end the tag: it may go on to the end of `Xo`.
                self.page.is_tag_held = true;
                self.mdoc_line(None, args);
                if !args.iter().any(|arg| arg.text == "Xo" && !arg.is_quoted) {
                    self.end_mdoc_tag();
                }
            }
            MdocListKind::Bullet => {
                self.page.start_item(ManMarker::Bullet);
                self.mdoc_line(None, args);
            }
            MdocListKind::Number => {
                self.page.start_item(ManMarker::Number(number));
                self.mdoc_line(None, args);
            }
            MdocListKind::Plain => self.mdoc_line(None, args),
            MdocListKind::Column => self.column_row(args),
        }
    }

    /// Ends the tag of an item.
    fn end_mdoc_tag(&mut self) {
        if std::mem::take(&mut self.mdoc.is_tag_open) {
            self.page.is_tag_held = false;
            self.page.end_tag();
        }
    }

    /// A row of a list of columns, whose cells `Ta` and tabs divide.
    fn column_row(&mut self, args: &[RoffArg]) {
        let mut cells: Vec<Vec<RoffArg>> = vec![Vec::new()];
        for arg in args {
            if arg.text == "Ta" && !arg.is_quoted {
                cells.push(Vec::new());
                continue;
            }
            for (at, part) in arg.text.split('\t').enumerate() {
                if at > 0 {
                    cells.push(Vec::new());
                }
                if let Some(cell) = cells.last_mut().filter(|_| !part.is_empty()) {
                    cell.push(RoffArg { text: part.to_owned(), is_quoted: arg.is_quoted });
                }
            }
        }
        let mut row = Vec::with_capacity(cells.len());
        for cell in &cells {
            self.page.start_cell();
            self.mdoc_line(None, cell);
            row.push(RichCell::single(vec![RichBlock::Paragraph(self.page.end_cell())]));
        }
        if let Some(list) = self.mdoc.lists.last_mut() {
            list.rows.push(row);
        }
    }

    fn end_list(&mut self) {
        let Some(list) = self.mdoc.lists.pop() else { return };
        self.page.end_paragraph();
        if !list.rows.is_empty() {
            self.page.push_block(RichBlock::Table(RichTable { rows: list.rows }));
        }
        self.page.outdent();
    }

    /// Ends a reference: its parts with commas between.
    fn end_reference(&mut self) {
        let Some(parts) = self.mdoc.reference.take() else { return };
        if !parts.is_empty() {
            self.page.start_word();
            self.page.text(&format!("{}.", parts.join(", ")));
            self.page.end_line();
        }
    }

    /// The synopsis sets each declaration on a line of its own.
    fn start_declaration(&mut self) {
        if self.mdoc.is_synopsis {
            self.page.line_break();
        }
    }
}
