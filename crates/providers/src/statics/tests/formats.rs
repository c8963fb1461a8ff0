//! Tests of resources with several formats.

use std::path::Path;

use resource::{Content, ErrorKind, Provider, ReadRequest, Window};
use testkit::contract::bytes_of;

use super::{ContentOrigin, Statics, WHOLE, entry, form, is_text, statics, text, try_read, uri};

fn report(path: &Path) -> Statics {
    let mut report = entry(
        "note://report",
        vec![
            form("application/pdf", ContentOrigin::File(path.to_owned())),
            form("text/plain", ContentOrigin::Text("words".to_owned())),
        ],
    );
    report.resource.annotations.priority = Some(0.9);
    statics(vec![report], vec![])
}

#[tokio::test]
async fn each_format_is_a_part_the_primary_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.pdf");
    std::fs::write(&path, "%PDF-1.7").unwrap();
    let statics = report(&path);
    let parts = try_read(&statics, "note://report", &WHOLE).await.unwrap();
    let told: Vec<_> = parts
        .iter()
        .map(|part| (part.resource.mime.as_deref().unwrap(), part.resource.size, is_text(part)))
        .collect();
    assert_eq!(told, [("application/pdf", Some(8), false), ("text/plain", Some(5), true)]);
    assert_eq!(parts[0].resource.annotations, parts[1].resource.annotations);
    assert!(parts[0].resource.annotations.modified.is_some());
    assert_eq!(parts[0].resource.etag, parts[1].resource.etag);
    assert!(parts.iter().all(|part| part.resource.uri == uri("note://report")));
}

#[tokio::test]
async fn all_formats_are_described_and_the_primary_is_the_resource() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.pdf");
    std::fs::write(&path, "%PDF-1.7").unwrap();
    let told = report(&path).stat(&testkit::local_context(), &uri("note://report")).await.unwrap();
    let formats: Vec<_> =
        told.formats.iter().map(|format| (format.mime.as_str(), format.size)).collect();
    assert_eq!(formats, [("application/pdf", Some(8)), ("text/plain", Some(5))]);
    let etags: Vec<_> = told.formats.iter().map(|format| format.etag.as_deref()).collect();
    assert!(etags.iter().all(Option::is_some) && etags[0] != etags[1], "{etags:?}");
    assert_eq!((told.mime.as_deref(), told.size), (Some("application/pdf"), Some(8)));
    let single = statics(vec![text("note://a", "")], vec![]);
    let told = single.stat(&testkit::local_context(), &uri("note://a")).await.unwrap();
    assert_eq!(told.formats, []);
}

#[tokio::test]
async fn a_window_gives_the_primary_format_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.pdf");
    std::fs::write(&path, "%PDF-1.7").unwrap();
    let window = Window::Part { offset: 1, length: 3, etag: None };
    let mut parts = try_read(&report(&path), "note://report", &window).await.unwrap();
    assert_eq!(parts.len(), 1);
    assert_eq!(bytes_of(parts.remove(0).body).await, "PDF");
    let ctx = testkit::local_context();
    let wanted = ReadRequest { format: Some("text/plain".to_owned()), ..window.clone().into() };
    let reading = report(&path).read(&ctx, &uri("note://report"), &wanted).await.unwrap();
    let Content::Parts(mut parts) = reading.content else { panic!("it has content") };
    assert_eq!((parts.len(), reading.total_parts), (1, 1), "a window of the format that is wanted");
    assert_ne!(bytes_of(parts.remove(0).body).await, "PDF");
    let second = ReadRequest { part: Some(1), ..window.into() };
    let reading = report(&path).read(&ctx, &uri("note://report"), &second).await.unwrap();
    assert_eq!(reading.total_parts, 2);
}

#[tokio::test]
async fn the_etag_differs_when_any_format_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.pdf");
    std::fs::write(&path, "%PDF-1.7").unwrap();
    let statics = report(&path);
    let before =
        statics.stat(&testkit::local_context(), &uri("note://report")).await.unwrap().etag.clone();
    std::fs::write(&path, "%PDF-1.7 and more").unwrap();
    let after =
        statics.stat(&testkit::local_context(), &uri("note://report")).await.unwrap().etag.clone();
    assert!(before.is_some() && after.is_some() && before != after);
}

#[tokio::test]
async fn the_limit_is_on_all_formats_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.pdf");
    std::fs::write(&path, "%PDF-1.7").unwrap();
    let statics = report(&path);
    let read = async |limit| try_read(&statics, "note://report", &Window::Whole { limit }).await;
    assert!(read(13).await.is_ok());
    assert_eq!(read(12).await.unwrap_err().kind, ErrorKind::TooLarge);
}
