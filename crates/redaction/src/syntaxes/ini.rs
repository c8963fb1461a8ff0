//! INI files: sections, `key = value` and `key: value`, comments, continued lines. systemd's units
//! and the files of git, npm and pip are such files.

use std::borrow::Cow;
use std::ops::Range;

use super::{env, lines};
use crate::key_words::{KeyMeaning, ends_in_secret_word, meaning_of};
use crate::values::is_sentence;
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// Directives of nginx that pass requests on. Elsewhere `proxy_pass` is a password.
const PASS_DIRECTIVES: &[&str] =
    &["proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass", "memcached_pass"];

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
        } else if is_indented && has_key && walk.kind_of_next(body).is_some() {
            // The value goes on; its key is still the last one.
            assign(text, "", range, walk);
        } else if let Some((key, value)) = find_word_pair(text, range.clone()) {
            walk.key(Cow::Borrowed(key));
            assign(text, key, value, walk);
            has_key = false;
        } else if is_indented && has_key {
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
pub(super) fn split(text: &str, range: Range<usize>) -> Option<(&str, Range<usize>)> {
    let line = &text[range.clone()];
    let equals = line.find('=');
    let colon = line.find(": ").or_else(|| line.ends_with(':').then(|| line.len() - 1));
    let loose = if equals.is_none() && colon.is_none() { line.find(':') } else { None };
    let at = match (equals, colon) {
        (Some(equals), Some(colon)) => equals.min(colon),
        (one, other) => one.or(other).or(loose)?,
    };
    let key = line[..at].trim();
    if loose.is_some() && key.contains(char::is_whitespace) {
        // The colon stands inside a word, as in `stats auth admin:secret`.
        return None;
    }
    let value = line[at + 1..].trim();
    let from = range.end - line[at + 1..].trim_start().len();
    Some((key.trim_matches(['"', '\'']), from..from + value.len()))
}

/// `key value`, as of files such as `redis.conf` and nginx's.
pub(super) fn split_words(text: &str, range: Range<usize>) -> Option<(&str, Range<usize>)> {
    let line = &text[range.clone()];
    let (key, rest) = line.split_once([' ', '\t'])?;
    let value = rest.trim();
    let is_one = !value.contains(char::is_whitespace) || value.starts_with(['"', '\'']);
    let from = range.end - rest.trim_start().len();
    let end = from + value.trim_end_matches(';').len();
    (is_one && !PASS_DIRECTIVES.contains(&key)).then_some((key, from..end))
}

/// The word that names a secret, and the one behind it, of a line such as `stats auth admin:secret`
/// or `user bob password secret`.
fn find_word_pair(text: &str, range: Range<usize>) -> Option<(&str, Range<usize>)> {
    if is_sentence(&text[range.clone()]) {
        return None;
    }
    let mut words = words(text, range);
    let mut key = &text[words.next()?];
    for word in words {
        let value = &text[word.clone()];
        let is_named = matches!(meaning_of(key), KeyMeaning::Secret(_));
        if is_named && ends_in_secret_word(key) && !PASS_DIRECTIVES.contains(&key) {
            return Some((key, word.start..word.start + value.trim_end_matches(';').len()));
        }
        key = value;
    }
    None
}

/// The words of a line.
fn words(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let rest = &text[at..range.end];
        let start = at + (rest.len() - rest.trim_start().len());
        at = start + lines::word_length(&text[start..range.end]);
        (start < at).then_some(start..at)
    })
}

/// Reports a value of which the walk knows the key.
pub(super) fn assign<'t>(text: &'t str, key: &str, value: Range<usize>, walk: &mut Walk<'t, '_>) {
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
