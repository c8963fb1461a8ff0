//! Large files: windows and streams that hold no more than they show.

use std::io::{Seek as _, SeekFrom, Write as _};

use futures_util::StreamExt as _;
use redaction::{Redaction, RedactionScope, Redactor};
use resource::{
    Body, ByteSource, Content, ErrorKind, Part, Provider, ReadRequest, Resource, Window,
};

use super::{TestRepo, ctx, read_text, uri};
use crate::git::{Git, Options};

const MIB: u64 = 1 << 20;

/// Reads `length` bytes at `offset`.
async fn window(git: &Git, of: &str, offset: u64, length: u64) -> Part {
    let request = ReadRequest::from(Window::Part { offset, length, etag: None });
    let reading = git.read(&ctx(), &uri(of), &request).await;
    let reading = reading.unwrap_or_else(|error| panic!("{of}: {}", error.with_causes()));
    let Content::Parts(mut parts) = reading.content else { panic!("{of} is a collection") };
    parts.remove(0)
}

fn bytes_of(part: &Part) -> &[u8] {
    match &part.body {
        Body::Text(ByteSource::Bytes(bytes)) | Body::Blob(ByteSource::Bytes(bytes)) => bytes,
        Body::Text(_) | Body::Blob(_) => panic!("a window is a stream"),
    }
}

/// Reads everything as a stream, and what it is.
async fn stream(git: &Git, of: &str) -> (Vec<u8>, bool, Resource) {
    let whole = ReadRequest::whole(u64::MAX);
    let reading = git.read(&ctx(), &uri(of), &whole).await.unwrap();
    let Content::Parts(mut parts) = reading.content else { panic!("{of} is a collection") };
    let part = parts.remove(0);
    let (mut chunks, is_text) = match part.body {
        Body::Text(ByteSource::Stream(chunks)) => (chunks, true),
        Body::Blob(ByteSource::Stream(chunks)) => (chunks, false),
        Body::Text(_) | Body::Blob(_) => panic!("{of} is no stream"),
    };
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.unwrap();
        assert!(!is_text || std::str::from_utf8(&chunk).is_ok(), "whole characters");
        all.extend_from_slice(&chunk);
    }
    (all, is_text, Resource::clone(&part.resource))
}

/// A text of more than 64 MiB, whose characters lie across the edges of any chunk.
fn large_text() -> String {
    let mut text = String::new();
    for line in 0.. {
        if text.len() as u64 > 65 * MIB {
            break;
        }
        text.push_str(&format!(
            "line {line}: 日本語 and some more words, so that there are few lines\n"
        ));
    }
    text
}

fn masked(repo: &TestRepo) -> Git {
    let redactor = std::sync::Arc::new(Redactor::default());
    let redaction = Redaction::new(RedactionScope::Everything, redactor);
    Git::open(&Options { redaction, ..Options::new(repo.path()) }).unwrap()
}

#[tokio::test]
async fn windows_of_a_gibibyte_are_read_loose_and_packed() {
    let repo = TestRepo::new();
    let mut large = std::fs::File::create(repo.path().join("large.bin")).unwrap();
    large.set_len(1 << 30).unwrap();
    large.seek(SeekFrom::Start((1 << 29) + 7)).unwrap();
    large.write_all(b"needle").unwrap();
    drop(large);
    repo.git(&["-c", "core.compression=1", "add", "large.bin"]);
    repo.git(&["commit", "-q", "-m", "large"]);
    repo.write("small.txt", "small\n");
    repo.commit("small");
    let of = "git:///HEAD/large.bin";
    for is_packed in [false, true] {
        if is_packed {
            repo.git(&["-c", "pack.compression=1", "repack", "-q", "-a", "-d"]);
        }
        let git = repo.serve();
        let part = window(&git, of, 1 << 29, 4096).await;
        assert_eq!(&bytes_of(&part)[7..13], b"needle");
        let slice = part.slice.unwrap();
        assert_eq!((slice.offset, slice.length, slice.total), (1 << 29, 4096, 1 << 30));
        assert_eq!(part.resource.size, Some(1 << 30));
        let next = window(&git, of, (1 << 29) + 4096, 4096).await;
        assert!(bytes_of(&next).iter().all(|byte| *byte == 0));
        let behind = window(&git, of, 1 << 31, 4096).await;
        assert_eq!(behind.slice.unwrap().length, 0);
        // A whole reading keeps to its limit.
        let error = git.read(&ctx(), &uri(of), &ReadRequest::whole(10 * MIB)).await.err().unwrap();
        assert_eq!(error.kind, ErrorKind::TooLarge);
        assert!(read_text(&git, "git:///commit/HEAD~1").await.contains("large.bin (too large)"));
        assert_eq!(read_text(&git, "git:///HEAD/small.txt").await, "small\n");
    }
}

