//! Passwords in URLs.

use super::{Candidate, ShapeWindow, Tail};
use crate::values::is_harmless;

pub(super) const ANCHOR: &str = "://";
/// `jdbc:oracle:thin:user/password@host`.
pub(super) const ORACLE_ANCHOR: &str = "(?i-u:jdbc:oracle:[a-z]{2,6}:)";

/// The password of the URL whose scheme ends at the anchor.
pub(super) fn matching(window: &ShapeWindow<'_>) -> Option<Candidate> {
    if !window.before().is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let start = window.anchor_end;
    let url = window.rest(start);
    let url = &url[..url.find(is_url_end).unwrap_or(url.len())];
    let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
    let colon = authority.find(':')?;
    let at_sign = match authority.rfind('@') {
        Some(at_sign) => at_sign,
        // A password with a slash in it; a port has digits only.
        None if !is_port(&authority[colon + 1..]) && !authority.starts_with('[') => {
            url.rfind('@')?
        }
        None => return None,
    };
    if colon > at_sign {
        return None;
    }
    if is_harmless(&url[colon + 1..at_sign]) {
        return None;
    }
    let range = start + colon + 1..start + at_sign;
    Some(Candidate { range, kind: "url-password", tail: Tail::Closed })
}

/// The password of an Oracle connection whose driver is the anchor.
pub(super) fn matching_oracle(window: &ShapeWindow<'_>) -> Option<Candidate> {
    let rest = window.rest(window.anchor_end);
    let rest = &rest[..rest.find(is_url_end).unwrap_or(rest.len())];
    let (login, _) = rest.split_once('@')?;
    let (user, password) = login.split_once('/')?;
    if is_harmless(password) {
        return None;
    }
    let start = window.anchor_end + user.len() + 1;
    let range = start..start + password.len();
    Some(Candidate { range, kind: "url-password", tail: Tail::Closed })
}

fn is_url_end(character: char) -> bool {
    character.is_whitespace() || character.is_control() || "\"'`<>\\|^".contains(character)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
