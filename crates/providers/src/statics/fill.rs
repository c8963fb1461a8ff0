//! Text templates with format-aware escaping (JSON, HTML and XML, plain text).
//!
//! A value cannot break out of its place: in JSON it stays a string or a scalar, in markup it
//! stays text.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A text with placeholders, parsed once.
#[derive(Debug)]
pub(super) struct Text {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Literal(String),
    Value { name: String, writing: Writing },
}

/// How a value is escaped at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    AsIs,
    InJsonString,
    AsJsonValue,
    Markup,
}

/// The syntaxes with their own escaping rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Json,
    Markup,
    Plain,
}

impl Text {
    /// Parses `text`. `{name}` is a placeholder if `name` is in `variables`; other braces are
    /// literal.
    pub(super) fn new(text: &str, variables: &[&str], mime: Option<&str>) -> Self {
        let syntax = Syntax::of(mime);
        let mut pieces = Vec::new();
        let mut quote = JsonQuote::default();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let name = variables.iter().copied().find(|name| starts_with_hole(rest, name));
            let Some(name) = name else {
                quote.pass(first);
                literal.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            };
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            let writing = syntax.writing(quote.is_open);
            pieces.push(Piece::Value { name: name.to_owned(), writing });
            rest = &rest[name.len() + 2..];
        }
        pieces.push(Piece::Literal(literal));
        Self { pieces }
    }

    /// Fills in `values`. A variable without a value becomes the empty string.
    pub(super) fn filled(&self, values: &BTreeMap<String, String>) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => out.push_str(literal),
                Piece::Value { name, writing } => {
                    let value = values.get(name).map_or("", String::as_str);
                    out.push_str(&writing.write(value));
                }
            }
        }
        out
    }
}

fn starts_with_hole(text: &str, name: &str) -> bool {
    let inside = text.strip_prefix('{').and_then(|text| text.strip_prefix(name));
    inside.is_some_and(|rest| rest.starts_with('}'))
}

/// Tracks whether a position in a JSON text is inside a string.
#[derive(Default)]
struct JsonQuote {
    is_open: bool,
    after_backslash: bool,
}

impl JsonQuote {
    fn pass(&mut self, character: char) {
        let escaped = std::mem::take(&mut self.after_backslash);
        match character {
            '"' if !escaped => self.is_open = !self.is_open,
            '\\' => self.after_backslash = self.is_open && !escaped,
            _ => {}
        }
    }
}

impl Syntax {
    fn of(mime: Option<&str>) -> Self {
        let mime = mime.unwrap_or_default().to_ascii_lowercase();
        let essence = mime.split(';').next().unwrap_or_default().trim();
        match essence {
            "application/json" | "text/json" => Self::Json,
            "text/html" | "text/xml" | "application/xml" => Self::Markup,
            _ if essence.ends_with("+json") => Self::Json,
            _ if essence.ends_with("+xml") => Self::Markup,
            _ => Self::Plain,
        }
    }

    fn writing(self, in_string: bool) -> Writing {
        match self {
            Self::Json if in_string => Writing::InJsonString,
            Self::Json => Writing::AsJsonValue,
            Self::Markup => Writing::Markup,
            Self::Plain => Writing::AsIs,
        }
    }
}

impl Writing {
    fn write(self, value: &str) -> Cow<'_, str> {
        match self {
            Self::AsIs => Cow::Borrowed(value),
            Self::InJsonString => {
                let quoted = json_escape_simd::escape(value);
                Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
            }
            Self::AsJsonValue if is_json_scalar(value) => Cow::Borrowed(value),
            Self::AsJsonValue => Cow::Owned(json_escape_simd::escape(value)),
            Self::Markup => Cow::Owned(markup(value)),
        }
    }
}

/// True if `value` is a JSON number, `true`, `false` or `null`.
fn is_json_scalar(value: &str) -> bool {
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let digits = value.strip_prefix('-').unwrap_or(value);
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
        }
        None => (digits, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let leads_with_zero = whole.len() > 1 && whole.starts_with('0');
    let is_number =
        all_digits(whole) && !leads_with_zero && all_digits(fraction) && all_digits(exponent);
    is_number || ["true", "false", "null"].contains(&value)
}

fn markup(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}
