//! Passwords and keys in connection strings: ADO, ODBC, JDBC, Azure, libpq.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::{Candidate, ShapeWindow, Tail};
use crate::mask::mask_length;
use crate::values::is_harmless;

pub(super) const ANCHOR: &str = "(?i-u:(?:password|passwd|pwd|accountkey|sharedaccesskey|sharedsecret|accesskey|secretkey|authkey)[ \\t]{0,4}=)";
/// The signature of a shared access signature of Azure.
pub(super) const SIGNATURE_ANCHOR: &str = "[?&]sig=";

/// Members that stand beside a password in a connection string.
static NEIGHBOURS: LazyLock<Regex> = LazyLock::new(|| {
    let members = "host|hostname|server|user|username|uid|user id|dbname|database|data source|\
        initial catalog|accountname|endpoint|accountendpoint|sharedaccesskeyname|port|driver|\
        protocol|defaultendpointsprotocol|address";
    let pattern = format!("(?:^|[^A-Za-z0-9_])(?i-u:{members}) ?=");
    Regex::new(&pattern).expect("the members are valid")
});

/// The longest password that is looked for.
const MAX_VALUE_BYTES: usize = 512;

/// The password behind the anchor.
pub(super) fn matching(window: &ShapeWindow<'_>) -> Option<Candidate> {
    if window.before().is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let before = window.line_before();
    let lead = before.trim_end().chars().next_back();
    let start = window.run_end(window.anchor_end, |byte| byte == b' ' || byte == b'\t');
    let rest = window.rest(start);
    if mask_length(rest).is_some() {
        return None;
    }
    let (open, ends): (usize, &[char]) = match rest.chars().next()? {
        '"' => (1, &['"', '\n', '\r']),
        '\'' => (1, &['\'', '\n', '\r']),
        '{' if !rest.starts_with("{{") => (1, &['}', '\n', '\r']),
        _ if rest.starts_with("\\\"") => (2, &['\\', '"', '\n', '\r']),
        _ if lead == Some(';') => (0, &[';', '"', '\'', '`', '<', '>', '\n', '\r']),
        _ => (0, &[';', '"', '\'', '`', '<', '>', '\n', '\r', '&', ' ', '\t', ')', ',']),
    };
    let value = &rest[open..rest.floor_char_boundary(open + MAX_VALUE_BYTES)];
    let value = &value[..value.find(ends).unwrap_or(value.len())];
    let value = if open == 0 { value.trim_end() } else { value };
    let behind = &rest[open + value.len()..];
    if is_harmless(value) || value.starts_with(['(', '[']) {
        return None;
    }
    let is_listed = matches!(lead, Some(';' | '?' | '&'))
        || NEIGHBOURS.is_match(before)
        || NEIGHBOURS.is_match(line_start(behind));
    if !is_listed {
        return None;
    }
    let start = start + open;
    let range = start..start + value.len();
    Some(Candidate { range, kind: "connection-password", tail: Tail::Closed })
}

/// The signature behind the anchor.
pub(super) fn matching_signature(window: &ShapeWindow<'_>) -> Option<Candidate> {
    let is_signature = |byte: u8| byte.is_ascii_alphanumeric() || b"%+/=-_".contains(&byte);
    let end = window.run_end(window.anchor_end, is_signature);
    let range = window.anchor_end..end;
    (range.len() >= 40).then(|| Candidate {
        range,
        kind: "azure-signature",
        tail: window.tail(end, is_signature),
    })
}

/// The rest of the line, as far as it matters.
fn line_start(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(super::LOOK_BEHIND)];
    &text[..text.find(['\n', '\r']).unwrap_or(text.len())]
}
