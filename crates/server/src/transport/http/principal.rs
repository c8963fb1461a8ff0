//! The locale of an HTTP request's principal.

use hyper::HeaderMap;
use hyper::header::ACCEPT_LANGUAGE;
use resource::Principal;

/// `principal` with the language that the request prefers.
pub(super) fn with_request_locale(principal: Principal, headers: &HeaderMap) -> Principal {
    let languages = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    match languages.and_then(preferred_language) {
        Some(language) => principal.with_locale(language),
        None => principal,
    }
}

/// The first language of an `Accept-Language` value, which clients list by preference.
fn preferred_language(value: &str) -> Option<&str> {
    let first = value.split([',', ';']).next()?.trim();
    let is_tag = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_language = !first.is_empty() && first.len() <= 35 && first.chars().all(is_tag);
    is_language.then_some(first)
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use hyper::header::{ACCEPT_LANGUAGE, HeaderValue};
    use resource::Principal;

    use super::with_request_locale;

    fn locale(value: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_str(value).unwrap());
        let principal = with_request_locale(Principal::local(), &headers);
        assert_eq!(principal.key(), Principal::local().key());
        principal.locale().map(str::to_owned)
    }

    #[test]
    fn the_first_language_that_a_client_accepts_is_its_locale() {
        assert_eq!(locale("ja, en;q=0.8").as_deref(), Some("ja"));
        assert_eq!(locale("en-GB;q=0.9").as_deref(), Some("en-GB"));
        for value in ["*", "", "no tag", &"a".repeat(36)] {
            assert_eq!(locale(value), None, "{value:?}");
        }
    }
}
