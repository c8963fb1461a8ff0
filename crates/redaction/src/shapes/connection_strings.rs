//! Passwords and keys in connection strings: ADO, ODBC, JDBC, Azure, libpq.

use super::{Candidate, Tail, Window};
use crate::mask::mask_length;
use crate::values::is_harmless;

pub(super) const ANCHOR: &str = "(?i-u:(?:password|passwd|pwd|accountkey|sharedaccesskey|sharedsecret|accesskey|secretkey|authkey)[ \\t]{0,4}=)";
/// The signature of a shared access signature of Azure.
pub(super) const SIGNATURE_ANCHOR: &str = "[?&]sig=";

/// Members that stand beside a password in a connection string.
const NEIGHBOURS: &[&str] = &[
    "host=",
    "hostname=",
    "server=",
    "user=",
    "username=",
    "uid=",
    "user id=",
    "dbname=",
    "database=",
    "data source=",
    "initial catalog=",
    "accountname=",
    "endpoint=",
    "accountendpoint=",
    "sharedaccesskeyname=",
    "port=",
    "driver=",
    "protocol=",
    "defaultendpointsprotocol=",
    "address=",
];

/// The password behind the anchor.
pub(super) fn matching(window: &Window<'_>) -> Option<Candidate> {
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
    let value = &rest[open..];
    let value = &value[..value.find(ends).unwrap_or(value.len())];
    let value = if open == 0 { value.trim_end() } else { value };
    let behind = &rest[open + value.len()..];
    let is_listed = matches!(lead, Some(';' | '?' | '&'))
        || has_neighbour(before)
        || has_neighbour(line_start(behind));
    if !is_listed || is_harmless(value) || value.starts_with(['(', '[']) {
        return None;
    }
    let start = start + open;
    let range = start..start + value.len();
    Some(Candidate { range, kind: "connection-password", tail: Tail::Closed })
}

/// The signature behind the anchor.
pub(super) fn matching_signature(window: &Window<'_>) -> Option<Candidate> {
    let is_signature = |byte: u8| byte.is_ascii_alphanumeric() || b"%+/=-_".contains(&byte);
    let end = window.run_end(window.anchor_end, is_signature);
    let range = window.anchor_end..end;
    (range.len() >= 40).then(|| Candidate {
        range,
        kind: "azure-signature",
        tail: window.tail(end, is_signature),
    })
}

/// Whether `line` has a member that stands beside passwords.
fn has_neighbour(line: &str) -> bool {
    let line: String = line.to_ascii_lowercase().split(" =").collect::<Vec<_>>().join("=");
    NEIGHBOURS.iter().any(|member| {
        line.match_indices(member).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            before.is_none_or(|before| !before.is_alphanumeric() && before != '_')
        })
    })
}

/// The rest of the line, as far as it matters.
fn line_start(text: &str) -> &str {
    let end = text.find(['\n', '\r']).unwrap_or(text.len()).min(super::LOOK_BEHIND);
    &text[..text.floor_char_boundary(end)]
}
