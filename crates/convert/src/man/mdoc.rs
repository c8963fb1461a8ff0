//! Macros of `mdoc` that make blocks: headings, lists and displays.

mod inline;
mod words;

use super::input::RoffArg;
use super::machine::RoffMachine;
use super::macros::{ManTitle, joined, plain};
use super::page::ManMarker;
use super::table::MAX_ROWS;
use crate::rich_text::{RichBlock, RichCell, RichSpan, RichTable};

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
    reference: Option<Vec<(u8, String)>>,
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
    is_cell_open: bool,
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
        self.end_column_row();
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
            self.mdoc.lists.push(MdocList {
                kind,
                items: 0,
                rows: Vec::new(),
                is_cell_open: false,
            });
        }
    }

    fn list_item(&mut self, args: &[RoffArg]) {
        self.end_column_row();
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
        let last = cells.len() - 1;
        let mut row = Vec::with_capacity(cells.len());
        for (at, cell) in cells.iter().enumerate() {
            self.page.start_cell();
            self.mdoc_line(None, cell);
            // The last cell goes on in the lines that follow.
            if at < last {
                row.push(cell_of(self.page.end_cell()));
            }
        }
        if let Some(list) = self.mdoc.lists.last_mut() {
            list.rows.push(if list.rows.len() < MAX_ROWS { row } else { Vec::new() });
            list.is_cell_open = true;
        }
    }

    /// Ends the last cell of a row, if one is open.
    fn end_column_row(&mut self) {
        let Some(list) = self.mdoc.lists.last_mut().filter(|list| list.is_cell_open) else {
            return;
        };
        list.is_cell_open = false;
        if let Some(row) = list.rows.last_mut() {
            row.push(cell_of(self.page.end_cell()));
        }
    }

    fn end_list(&mut self) {
        self.end_column_row();
        let Some(list) = self.mdoc.lists.pop() else { return };
        self.page.end_paragraph();
        if list.rows.len() > MAX_ROWS {
            self.cut("the last rows of a long table are left out");
        }
        if !list.rows.is_empty() {
            self.page.push_block(RichBlock::Table(RichTable { rows: list.rows }));
        }
        self.page.outdent();
    }

    /// Ends a reference: its parts with commas between, authors first.
    fn end_reference(&mut self) {
        let Some(mut parts) = self.mdoc.reference.take() else { return };
        parts.sort_by_key(|(rank, _)| *rank);
        let authors = parts.iter().take_while(|(rank, _)| *rank == 0).count();
        let texts: Vec<_> = parts.iter().map(|(_, text)| text.as_str()).collect();
        let (authors, rest) = texts.split_at(authors);
        let authors = (!authors.is_empty()).then(|| authors.join(" and "));
        let texts: Vec<_> = authors.as_deref().into_iter().chain(rest.iter().copied()).collect();
        if !texts.is_empty() {
            self.page.line(&format!("{}.", texts.join(", ")));
        }
    }

    /// The synopsis sets each declaration on a line of its own.
    fn start_declaration(&mut self) {
        if self.mdoc.is_synopsis {
            self.page.line_break();
        }
    }
}

fn cell_of(spans: Vec<RichSpan>) -> RichCell {
    RichCell::single(vec![RichBlock::Paragraph(spans)])
}
