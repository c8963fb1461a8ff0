//! TOML, by events of `toml_parser`: they have spans, and errors do not end them.

use std::borrow::Cow;

use toml_parser::decoder::Encoding;
use toml_parser::parser::{Event, EventKind, RecursionGuard, parse_document};
use toml_parser::{ErrorSink, ParseError, Source, Span};

use super::lines;
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// How deep arrays and inline tables may be in each other.
const MAX_NESTING: u32 = 256;

/// Reports the keys and values of `text`.
pub(super) fn scan<'t>(text: &'t str, walk: &mut Walk<'t, '_>) -> Fit {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let mut errors = ErrorCount::default();
    let mut reader =
        TomlScanner { text, source, walk, keys: Vec::new(), opened: Vec::new(), table: 0 };
    let mut receive = |event: Event| reader.receive(&event);
    let mut guarded = RecursionGuard::new(&mut receive, MAX_NESTING);
    parse_document(&tokens, &mut guarded, &mut errors);
    if errors.0 == 0 { Fit::Whole } else { Fit::Broken }
}

/// Counts errors: what they say does not matter.
#[derive(Default)]
struct ErrorCount(usize);

impl ErrorSink for ErrorCount {
    fn report_error(&mut self, _error: ParseError) {
        self.0 += 1;
    }
}

struct TomlScanner<'t, 'w, 'j> {
    text: &'t str,
    source: Source<'t>,
    walk: &'w mut Walk<'t, 'j>,
    /// The keys read so far of a dotted key or a header.
    keys: Vec<Cow<'t, str>>,
    /// How many maps the dotted key of each value opened that is not closed yet.
    opened: Vec<usize>,
    /// How many maps the header of the table opened.
    table: usize,
}

impl<'t> TomlScanner<'t, '_, '_> {
    fn receive(&mut self, event: &Event) {
        let span = event.span();
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => self.close_table(),
            EventKind::StdTableClose | EventKind::ArrayTableClose => self.open_table(),
            EventKind::SimpleKey => {
                let key = self.decoded(span, event.encoding());
                self.keys.push(key);
            }
            EventKind::KeyValSep => self.name_value(),
            EventKind::InlineTableOpen => self.walk.open_map(),
            EventKind::ArrayOpen => self.walk.open_list(),
            EventKind::InlineTableClose | EventKind::ArrayClose => {
                self.walk.close();
                self.end_value();
            }
            EventKind::Scalar => self.scalar(span, event.encoding()),
            EventKind::Comment => {
                lines::scan_comment(self.text, span.start()..span.end(), self.walk);
            }
            _ => {}
        }
    }

    fn close_table(&mut self) {
        self.opened.clear();
        self.keys.clear();
        self.table = 0;
        self.walk.close_all();
        self.walk.open_map();
    }

    fn open_table(&mut self) {
        for key in std::mem::take(&mut self.keys) {
            self.walk.key(key);
            self.walk.open_map();
            self.table += 1;
        }
    }

    /// Names the value that comes next: every part of a dotted key but the last is a map.
    fn name_value(&mut self) {
        let mut keys = std::mem::take(&mut self.keys);
        let last = keys.pop();
        self.opened.push(keys.len());
        for key in keys {
            self.walk.key(key);
            self.walk.open_map();
        }
        if let Some(last) = last {
            self.walk.key(last);
        }
    }

    /// Closes what the dotted key of a value opened.
    fn end_value(&mut self) {
        if self.walk.is_in_list() {
            return;
        }
        for _ in 0..self.opened.pop().unwrap_or_default() {
            self.walk.close();
        }
    }

    fn scalar(&mut self, span: Span, encoding: Option<Encoding>) {
        let quotes = match encoding {
            None => 0,
            Some(Encoding::BasicString | Encoding::LiteralString) => 1,
            Some(Encoding::MlBasicString | Encoding::MlLiteralString) => 3,
        };
        let raw = self.text.get(span.start()..span.end()).unwrap_or_default();
        let is_escaped = raw.contains('\\')
            && matches!(encoding, Some(Encoding::BasicString | Encoding::MlBasicString));
        let quoting = match encoding {
            None => Quoting::AddQuotes,
            _ if is_escaped => Quoting::Escaped,
            _ => Quoting::Verbatim,
        };
        let marks = &raw[..quotes.min(raw.len())];
        // A string that does not end has no closing quotes.
        let is_closed = raw.len() >= 2 * quotes && raw.ends_with(marks);
        let end = if is_closed { span.end() - quotes } else { span.end() };
        let range = span.start() + marks.len()..end;
        let value = self.decoded(span, encoding);
        self.walk.scalar(ScalarToken { range, value, quoting });
        self.end_value();
    }

    fn decoded(&self, span: Span, encoding: Option<Encoding>) -> Cow<'t, str> {
        let Some(raw) = self.source.get(span) else { return Cow::Borrowed("") };
        let text = raw.as_str();
        let mut output = Cow::Borrowed("");
        match encoding {
            None => return Cow::Borrowed(text),
            Some(encoding) => {
                let raw = toml_parser::Raw::new_unchecked(text, Some(encoding), span);
                let _kind = raw.decode_scalar(&mut output, &mut ());
            }
        }
        output
    }
}
