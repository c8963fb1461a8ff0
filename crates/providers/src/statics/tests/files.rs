//! Tests of file content: always current, text or blob, streamed if large.

use std::fs;
use std::time::Duration;

use futures_util::StreamExt;
use resource::{Body, ByteSource, ErrorKind, PageRequest, Provider, Window};

use super::{WHOLE, file, is_text, read, statics, text, try_read, uri};

#[tokio::test]
async fn an_edit_shows_in_list_stat_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "before").unwrap();
    let statics =
        statics(vec![text("note://x", "x"), file("note://a", "text/plain", &path)], vec![]);
    let ctx = testkit::local_context();
    let before = statics.stat(&ctx, &uri("note://a")).await.unwrap();
    assert_eq!(before.annotations.modified, fs::metadata(&path).unwrap().modified().ok());
    fs::write(&path, "and after").unwrap();
    let after = statics.stat(&ctx, &uri("note://a")).await.unwrap();
    assert_eq!((before.size, after.size), (Some(6), Some(9)));
    assert_ne!(before.etag, after.etag);
    let page = statics.list(&ctx, None, &PageRequest::first(10)).await.unwrap();
    assert_eq!(page.items[1], after);
    assert_eq!(page.items[0].uri, uri("note://x"));
    let parts = try_read(&statics, "note://a", &WHOLE).await.unwrap();
    assert_eq!(parts[0].resource, after);
    assert_eq!(read(&statics, "note://a").await, b"and after");
}

#[tokio::test]
async fn a_missing_file_is_unavailable_and_still_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone.txt");
    let statics =
        statics(vec![file("note://a", "text/plain", &path), text("note://b", "b")], vec![]);
    let page =
        statics.list(&testkit::local_context(), None, &PageRequest::first(10)).await.unwrap();
    assert_eq!(page.items.len(), 2);
    assert_eq!((page.items[0].size, page.items[0].etag.clone()), (None, None));
    assert!(statics.stat(&testkit::local_context(), &uri("note://a")).await.is_ok());
    let error = try_read(&statics, "note://a", &WHOLE).await.unwrap_err();
    assert_eq!((error.kind, error.uri.clone()), (ErrorKind::Unavailable, Some(uri("note://a"))));
    assert!(!error.message.contains("gone.txt"), "{}", error.message);
    assert_eq!(read(&statics, "note://b").await, b"b");
}

#[tokio::test]
async fn a_folder_in_the_place_of_a_file_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let statics = statics(vec![file("note://a", "text/plain", folder.path())], vec![]);
    let error = try_read(&statics, "note://a", &WHOLE).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_file_is_text_if_it_is_utf8_and_its_format_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    for (mime, bytes, expected) in [
        ("text/plain", &b"words"[..], true),
        ("text/plain", &[0xff, 0xfe][..], false),
        ("application/x-anything", &b"words"[..], true),
        ("application/pdf", &b"words"[..], false),
        ("image/png; x=y", &b"words"[..], false),
        ("image/svg+xml", &b"<svg/>"[..], true),
    ] {
        fs::write(&path, bytes).unwrap();
        let statics = statics(vec![file("note://a", mime, &path)], vec![]);
        let parts = try_read(&statics, "note://a", &WHOLE).await.unwrap();
        assert_eq!(is_text(&parts[0]), expected, "{mime}");
    }
}

#[tokio::test]
async fn a_large_file_is_streamed_in_chunks_of_whole_characters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.txt");
    let words = format!("a{}", "日".repeat(700_000));
    fs::write(&path, &words).unwrap();
    let statics = statics(vec![file("note://a", "text/plain", &path)], vec![]);
    let part = try_read(&statics, "note://a", &WHOLE).await.unwrap().remove(0);
    let Body::Text(ByteSource::Stream(mut stream)) = part.body else {
        panic!("not a stream of text")
    };
    let mut all = String::new();
    let mut count = 0;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.unwrap();
        assert!(chunk.len() <= 256 * 1024);
        all.push_str(std::str::from_utf8(&chunk).unwrap());
        count += 1;
    }
    assert!(all == words && count > 5, "{count} chunks");
}

#[tokio::test]
async fn a_large_file_with_one_wrong_byte_at_its_end_is_a_blob_in_every_window() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.txt");
    let mut bytes = vec![b'a'; 1_200_000];
    bytes.push(0xc3);
    fs::write(&path, &bytes).unwrap();
    let statics = statics(vec![file("note://a", "text/plain", &path)], vec![]);
    let window = Window::Part { offset: 10, length: 10, etag: None };
    assert!(!is_text(&try_read(&statics, "note://a", &window).await.unwrap()[0]));
    assert!(read(&statics, "note://a").await == bytes);
    bytes.pop();
    fs::write(&path, &bytes).unwrap();
    assert!(is_text(&try_read(&statics, "note://a", &window).await.unwrap()[0]));
}

#[tokio::test]
async fn a_declared_date_is_kept_and_a_files_date_is_taken_where_none_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "a").unwrap();
    let declared = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(5);
    let mut dated = file("note://dated", "text/plain", &path);
    dated.resource.annotations.modified = Some(declared);
    let statics = statics(vec![dated, file("note://a", "text/plain", &path)], vec![]);
    let ctx = testkit::local_context();
    let told = statics.stat(&ctx, &uri("note://dated")).await.unwrap();
    assert_eq!(told.annotations.modified, Some(declared));
    let told = statics.stat(&ctx, &uri("note://a")).await.unwrap();
    assert_eq!(told.annotations.modified, fs::metadata(&path).unwrap().modified().ok());
}

#[tokio::test]
async fn a_file_cut_short_while_it_is_streamed_ends_in_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.bin");
    fs::write(&path, vec![0xff; 2_000_000]).unwrap();
    let statics = statics(vec![file("note://a", "text/plain", &path)], vec![]);
    let part = try_read(&statics, "note://a", &WHOLE).await.unwrap().remove(0);
    let Body::Blob(ByteSource::Stream(mut stream)) = part.body else {
        panic!("not a stream of bytes")
    };
    assert!(stream.next().await.unwrap().is_ok());
    fs::File::options().write(true).open(&path).unwrap().set_len(300_000).unwrap();
    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed);
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_large_file_that_changes_while_it_is_read_ends_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.txt");
    let old = std::time::SystemTime::now() - Duration::from_secs(3600);
    for change in ["overwritten", "truncated", "replaced"] {
        fs::write(&path, "a".repeat(3 << 20)).unwrap();
        fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
        let statics = statics(vec![file("note://a", "text/plain", &path)], vec![]);
        let parts = try_read(&statics, "note://a", &WHOLE).await.unwrap();
        match change {
            "overwritten" => fs::write(&path, "b".repeat(3 << 20)).unwrap(),
            "truncated" => fs::File::options().write(true).open(&path).unwrap().set_len(9).unwrap(),
            _ => {
                let beside = folder.path().join("beside");
                fs::write(&beside, "new").unwrap();
                fs::rename(&beside, &path).unwrap();
            }
        }
        let Body::Text(ByteSource::Stream(stream)) = parts.into_iter().next().unwrap().body else {
            panic!("a large file is a stream");
        };
        let chunks: Vec<_> = stream.collect().await;
        let ended = chunks.into_iter().collect::<Result<Vec<_>, _>>();
        match change {
            "replaced" => assert_eq!(ended.unwrap().concat(), "a".repeat(3 << 20).as_bytes()),
            _ => assert_eq!(ended.unwrap_err().kind, ErrorKind::Changed, "{change}"),
        }
    }
}
