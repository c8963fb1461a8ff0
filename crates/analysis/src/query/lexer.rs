//! Query lexer: words, phrases, fields and operators. Odd punctuation is part of words.

/// The names of the fields.
const FIELDS: [(&str, QueryField); 9] = [
    ("name", QueryField::Name),
    ("path", QueryField::Path),
    ("mime", QueryField::Mime),
    ("mount", QueryField::Mount),
    ("lang", QueryField::Language),
    ("language", QueryField::Language),
    ("audience", QueryField::Audience),
    ("priority", QueryField::Priority),
    ("modified", QueryField::Modified),
];
/// Opening quotation marks with their closing ones.
const QUOTES: [(char, &[char]); 5] = [
    ('"', &['"', '\u{201D}']),
    ('＂', &['＂']),
    ('\u{201C}', &['\u{201D}', '"', '\u{201C}']),
    ('「', &['」']),
    ('『', &['』']),
];

/// A field of the query language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryField {
    Name,
    Path,
    Mime,
    Mount,
    Language,
    Audience,
    Priority,
    Modified,
}

/// A lexeme of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum QueryLexeme<'q> {
    Word(&'q str),
    Prefix(&'q str),
    Phrase(&'q str),
    Field(QueryField, &'q str),
    Or,
    And,
    Not,
}

/// Divides a query into lexemes, in one pass.
pub(super) fn lex(text: &str) -> Vec<QueryLexeme<'_>> {
    let mut lexemes = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (lexeme, length) = next_lexeme(rest, first);
        lexemes.push(lexeme);
        rest = rest[length..].trim_start();
    }
    lexemes
}

fn next_lexeme(rest: &str, first: char) -> (QueryLexeme<'_>, usize) {
    if let Some((phrase, length)) = quoted(rest) {
        return (QueryLexeme::Phrase(phrase), length);
    }
    let after = &rest[first.len_utf8()..];
    let is_minus = matches!(first, '-' | '－' | '−');
    let is_excluding = |c: char| c.is_alphanumeric() || is_quote(c) || c == '/';
    if is_minus && after.starts_with(is_excluding) && !is_option(after) {
        return (QueryLexeme::Not, first.len_utf8());
    }
    if let Some((field, colon)) = field_name(rest) {
        let value = &rest[colon..];
        if let Some((value, length)) = quoted(value) {
            return (QueryLexeme::Field(field, value), colon + length);
        }
        let length = value.find(char::is_whitespace).unwrap_or(value.len());
        if length > 0 && !value.starts_with([':', '：']) {
            return (QueryLexeme::Field(field, &value[..length]), colon + length);
        }
    }
    let length = word_length(rest);
    (word(&rest[..length]), length)
}

/// Whether what follows a minus makes it an option of a command, such as `-f` or `-rf`, which people
/// ask about rather than exclude.
fn is_option(after: &str) -> bool {
    let length = after.find(char::is_whitespace).unwrap_or(after.len());
    length <= 2 && after[..length].bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn word(text: &str) -> QueryLexeme<'_> {
    match text {
        "OR" | "ＯＲ" | "||" => return QueryLexeme::Or,
        "AND" | "ＡＮＤ" | "&&" => return QueryLexeme::And,
        "NOT" | "ＮＯＴ" => return QueryLexeme::Not,
        _ => {}
    }
    match text.strip_suffix(['*', '＊']) {
        Some(prefix) if is_one_word(prefix) => QueryLexeme::Prefix(prefix),
        _ => QueryLexeme::Word(text),
    }
}

fn is_one_word(text: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.chars().any(char::is_alphanumeric) && text.chars().all(is_inner)
}

fn is_quote(c: char) -> bool {
    QUOTES.iter().any(|(open, _)| *open == c)
}

/// The phrase in quotation marks at the start of `rest`, and its bytes with the marks. `None` if
/// the marks do not close.
fn quoted(rest: &str) -> Option<(&str, usize)> {
    let first = rest.chars().next()?;
    let (open, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let inner = &rest[open.len_utf8()..];
    let end = inner.find(*close)?;
    let mark = inner[end..].chars().next()?.len_utf8();
    Some((&inner[..end], open.len_utf8() + end + mark))
}

/// The field that `rest` starts with, and the bytes up to its value.
fn field_name(rest: &str) -> Option<(QueryField, usize)> {
    let end = rest.find(|c: char| !c.is_ascii_alphabetic())?;
    let colon = rest[end..].chars().next().filter(|c| matches!(c, ':' | '：'))?;
    let name = &rest[..end];
    let field = FIELDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?.1;
    Some((field, end + colon.len_utf8()))
}

/// The bytes of the word at the start of `rest`: up to white space, or to a phrase that closes.
fn word_length(rest: &str) -> usize {
    for (at, c) in rest.char_indices() {
        let is_phrase = at > 0 && is_quote(c) && quoted(&rest[at..]).is_some();
        if c.is_whitespace() || is_phrase {
            return at;
        }
    }
    rest.len()
}