#[tokio::test]
async fn windows_of_a_large_text_join_to_the_text() {
    let repo = TestRepo::new();
    let text = large_text();
    repo.write("large.txt", &text);
    repo.commit("large");
    let git = repo.serve();
    let of = "git:///HEAD/large.txt";
    let (mut at, mut joined) = (0, Vec::new());
    while at < text.len() as u64 {
        // More than a window holds: the next one goes on where it ends.
        let part = window(&git, of, at, 3 * MIB + 1).await;
        assert!(matches!(part.body, Body::Text(_)));
        assert!(bytes_of(&part).len() as u64 <= MIB);
        joined.extend_from_slice(bytes_of(&part));
        at = part.slice.unwrap().next_offset().unwrap_or(u64::MAX);
    }
    assert!(joined == text.as_bytes());
    let inside = text.find('本').unwrap() as u64 + 1;
    let part = window(&git, of, inside, 1).await;
    assert_eq!(bytes_of(&part), "語".as_bytes());
    let (all, is_text, resource) = stream(&git, of).await;
    assert!(is_text && all == text.as_bytes());
    assert_eq!(resource.mime.as_deref(), Some("text/plain"));
    let stat = git.stat(&ctx(), &uri(of)).await.unwrap();
    assert_eq!((&stat.etag, stat.size), (&resource.etag, resource.size));
}

#[tokio::test]
async fn a_large_text_that_turns_binary_is_text_where_it_is_text() {
    let repo = TestRepo::new();
    let mut bytes = large_text().into_bytes();
    let end = bytes.len() as u64;
    bytes.extend_from_slice(&[0xff, 0, 0xfe, 0]);
    repo.write("mixed.txt", &bytes);
    repo.commit("mixed");
    let git = repo.serve();
    let of = "git:///HEAD/mixed.txt";
    assert!(matches!(window(&git, of, 40 * MIB, 4096).await.body, Body::Text(_)));
    let tail = window(&git, of, end, 4096).await;
    assert!(matches!(tail.body, Body::Blob(_)));
    assert_eq!(bytes_of(&tail), [0xff, 0, 0xfe, 0]);
    let (all, is_text, _) = stream(&git, of).await;
    assert!(!is_text && all == bytes);
}

#[tokio::test]
async fn a_large_text_in_another_charset_is_decoded() {
    let repo = TestRepo::new();
    let line = "日本語のテキスト、十分に長い行\n".repeat(40);
    let coded = encoding_rs::SHIFT_JIS.encode(&line).0.into_owned();
    let count = 65 * MIB as usize / coded.len() + 1;
    repo.write("sjis.txt", coded.repeat(count));
    repo.commit("coded");
    let git = repo.serve();
    let of = "git:///HEAD/sjis.txt";
    let offset = (line.len() * (count - 1)) as u64;
    let part = window(&git, of, offset, 45).await;
    assert_eq!(bytes_of(&part), &line.as_bytes()[..45]);
    assert_eq!(part.slice.unwrap().total, (line.len() * count) as u64);
    assert_eq!(part.resource.charset, Some("Shift_JIS"));
}

