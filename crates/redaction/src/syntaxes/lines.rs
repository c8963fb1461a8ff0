//! Assignments line by line: for comments, and for texts that do not fit their syntax.

use std::borrow::Cow;
use std::ops::Range;

use crate::judge::KeyContext;
use crate::key_words::{KeyMeaning, meaning_of};
use crate::mask::mask_length;
use crate::syntax::Syntax;
use crate::values::{PROSE, is_harmless, is_path};
use crate::walk::{Quoting, ScalarToken, Walk};

/// The longest key that is looked for in front of a separator.
const MAX_KEY_BYTES: usize = 128;

/// A `key = value` of a line, by its places in the text.
pub(super) struct Assignment<'t> {
    pub(super) key: &'t str,
    /// Without quotes.
    pub(super) value: Range<usize>,
    pub(super) is_quoted: bool,
    pub(super) separator: char,
}

/// Reports the assignments of a comment.
pub(super) fn scan_comment(text: &str, range: Range<usize>, walk: &mut Walk<'_, '_>) {
    let mut start = range.start;
    for line in text[range].split_inclusive('\n') {
        scan_comment_line(text, start, line, walk);
        start += line.len();
    }
}

fn scan_comment_line(text: &str, start: usize, line: &str, walk: &mut Walk<'_, '_>) {
    let is_mark = |character: char| character.is_whitespace() || "#;/*!<-".contains(character);
    let line = line.trim_end();
    // The slashes of `//registry.example/:_authToken` are a mark as well; the key keeps its end.
    let body = line.trim_start_matches(is_mark);
    let body =
        body.strip_suffix("-->").or_else(|| body.strip_suffix("*/")).unwrap_or(body).trim_end();
    let at = start + (line.len() - line.trim_start_matches(is_mark).len());
    let Some(found) = assignment_at(text, at..at + body.len()) else { return };
    let value = &text[found.value.clone()];
    let words = value.split_whitespace().filter(|_| !found.is_quoted && found.separator == ':');
    let is_prose = words.clone().count() > 2
        && words.into_iter().any(|word| PROSE.contains(&word.to_lowercase().as_str()));
    if is_prose || found.key.split_whitespace().count() > 1 {
        scan_pairs(text, at..at + body.len(), Quoting::Verbatim, walk);
        return;
    }
    let token =
        ScalarToken { range: found.value, value: Cow::Borrowed(value), quoting: Quoting::Verbatim };
    if !walk.assignment(found.key, &token) {
        scan_pairs(text, at..at + body.len(), Quoting::Verbatim, walk);
    }
}

