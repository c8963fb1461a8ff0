//! Target `uri`: URIs, percent-encoding, and the addresses of mounts.

use catalog::Address;
use resource::Uri;
use resource::uri::{encode_segment, expand_reserved, percent_decode, reserved_value};
use testkit::FuzzTarget;

use super::text_of;

pub(crate) const TARGET: FuzzTarget = FuzzTarget { name: "uri", examples: EXAMPLES, check };

const EXAMPLES: &[&[u8]] = &[
    b"file:///project/src/a%20b.rs",
    b"file:///notes",
    b"file:///notes/a?x=1#y",
    b"git+ssh://user@host:1/a%2Fb/c?q=1&r=%C3%A9#f",
    b"urn:isbn:1",
    b"notes+ui://notes/page",
    b"ui://notes+app/page.html",
    b"notes+file:///a",
    "mem://café/日本".as_bytes(),
    b"data:text/plain;base64,AAAA",
    b"x://[::1]:80/~a/./../b",
];

fn check(input: &[u8]) {
    let text = text_of(input);
    check_encoding(input, &text);
    let Ok(uri) = Uri::parse(&text) else { return };
    assert_eq!(uri.as_str(), text, "a URI is kept as it was written");
    assert!(text.starts_with(&format!("{}:", uri.scheme())));
    let head = uri.authority().map_or(String::new(), |authority| format!("//{authority}"));
    let whole = format!("{}:{head}{}", uri.scheme(), uri.path());
    let rest = text.strip_prefix(&whole).expect("the parts are those of the URI, in order");
    assert!(rest.is_empty() || rest.starts_with(['?', '#']), "{rest:?}");
    check_addresses(&uri);
}

/// Decoding undoes encoding, whatever the bytes.
fn check_encoding(bytes: &[u8], text: &str) {
    let mut encoded = String::from("x:/");
    encode_segment(bytes, &mut encoded);
    let uri = Uri::parse(&encoded).expect("an encoded segment is part of a URI");
    assert_eq!(&percent_decode(&uri.path()[1..])[..], bytes);
    let _ = percent_decode(text);
    let mut expanded = String::from("x:");
    expand_reserved(&reserved_value(text), &mut expanded);
    let uri = Uri::parse(&expanded).expect("an expanded value is part of a URI");
    let path = uri.path();
    assert_eq!(path.len() + 2, expanded.len() - uri.authority().map_or(0, |a| a.len() + 2));
    assert_eq!(&percent_decode(&expanded[2..])[..], text.as_bytes());
    let mut again = String::from("x:");
    expand_reserved(&expanded[2..], &mut again);
    assert_eq!(again, expanded, "what is encoded stays as it is");
}

/// Stripping a mount's name undoes adding it, and the other way round.
fn check_addresses(uri: &Uri) {
    let name = || "notes".to_owned();
    let scheme = Address::Scheme { name: name() };
    let path = Address::Path { scheme: "file", name: name() };
    for address in [&scheme, &path] {
        if let Ok(public) = address.join(uri) {
            let local = address.split(&public).expect("a mount's own URI belongs to it");
            assert_eq!(address.join(&local).ok(), Some(public));
        }
        if let Some(local) = address.split(uri) {
            let public = address.join(&local).expect("a local URI has a public one");
            assert_eq!(address.split(&public), Some(local));
        }
    }
    if let Ok(public) = scheme.join(uri) {
        assert_eq!(scheme.split(&public).as_ref(), Some(uri));
    }
}
