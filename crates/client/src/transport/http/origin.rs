//! URL checks: accepted addresses, and same-origin resolution of redirects and endpoints.

use hyper::Uri;

use crate::error::Error;

/// Parses an http or https URL without credentials.
pub(crate) fn parse_url(url: &str) -> Result<Uri, Error> {
    let bad = |why: &str| Error::Unreachable(format!("the URL {why}"));
    let plain = url.split('#').next().unwrap_or_default();
    let uri: Uri = plain.parse().map_err(|_| bad("is not valid http or https"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(bad("is not valid http or https"));
    }
    let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
    if authority.contains('@') {
        return Err(bad("contains credentials; send them in a header instead"));
    }
    Ok(uri)
}

/// Resolves `reference` against `base`; `None` if the result has another origin.
pub(super) fn resolve_same_origin(base: &Uri, reference: &str) -> Option<Uri> {
    let reference = reference.trim();
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    let absolute = if reference.contains("://") {
        reference.to_owned()
    } else if let Some(rest) = reference.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if reference.starts_with('/') {
        format!("{scheme}://{authority}{reference}")
    } else if reference.starts_with('?') {
        format!("{scheme}://{authority}{}{reference}", base.path())
    } else {
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{reference}")
    };
    parse_url(&absolute).ok().filter(|uri| is_same_origin(base, uri))
}

fn is_same_origin(one: &Uri, other: &Uri) -> bool {
    let place = |uri: &Uri| {
        let host = uri.host().map(str::to_ascii_lowercase);
        let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        (uri.scheme_str().map(str::to_owned), host, uri.port_u16().unwrap_or(usual))
    };
    place(one) == place(other)
}

#[cfg(test)]
mod tests {
    use super::{parse_url, resolve_same_origin};

    #[test]
    fn an_address_of_another_server_is_none() {
        let base = parse_url("http://h:80/a/sse?x=1").unwrap();
        let resolved =
            |reference: &str| resolve_same_origin(&base, reference).map(|uri| uri.to_string());
        assert_eq!(resolved("/m?s=1").as_deref(), Some("http://h:80/m?s=1"));
        assert_eq!(resolved("m?s=1").as_deref(), Some("http://h:80/a/m?s=1"));
        assert_eq!(resolved("?s=1").as_deref(), Some("http://h:80/a/sse?s=1"));
        assert_eq!(resolved("http://H/m").as_deref(), Some("http://H/m"));
        for other in ["http://h:81/m", "https://h/m", "http://evil/m", "//evil/m", "ftp://h/m"] {
            assert_eq!(resolved(other), None, "{other}");
        }
        assert_eq!(resolved("http://h@evil/m"), None);
        assert_eq!(resolved("http://u@h/m"), None);
    }

    #[test]
    fn an_address_with_credentials_is_not_taken_and_not_told() {
        for url in ["http://u:s3cret@h/", "s3cret", "file:///s3cret", ""] {
            let error = parse_url(url).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
