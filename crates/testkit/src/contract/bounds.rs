//! Contract: unknown URIs, path traversal and foreign cursors are refused.

use bytes::Bytes;
use resource::{Cursor, ErrorKind, PageRequest, Provider, Uri, Window};

use super::Expectations;
use super::ctx;
use super::walk::{NO_LIMIT, expect};

/// Spellings of `../`, some of which only a faulty decoder takes for it.
const DISGUISES: [&str; 14] = [
    "../",
    "%2e%2e/",
    "%2E%2E%2F",
    ".%2e/",
    "..%2f",
    "..%5c",
    "%2e%2e%5c",
    "%252e%252e%252f",
    "%c0%ae%c0%ae/",
    "..%00/",
    "./../",
    ".../../../",
    "..;/",
    "/../",
];

/// Targets of path traversal.
const TARGETS: [&str; 3] = ["etc/passwd", "Cargo.toml", ""];

/// Every request for an unknown URI fails as `NotFound`.
pub async fn unknown_is_not_found(provider: &dyn Provider, expected: &Expectations) {
    assert!(!expected.missing.is_empty(), "the test names no missing URI");
    for uri in &expected.missing {
        for (asked, kind) in refusals(provider, uri).await {
            assert_eq!(kind, Some(ErrorKind::NotFound), "{asked} of {uri}, which is missing");
        }
    }
}

/// No spelling of `..` escapes the provider's root.
pub async fn disguises_lead_nowhere(provider: &dyn Provider, expected: &Expectations) {
    let Some(prefix) = &expected.prefix else { return };
    let mut texts: Vec<String> =
        expected.outside.iter().map(|path| prefix.clone() + path).collect();
    for disguise in DISGUISES {
        for depth in [1, 2, 8] {
            let up = disguise.repeat(depth);
            texts.extend(TARGETS.iter().map(|target| format!("{prefix}{up}{target}")));
            texts.extend(TARGETS.iter().map(|target| format!("{prefix}a/{up}{target}")));
        }
    }
    let refused = [ErrorKind::NotFound, ErrorKind::Invalid, ErrorKind::Denied];
    for uri in texts.iter().filter_map(|text| Uri::parse(text).ok()) {
        for (asked, kind) in refusals(provider, &uri).await {
            let kind = kind.unwrap_or_else(|| panic!("{asked} of {uri} was answered"));
            assert!(refused.contains(&kind), "{asked} of {uri} fails as {kind:?}");
        }
    }
}

/// A foreign cursor fails as `Invalid`, or at worst gives some position in the list.
pub async fn cursors_from_nowhere_are_harmless(provider: &dyn Provider) {
    let ctx = &ctx();
    let first = expect(provider.list(ctx, None, &PageRequest::first(1)).await, "listing");
    let mut cursors: Vec<Vec<u8>> = vec![
        Vec::new(),
        vec![0],
        vec![0xff; 3],
        b"../..".to_vec(),
        b"x://y".to_vec(),
        vec![b'a'; 70_000],
    ];
    if let Some(Cursor(genuine)) = &first.next {
        cursors.push(genuine[..genuine.len() / 2].to_vec());
        cursors.push([genuine, &b"\0more"[..]].concat());
        cursors.push(genuine.iter().map(|byte| byte ^ 0x55).collect());
    }
    for cursor in cursors {
        let ask = PageRequest::new(Some(Cursor(Bytes::from(cursor))), 10);
        let listed = provider.list(ctx, None, &ask).await.map(|_| ());
        let templates = provider.templates(ctx, &ask).await.map(|_| ());
        for answer in [listed, templates] {
            let kind = answer.err().map_or(ErrorKind::Invalid, |error| error.kind);
            assert_eq!(kind, ErrorKind::Invalid, "the answer to {:?}", ask.cursor);
        }
    }
}

/// The error kinds of listing, describing and reading `uri`; `None` for each that succeeds.
async fn refusals(provider: &dyn Provider, uri: &Uri) -> [(&'static str, Option<ErrorKind>); 4] {
    let ctx = &ctx();
    let whole = Window::Whole { limit: NO_LIMIT };
    let part = Window::Part { offset: 0, length: 16, etag: None };
    [
        (
            "list",
            provider.list(ctx, Some(uri), &PageRequest::first(10)).await.err().map(|e| e.kind),
        ),
        ("stat", provider.stat(ctx, uri).await.err().map(|e| e.kind)),
        ("read", provider.read(ctx, uri, &whole.into()).await.err().map(|e| e.kind)),
        ("window", provider.read(ctx, uri, &part.into()).await.err().map(|e| e.kind)),
    ]
}
