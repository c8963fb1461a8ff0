//! INI files: sections, `key = value` and `key: value`, comments, continued lines. systemd's units
//! and the files of git, npm and pip are such files.

use std::borrow::Cow;
use std::ops::Range;

use super::{env, lines};
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// Reports the keys and values of `text`.
pub(super) fn scan<'t>(text: &'t str, walk: &mut Walk<'t, '_>) -> Fit {
    let (mut start, mut is_in_section, mut has_key) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let is_indented = line.starts_with([' ', '\t']);
        let body = line.trim().trim_start_matches('\u{feff}');
        let at = start + line.find(body).unwrap_or_default();
        let range = at..at + body.len();
        start += line.len();
        if body.is_empty() {
            continue;
        }
        if body.starts_with(['#', ';']) {
            lines::scan_comment(text, range, walk);
        } else if let Some(name) = section(body) {
            if is_in_section {
                walk.close();
            }
            walk.key(Cow::Borrowed(name));
            walk.open_map();
            (is_in_section, has_key) = (true, false);
        } else if let Some((key, value)) = split(text, range.clone()) {
            walk.key(Cow::Borrowed(key));
            assign(text, key, value, walk);
            has_key = true;
        } else if let Some((key, value)) = split_words(text, range.clone()) {
            walk.key(Cow::Borrowed(key));
            assign(text, key, value, walk);
        } else if is_indented && has_key {
            // The value goes on; its key is still the last one.
            assign(text, "", range, walk);
        }
    }
    Fit::Whole
}

fn section(body: &str) -> Option<&str> {
    let inner = body.strip_prefix('[')?;
    inner.split_once(']').map(|(name, _)| name.trim())
}

/// The key and the value of a line.
fn split(text: &str, range: Range<usize>) -> Option<(&str, Range<usize>)> {
    let line = &text[range.clone()];
    let equals = line.find('=');
    let colon = line.find(": ").or_else(|| line.ends_with(':').then(|| line.len() - 1));
    let colon = colon.or_else(|| if equals.is_none() { line.find(':') } else { None });
    let at = match (equals, colon) {
        (Some(equals), Some(colon)) => equals.min(colon),
        (one, other) => one.or(other)?,
    };
    let value = line[at + 1..].trim();
    let from = range.end - line[at + 1..].trim_start().len();
    Some((line[..at].trim().trim_matches(['"', '\'']), from..from + value.len()))
}

/// `key value`, as of files such as `redis.conf` and nginx's.
fn split_words(text: &str, range: Range<usize>) -> Option<(&str, Range<usize>)> {
    let line = &text[range.clone()];
    let (key, rest) = line.split_once([' ', '\t'])?;
    let value = rest.trim();
    let is_one = !value.contains(char::is_whitespace) || value.starts_with(['"', '\'']);
    let from = range.end - rest.trim_start().len();
    let end = from + value.trim_end_matches(';').len();
    is_one.then_some((key, from..end))
}

/// Reports a value of which the walk knows the key.
fn assign<'t>(text: &'t str, key: &str, value: Range<usize>, walk: &mut Walk<'t, '_>) {
    if key.eq_ignore_ascii_case("environment") {
        env::scan_words(text, value, walk);
        return;
    }
    let (range, is_quoted) = without_quotes(text, value);
    let range = if is_quoted { range } else { without_comment(text, range) };
    let value = Cow::Borrowed(&text[range.clone()]);
    walk.scalar(ScalarToken { range, value, quoting: Quoting::Verbatim });
}

/// A value without the quotes around it.
pub(super) fn without_quotes(text: &str, range: Range<usize>) -> (Range<usize>, bool) {
    let value = &text[range.clone()];
    if let Some(quote) = value.chars().next().filter(|first| "\"'`".contains(*first))
        && let Some(length) = lines::closing(&value[1..], quote)
    {
        return (range.start + 1..range.start + 1 + length, true);
    }
    (range, false)
}

/// A value without the comment behind it.
fn without_comment(text: &str, range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let end = [" #", "\t#", " ;", "\t;"].iter().filter_map(|mark| value.find(mark)).min();
    range.start..range.start + value[..end.unwrap_or(value.len())].trim_end().len()
}
