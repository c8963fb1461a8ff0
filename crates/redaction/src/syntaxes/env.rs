//! Files of environment variables: `KEY=value` with `export`, quotes, comments and values over
//! several lines.

use std::borrow::Cow;
use std::ops::Range;

use super::lines;
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// Reports the variables of `text`.
pub(super) fn scan<'t>(text: &'t str, walk: &mut Walk<'t, '_>) -> Fit {
    let (mut at, mut fit) = (0, Fit::Whole);
    while at < text.len() {
        let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let line = &text[at..line_end];
        let body = line.trim_start().trim_start_matches('\u{feff}');
        let start = line_end - body.len();
        at = (line_end + 1).min(text.len().max(1));
        if body.trim().is_empty() {
            continue;
        }
        if body.starts_with('#') {
            lines::scan_comment(text, start..line_end, walk);
            continue;
        }
        let body = ["export ", "set ", "declare -x ", "setenv "]
            .iter()
            .fold(body, |body, word| body.strip_prefix(word).unwrap_or(body).trim_start());
        let separator = body.find('=').or_else(|| body.find(": "));
        let Some(separator) = separator else {
            fit = Fit::Broken;
            continue;
        };
        let key = body[..separator].trim();
        let value = body[separator + 1..].trim_start();
        let from = line_end - value.len();
        walk.key(Cow::Borrowed(key));
        at = at.max(report(text, from, line_end, walk));
    }
    fit
}

/// Reports the value that begins at `from`. Returns where the next line begins, if the value goes
/// over this one.
fn report<'t>(text: &'t str, from: usize, line_end: usize, walk: &mut Walk<'t, '_>) -> usize {
    let line = &text[from..line_end];
    let quote = line.chars().next().filter(|first| "\"'`".contains(*first));
    let closing = quote.and_then(|quote| lines::closing(&line[1..], quote));
    // More of the value behind the quotes, as a shell joins it: `'it''s'`.
    let is_joined = closing.is_some_and(|end| {
        line[end + 2..].starts_with(|next: char| !next.is_whitespace() && !"#;".contains(next))
    });
    if let Some(quote) = quote.filter(|_| !is_joined) {
        let inner = &text[from + 1..];
        // Quotes that never close end with their line.
        let closed = closing.or_else(|| lines::closing(&inner[..window(inner)], quote));
        let end = from + 1 + closed.unwrap_or(line.trim_end().len().saturating_sub(1));
        let value = Cow::Borrowed(&text[from + 1..end]);
        walk.scalar(ScalarToken { range: from + 1..end, value, quoting: Quoting::Verbatim });
        let next = text[end..].find('\n').map_or(text.len(), |next| end + next + 1);
        if closed.is_some() {
            scan_words(text, end + 1..next, walk);
        }
        return next;
    }
    let end = [" #", "\t#"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
    let value = line[..end].trim_end();
    let range = from..from + value.len();
    if walk.kind_of_next(value).is_none()
        && let Some(rest) = value.find(char::is_whitespace)
        && value[rest..].contains('=')
    {
        // A shell reads further variables behind the first one.
        let first = from..from + rest;
        let value = Cow::Borrowed(&text[first.clone()]);
        walk.scalar(ScalarToken { range: first, value, quoting: Quoting::AddShellQuotes });
        scan_words(text, from + rest..line_end, walk);
        return line_end;
    }
    walk.scalar(ScalarToken {
        range,
        value: Cow::Borrowed(value),
        quoting: Quoting::AddShellQuotes,
    });
    line_end
}

/// How far a value may go over several lines.
fn window(text: &str) -> usize {
    text.floor_char_boundary(64 * 1024)
}

/// Reports the variables of a line such as systemd's `Environment="A=1" B=2`, or `A=1 B="2 3"` of a
/// shell.
pub(super) fn scan_words<'t>(text: &'t str, range: Range<usize>, walk: &mut Walk<'t, '_>) {
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        let word = rest.trim_start();
        at = range.end - word.len();
        let quote = word.chars().next().filter(|first| "\"'".contains(*first));
        let (start, length) = match quote {
            Some(quote) => (at + 1, lines::closing(&word[1..], quote).unwrap_or(word.len() - 1)),
            None => (at, word_length(word)),
        };
        let pair = &text[start..start + length];
        at = (start + length + usize::from(quote.is_some())).min(range.end);
        let Some((name, value)) = pair.split_once('=') else { continue };
        let from = start + name.len() + 1;
        let inner = value.strip_prefix(['"', '\'']).filter(|_| quote.is_none());
        let (from, value) = match inner {
            Some(inner) => (from + 1, inner.strip_suffix(&value[..1]).unwrap_or(inner)),
            None => (from, value),
        };
        walk.key(Cow::Borrowed(name));
        let is_bare = quote.is_none() && inner.is_none();
        walk.scalar(ScalarToken {
            range: from..from + value.len(),
            value: Cow::Borrowed(value),
            quoting: if is_bare { Quoting::AddQuotes } else { Quoting::Verbatim },
        });
    }
}

/// The length of the first word; a value in quotes behind its `=` may have spaces.
fn word_length(text: &str) -> usize {
    let end = lines::word_length(text);
    let Some(value) = text[..end].find('=').map(|equals| equals + 1) else { return end };
    let Some(quote) = text[value..].chars().next().filter(|first| "\"'".contains(*first)) else {
        return end;
    };
    // Quotes that never close end with their line.
    lines::closing(&text[value + 1..], quote).map_or(text.len(), |length| value + 1 + length + 1)
}
