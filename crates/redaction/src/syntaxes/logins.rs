//! Files of logins: `.netrc`, `.pgpass` and `.htpasswd`.

use std::borrow::Cow;
use std::ops::Range;

use super::lines;
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// The fields of a line of `.pgpass`.
pub(super) const PGPASS_FIELDS: usize = 5;
/// The fields of a line of `.htpasswd`.
pub(super) const HTPASSWD_FIELDS: usize = 2;

/// Reports the passwords of a `.netrc`.
pub(super) fn scan_netrc<'t>(text: &'t str, walk: &mut Walk<'t, '_>) -> Fit {
    let (mut start, mut key, mut is_macro) = (0, None::<&str>, false);
    for line in text.split_inclusive('\n') {
        let from = start;
        start += line.len();
        // A macro ends with an empty line.
        is_macro &= !line.trim().is_empty();
        if is_macro {
            continue;
        }
        for word in words(text, from..start) {
            let value = &text[word.clone()];
            match key.take() {
                Some("comment") => break,
                Some(name) => report(text, name, word, walk),
                None if value.starts_with('#') => {
                    scan_comment(text, word.start..start, walk);
                    break;
                }
                None if value == "macdef" => {
                    is_macro = true;
                    break;
                }
                None => {
                    key = ["password", "account", "login", "machine"]
                        .into_iter()
                        .find(|name| *name == value)
                }
            }
        }
    }
    Fit::Whole
}

fn report<'t>(text: &'t str, name: &'static str, word: Range<usize>, walk: &mut Walk<'t, '_>) {
    let raw = &text[word.clone()];
    let inner = raw.strip_prefix('"');
    let (range, quoting) = match inner {
        Some(inner) => {
            let length = inner.strip_suffix('"').unwrap_or(inner).len();
            (word.start + 1..word.start + 1 + length, Quoting::Verbatim)
        }
        None => (word, Quoting::AddQuotes),
    };
    // An account is a second password.
    walk.key(Cow::Borrowed(if name == "account" { "password" } else { name }));
    let value = Cow::Borrowed(&text[range.clone()]);
    walk.scalar(ScalarToken { range, value, quoting });
}

/// A commented-out login: every `password` in it.
fn scan_comment(text: &str, range: Range<usize>, walk: &mut Walk<'_, '_>) {
    let mut is_password = false;
    for word in words(text, range) {
        let value = &text[word.clone()];
        if is_password {
            let quoting =
                if value.starts_with('"') { Quoting::Verbatim } else { Quoting::AddQuotes };
            let inner = value.len() >= 2 && quoting == Quoting::Verbatim;
            let range = if inner {
                word.start + 1..word.end - usize::from(value.ends_with('"'))
            } else {
                word
            };
            let value = Cow::Borrowed(&text[range.clone()]);
            walk.assignment("password", &ScalarToken { range, value, quoting });
            is_password = false;
        } else {
            is_password = value == "password";
        }
    }
}

/// The words of a line; one in quotes may have spaces.
fn words(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let rest = text[at..range.end].trim_start();
        let start = range.end - rest.len();
        if rest.is_empty() {
            return None;
        }
        let length = match rest.strip_prefix('"').and_then(|inner| lines::closing(inner, '"')) {
            Some(length) => length + 2,
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        at = start + length;
        Some(start..at)
    })
}

/// Reports the last field of each line as a password.
pub(super) fn scan_fields<'t>(text: &'t str, fields: usize, walk: &mut Walk<'t, '_>) -> Fit {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let from = start;
        start += line.len();
        let body = line.trim_end();
        let mark = body.len() - body.trim_start_matches(['#', ' ', '\t']).len();
        let mut is_escaped = false;
        let mut seen = 1;
        for (at, character) in body.char_indices().skip(mark) {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' if fields > HTPASSWD_FIELDS => is_escaped = true,
                ':' if seen < fields => seen += 1,
                _ if seen == fields => {
                    let range = from + at..from + body.len();
                    let value = Cow::Borrowed(&text[range.clone()]);
                    let token = ScalarToken { range, value, quoting: Quoting::Verbatim };
                    let is_prose = mark > 0 && token.value.contains(' ');
                    if !is_prose {
                        walk.key(Cow::Borrowed("password"));
                        walk.scalar(token);
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    Fit::Whole
}
