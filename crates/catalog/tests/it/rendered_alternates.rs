//! Property of format alternates (SEP-2093), over every kind of document and the real converters.

use std::sync::Arc;

use catalog::layers::Layer;
use catalog::layers::rendered::Rendered;
use convert::{DocumentKind, Form};
use proptest::prelude::{ProptestConfig, Strategy, prop, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::TestCaseError;
use redaction::Redaction;
use resource::{Accept, Provider, Resource};
use testkit::MemoryProvider;
use testkit::documents::{DOCUMENT_ENDINGS, document};

use crate::rendered::{of_format, read_parts, uri, whole};
use crate::rendered_secrets::LocalConverter;

/// A mount with one document, which its source says is of `mime`.
fn desk(name: &str, bytes: &[u8], mime: &str) -> (Arc<dyn Provider>, String) {
    let uri = format!("file:///app/{name}");
    let memory = match std::str::from_utf8(bytes) {
        Ok(text) if !text.starts_with("%PDF") => MemoryProvider::new().text(&uri, text),
        _ => MemoryProvider::new().blob(&uri, bytes),
    };
    let memory = memory.of_type(mime).with_description(|resource| {
        resource.title = Some("A title".to_owned());
        resource.annotations.priority = Some(0.5);
    });
    let (converter, redaction) = (Arc::new(LocalConverter), Redaction::default());
    let layer = Rendered { converter, redaction, formats: Accept::default(), keep: false };
    (layer.around(Arc::new(memory)), uri)
}

/// What a client of another maker relies on: one URI, distinct types, the primary one first, and each
/// alternate with its own size and version and the name and annotations of all.
async fn check_alternates(
    provider: &dyn Provider,
    of: &str,
    mime: &str,
) -> Result<(), TestCaseError> {
    let ctx = testkit::local_context();
    let described = provider.stat(&ctx, &uri(of)).await.unwrap();
    let types: Vec<&str> = described.formats.iter().map(|format| format.mime.as_str()).collect();
    prop_assert_eq!(types.first().copied(), Some(mime), "the primary first");
    let mut distinct: Vec<String> = types.iter().map(|mime| mime.to_ascii_lowercase()).collect();
    distinct.sort();
    distinct.dedup();
    prop_assert_eq!(distinct.len(), types.len(), "{:?}", types);

    let mut alternates: Vec<(Arc<Resource>, usize)> = Vec::new();
    for wanted in &types {
        let parts = read_parts(provider, of, &of_format(wanted)).await;
        let mut parts = parts.unwrap_or_else(|error| panic!("{of} {wanted} {error}"));
        prop_assert_eq!(parts.len(), 1, "{} {}", of, wanted);
        let (part, body) = parts.remove(0);
        prop_assert_eq!(part.mime.as_deref(), Some(*wanted));
        alternates.push((part, body.len()));
    }
    let (primary, _) = &alternates[0];
    for (at, (part, length)) in alternates.iter().enumerate() {
        prop_assert_eq!(&part.uri, &primary.uri);
        prop_assert_eq!((&part.name, &part.title), (&primary.name, &primary.title));
        prop_assert_eq!(&part.annotations, &primary.annotations);
        let is_text = Form::of_mime(types[at]).is_some_and(Form::is_text);
        // Bytes that are no text were counted as text here.
        prop_assert!(!is_text || part.size == Some(*length as u64), "{} {}", of, types[at]);
        let others = alternates.iter().enumerate().filter(|(other, _)| *other != at);
        let is_own = others.into_iter().all(|(_, (other, _))| other.etag != part.etag);
        prop_assert!(part.etag.is_some() && is_own, "{} {}", of, types[at]);
    }
    let parts = read_parts(provider, of, &whole()).await.unwrap();
    let given: Vec<_> = parts.iter().map(|(part, _)| part.mime.as_deref().unwrap()).collect();
    prop_assert_eq!(&given[..], &types[..given.len()], "a plain reading begins like the formats");
    Ok(())
}

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z]{1,6}|日本語|[0-9.]{1,4}", 1..6).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn every_alternate_of_every_kind_obeys_sep_2093(words in words()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut kinds: Vec<DocumentKind> = DocumentKind::all().collect();
        for ending in DOCUMENT_ENDINGS {
            let name = format!("report.{ending}");
            let kind = DocumentKind::of_name(&name, None).unwrap();
            kinds.retain(|other| *other != kind);
            let (provider, of) = desk(&name, &document(ending, &words), kind.mime());
            runtime.block_on(check_alternates(&*provider, &of, kind.mime()))?;
        }
        prop_assert!(kinds.is_empty(), "{:?} have no document", kinds);
    }
}

/// Another server may say `text/plain` of what is HTML.
#[tokio::test]
async fn a_type_that_a_form_has_too_stands_once() {
    for declared in ["text/plain", "text/plain; charset=utf-8", "Text/Plain"] {
        let (provider, of) = desk("page.html", b"<p>Words</p>", declared);
        check_alternates(&*provider, &of, declared).await.unwrap();
        let described = provider.stat(&testkit::local_context(), &uri(&of)).await.unwrap();
        let types: Vec<_> = described.formats.iter().map(|format| format.mime.as_str()).collect();
        assert_eq!(types, [declared, "text/markdown", "text/html;variant=sanitised"]);
        let plain = read_parts(&*provider, &of, &of_format("text/plain")).await.unwrap();
        assert_eq!(plain[0].1, "<p>Words</p>", "the original");
        let html = read_parts(&*provider, &of, &of_format("text/html")).await.unwrap();
        assert_eq!(html[0].0.mime.as_deref(), Some("text/html;variant=sanitised"));
    }
}