#[tokio::test]
async fn secrets_in_a_large_text_are_masked_in_every_window() {
    let repo = TestRepo::new();
    let secret = format!("ghp_{}", "q7Zr2LkX9mTb4WvN8sYc1HdP5fGj3A".to_owned() + "0aBcDe");
    let mut text = large_text();
    let at = text.find("line 500000:").unwrap();
    text.insert_str(at, &format!("see {secret} there\n"));
    repo.write("notes.txt", &text);
    repo.write("large.json", &text);
    repo.write("image", vec![0; 65 << 20]);
    repo.write("id_rsa", vec![0; 65 << 20]);
    repo.commit("large");
    let git = masked(&repo);
    let of = "git:///HEAD/notes.txt";
    assert_eq!(git.stat(&ctx(), &uri(of)).await.unwrap().size, None);
    let (all, is_text, resource) = stream(&git, of).await;
    let all = String::from_utf8(all).unwrap();
    assert!(is_text && !all.contains(&secret[..20]));
    assert!(all.contains("see [redacted "), "the mask stands there");
    assert_eq!(resource.size, Some(all.len() as u64));
    for offset in (at as u64..at as u64 + 60).step_by(7) {
        for length in [1, 9, 100] {
            let part = window(&git, of, offset, length).await;
            let slice = part.slice.clone().unwrap();
            let (start, end) = (slice.offset as usize, (slice.offset + slice.length) as usize);
            assert_eq!(bytes_of(&part), &all.as_bytes()[start..end]);
            assert_eq!(slice.total, all.len() as u64);
        }
    }
    let first_bytes = |of| {
        let request = ReadRequest::from(Window::Part { offset: 0, length: 9, etag: None });
        let git = &git;
        async move { git.read(&ctx(), &uri(of), &request).await }
    };
    // What is named like a key and is no text is not shown, whatever else has the same content.
    first_bytes("git:///HEAD/image").await.unwrap();
    let key = first_bytes("git:///HEAD/id_rsa").await.err().unwrap();
    assert_eq!(key.kind, ErrorKind::Unsupported);
    // A file whose keys would have to be read is not shown at all.
    assert_eq!(
        first_bytes("git:///HEAD/large.json").await.err().unwrap().kind,
        ErrorKind::TooLarge
    );
}

#[tokio::test]
async fn a_large_file_stored_as_a_difference_is_refused_with_what_to_do() {
    let repo = TestRepo::new();
    let mut text = large_text();
    repo.write("large.txt", &text);
    repo.commit("first");
    text.push_str("one line more\n");
    repo.write("large.txt", &text);
    repo.commit("second");
    repo.git(&["-c", "pack.compression=1", "repack", "-q", "-a", "-d"]);
    let git = repo.serve();
    let request = ReadRequest::from(Window::Part { offset: 9, length: 9, etag: None });
    let (mut read, mut refused) = (0, 0);
    for revision in ["HEAD", "HEAD~1"] {
        let of = uri(&format!("git:///{revision}/large.txt"));
        match git.read(&ctx(), &of, &request).await {
            Ok(_) => read += 1,
            Err(error) => {
                refused += 1;
                assert_eq!(error.kind, ErrorKind::TooLarge);
                let blob = repo.git_text(&["rev-parse", &format!("{revision}:large.txt")]);
                assert!(error.message.contains(&format!("git cat-file blob {blob} > FILE")));
            }
        }
    }
    assert_eq!((read, refused), (1, 1), "git stores one of them as a difference");
}

#[tokio::test]
async fn a_large_object_that_is_cut_off_is_an_error() {
    let repo = TestRepo::new();
    repo.write("large.bin", vec![7; 70 << 20]);
    repo.commit("large");
    let blob = repo.git_text(&["rev-parse", "HEAD:large.bin"]);
    let path = repo.path().join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let git = repo.serve();
    let of = "git:///HEAD/large.bin";
    assert_eq!(bytes_of(&window(&git, of, 0, 4).await), [7; 4]);
    let request = ReadRequest::from(Window::Part { offset: 69 << 20, length: 9, etag: None });
    let error = git.read(&ctx(), &uri(of), &request).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unavailable);
}
