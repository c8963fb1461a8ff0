//! Text templates with format-aware escaping (JSON, HTML and XML, plain text).
//!
//! A value cannot break out of its place: in JSON it stays a string or a scalar, in markup it
//! stays text.

use std::borrow::Cow;

use resource::{VariableValue, VariableValues};

/// A text with placeholders, parsed once.
#[derive(Debug)]
pub(super) struct TextTemplate {
    pieces: Vec<TextTemplatePiece>,
}

#[derive(Debug)]
enum TextTemplatePiece {
    Literal(String),
    Value { name: String, writing: ValueEscaping },
}

/// How a value is escaped at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueEscaping {
    Verbatim,
    InJsonString,
    AsJsonValue,
    Markup,
}

/// The syntaxes with their own escaping rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextSyntax {
    Json,
    Markup,
    Plain,
}

impl TextTemplate {
    /// Parses `text`. `{name}` is a placeholder if `name` is in `variables`; other braces are
    /// literal.
    pub(super) fn parse(text: &str, variables: &[&str], mime: Option<&str>) -> Self {
        let syntax = TextSyntax::of(mime);
        let mut pieces = Vec::new();
        let mut quote = JsonStringTracker::default();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let name = variables.iter().copied().find(|name| starts_with_placeholder(rest, name));
            let Some(name) = name else {
                quote.advance(first);
                literal.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            };
            pieces.push(TextTemplatePiece::Literal(std::mem::take(&mut literal)));
            let writing = syntax.escaping(quote.is_open);
            pieces.push(TextTemplatePiece::Value { name: name.to_owned(), writing });
            rest = &rest[name.len() + 2..];
        }
        pieces.push(TextTemplatePiece::Literal(literal));
        Self { pieces }
    }

    /// Fills in `values`. A variable without a value becomes the empty string.
    pub(super) fn fill(&self, values: &VariableValues) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                TextTemplatePiece::Literal(literal) => out.push_str(literal),
                TextTemplatePiece::Value { name, writing } => {
                    out.push_str(&match values.get(name) {
                        Some(value) => writing.escape_value(value),
                        None => writing.escape("").into_owned(),
                    });
                }
            }
        }
        out
    }
}

fn starts_with_placeholder(text: &str, name: &str) -> bool {
    let inside = text.strip_prefix('{').and_then(|text| text.strip_prefix(name));
    inside.is_some_and(|rest| rest.starts_with('}'))
}

/// Tracks whether a position in a JSON text is inside a string.
#[derive(Default)]
struct JsonStringTracker {
    is_open: bool,
    after_backslash: bool,
}

impl JsonStringTracker {
    fn advance(&mut self, character: char) {
        let escaped = std::mem::take(&mut self.after_backslash);
        match character {
            '"' if !escaped => self.is_open = !self.is_open,
            '\\' => self.after_backslash = self.is_open && !escaped,
            _ => {}
        }
    }
}

impl TextSyntax {
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

    fn escaping(self, in_string: bool) -> ValueEscaping {
        match self {
            Self::Json if in_string => ValueEscaping::InJsonString,
            Self::Json => ValueEscaping::AsJsonValue,
            Self::Markup => ValueEscaping::Markup,
            Self::Plain => ValueEscaping::Verbatim,
        }
    }
}

impl ValueEscaping {
    /// A list becomes a JSON array where a JSON value stands, and text with commas elsewhere.
    fn escape_value(self, value: &VariableValue) -> String {
        match (self, value) {
            (Self::AsJsonValue, VariableValue::List(values)) => {
                let values: Vec<_> = values.iter().map(|value| self.escape(value)).collect();
                format!("[{}]", values.join(","))
            }
            _ => self.escape(&value.joined()).into_owned(),
        }
    }

    fn escape(self, value: &str) -> Cow<'_, str> {
        match self {
            Self::Verbatim => Cow::Borrowed(value),
            Self::InJsonString => {
                let quoted = json_escape_simd::escape(value);
                Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
            }
            Self::AsJsonValue if is_json_scalar(value) => Cow::Borrowed(value),
            Self::AsJsonValue => Cow::Owned(json_escape_simd::escape(value)),
            Self::Markup => Cow::Owned(escape_markup(value)),
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

fn escape_markup(value: &str) -> String {
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