/// A secret value over several lines.
enum Block {
    /// Lines that are indented deeper than this.
    Indented(usize),
    /// Lines up to one that has this text.
    Until(&'static str),
}

/// Reports the assignments of a whole text.
pub(super) fn scan(text: &str, syntax: Syntax, walk: &mut Walk<'_, '_>) {
    let bare = match syntax {
        Syntax::Toml | Syntax::Yaml | Syntax::Json | Syntax::Hcl => Quoting::AddQuotes,
        _ => Quoting::Verbatim,
    };
    let (mut start, mut block) = (0, None::<(Block, &'static str)>);
    for line in text.split_inclusive('\n') {
        let at = start + (line.len() - line.trim_start().len());
        let range = at..(start + line.trim_end().len()).max(at);
        start += line.len();
        if range.is_empty() {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if let Some((kind_of_block, kind)) = &block
            && kind_of_block.holds(indent, &text[range.clone()])
        {
            mask_line(text, range, kind, walk);
            continue;
        }
        block = scan_line(text, range, indent, bare, walk);
    }
}

/// Reports the assignments of a line. Returns the secret value that goes on behind it.
fn scan_line(
    text: &str,
    range: Range<usize>,
    indent: usize,
    bare: Quoting,
    walk: &mut Walk<'_, '_>,
) -> Option<(Block, &'static str)> {
    let line = &text[range.clone()];
    if line.starts_with(['#', ';', '!']) || line.starts_with("//") || line.starts_with("<!--") {
        scan_comment_line(text, range.start, line, walk);
        return None;
    }
    if let Some(found) = assignment_at(text, range.clone()) {
        let value = &text[found.value.clone()];
        if let KeyMeaning::Secret(kind) | KeyMeaning::Block(kind) = meaning_of(found.key)
            && let Some(block) = block_after(value, found.separator, found.is_quoted, indent)
        {
            return Some((block, kind));
        }
        let quoting = if found.is_quoted { Quoting::Verbatim } else { bare };
        let is_list = !found.is_quoted && value.starts_with(['{', '[']);
        let token = ScalarToken { range: found.value, value: Cow::Borrowed(value), quoting };
        if !is_list && walk.assignment(found.key, &token) {
            return None;
        }
    }
    scan_pairs(text, range, bare, walk);
    None
}

/// The lines that a secret value goes on in.
fn block_after(value: &str, separator: char, is_quoted: bool, indent: usize) -> Option<Block> {
    if is_quoted {
        return None;
    }
    let is_scalar = value.starts_with(['|', '>']) && value.len() <= 3;
    match value {
        "" if separator == ':' => Some(Block::Indented(indent)),
        _ if is_scalar => Some(Block::Indented(indent)),
        "\"\"\"" => Some(Block::Until("\"\"\"")),
        "'''" => Some(Block::Until("'''")),
        "[" => Some(Block::Until("]")),
        _ => None,
    }
}

impl Block {
    fn holds(&self, indent: usize, line: &str) -> bool {
        match self {
            Self::Indented(above) => indent > *above || line.starts_with("- "),
            Self::Until(end) => !line.contains(end),
        }
    }
}

/// Masks a line of a value over several lines.
fn mask_line(text: &str, range: Range<usize>, kind: &'static str, walk: &mut Walk<'_, '_>) {
    let line = &text[range.clone()];
    let inner = line.strip_prefix("- ").unwrap_or(line).trim_start();
    let start = range.end - inner.len();
    let inner = inner.trim_end_matches(',');
    let is_quoted =
        inner.len() >= 2 && inner.starts_with(['"', '\'']) && inner.ends_with(&inner[..1]);
    let range =
        if is_quoted { start + 1..start + inner.len() - 1 } else { start..start + inner.len() };
    if assignment_at(text, range.clone())
        .is_some_and(|found| !found.is_quoted && found.separator == ':')
        && !is_quoted
    {
        // A map under the key.
        scan_pairs(text, range, Quoting::AddQuotes, walk);
        return;
    }
    let value = &text[range.clone()];
    let is_end = ["-----BEGIN", "-----END"].iter().any(|mark| value.starts_with(mark));
    let is_place = kind != "password" && is_path(value);
    if !is_harmless(value) && !is_place && !is_end {
        let quoting = Quoting::Verbatim;
        walk.secret(&ScalarToken { range, value: Cow::Borrowed(value), quoting }, kind);
    }
}

/// The assignment that the bytes of `range`, a line, are.
pub(super) fn assignment_at(text: &str, range: Range<usize>) -> Option<Assignment<'_>> {
    let line = &text[range.clone()];
    let body = ["- ", "export ", "set ", "setenv ", "ENV ", "const ", "let ", "var "]
        .iter()
        .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line).trim_start());
    let start = range.end - body.len();
    let (key, behind) = match body.chars().next()? {
        quote @ ('"' | '\'') => {
            let end = body[1..].find(quote)? + 1;
            (&body[1..end], end + 1)
        }
        _ => {
            let end = separator_at(body)?;
            (body[..end].trim_end(), end)
        }
    };
    let rest = &body[behind..];
    let separator = rest.trim_start().chars().next().filter(|first| ['=', ':'].contains(first))?;
    let value = rest.trim_start()[1..].trim_start_matches(['=', '>']).trim_start();
    if key.is_empty() || key.len() > MAX_KEY_BYTES {
        return None;
    }
    let from = start + body.len() - value.len();
    let (value, is_quoted) = value_at(value, from);
    Some(Assignment { key, value, is_quoted, separator })
}

/// Where the separator of `key = value` or `key: value` stands in a line.
fn separator_at(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let limit = bytes.len().min(2 * MAX_KEY_BYTES);
    (0..limit).find(|at| match bytes[*at] {
        b'=' => true,
        b':' => bytes
            .get(at + 1)
            .is_none_or(|next| next.is_ascii_whitespace() || b"\"'=".contains(next)),
        _ => false,
    })
}

/// The value that a line ends with, without its quotes and without a comment behind it.
fn value_at(value: &str, from: usize) -> (Range<usize>, bool) {
    if let Some(quote) = value.chars().next().filter(|first| "\"'`".contains(*first)) {
        let is_triple = value.starts_with("\"\"\"") || value.starts_with("'''");
        if is_triple && value.trim_end().len() == 3 {
            return (from..from + 3, false);
        }
        let inner = &value[1..];
        let length = closing(inner, quote).unwrap_or(inner.trim_end().len());
        return (from + 1..from + 1 + length, true);
    }
    let end = [" #", "\t#", " //", " ;"].iter().filter_map(|mark| value.find(mark)).min();
    let value = value[..end.unwrap_or(value.len())].trim_end();
    let value = value.trim_end_matches([',', ';']);
    (from..from + value.len(), false)
}

/// The length of the word that `text` begins with. A mask, which has spaces, is a part of one.
pub(super) fn word_length(text: &str) -> usize {
    let mut at = 0;
    while let Some(next) = text[at..].chars().next().filter(|next| !next.is_whitespace()) {
        at += mask_length(&text[at..]).unwrap_or(next.len_utf8());
    }
    at
}

/// Where `quote` closes the text.
pub(super) fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if quote != '\'' => is_escaped = true,
            _ if character == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// Reports the pairs inside a line: `{user: x, password: y}`, `a=1 token=2`.
fn scan_pairs(text: &str, range: Range<usize>, bare: Quoting, walk: &mut Walk<'_, '_>) {
    let bytes = text.as_bytes();
    let mut at = range.start;
    while at < range.end {
        let is_separator = match bytes[at] {
            b'=' => true,
            b':' => bytes
                .get(at + 1)
                .is_none_or(|next| next.is_ascii_whitespace() || b"\"'".contains(next)),
            _ => false,
        };
        at += 1;
        if !is_separator {
            continue;
        }
        let key = key_before(&text[range.start..at - 1]);
        let is_named = matches!(meaning_of(key), KeyMeaning::Secret(_) | KeyMeaning::Block(_));
        if key.is_empty() || !(is_named || walk.context() != KeyContext::Neutral) {
            continue;
        }
        let rest = &text[at..range.end];
        let from = range.end - rest.trim_start().len();
        let (value, is_quoted) = pair_value(rest.trim_start(), from);
        at = value.end.max(at);
        let quoting = if is_quoted { Quoting::Verbatim } else { bare };
        let token =
            ScalarToken { range: value.clone(), value: Cow::Borrowed(&text[value]), quoting };
        let word = token.value.to_lowercase();
        let is_prose = !is_quoted && PROSE.contains(&word.as_str());
        if !word.is_empty() && !is_prose && !word.starts_with(['{', '[', '(']) {
            walk.assignment(key, &token);
        }
    }
}

fn pair_value(value: &str, from: usize) -> (Range<usize>, bool) {
    if let Some(quote) = value.chars().next().filter(|first| "\"'".contains(*first)) {
        let length = closing(&value[1..], quote).unwrap_or(value.len() - 1);
        return (from + 1..from + 1 + length, true);
    }
    let is_end = |character: char| character.is_whitespace() || ",;}])\"'&".contains(character);
    (from..from + value.find(is_end).unwrap_or(value.len()), false)
}

/// The key that ends where a separator stands.
fn key_before(text: &str) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_KEY_BYTES));
    let text = text[start..].trim_end().trim_end_matches(['"', '\'']);
    let is_key = |character: char| character.is_alphanumeric() || "_-.".contains(character);
    let length = text
        .chars()
        .rev()
        .take_while(|character| is_key(*character))
        .map(char::len_utf8)
        .sum::<usize>();
    text[text.len() - length..].trim_start_matches('-')
}
