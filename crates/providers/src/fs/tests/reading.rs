//! Tests of reading whole files: text, charset, MIME type, size limits.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;

use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, WINDOWS_1252};
use futures_util::StreamExt as _;
use resource::{Body, ByteSource, ErrorKind, Window};

use super::{ListingMode, Tree, bytes, chunks, is_text, uri};
use crate::fs::budget::WorkBudget;
use crate::fs::path::UriPath;

const MIB: usize = 1024 * 1024;
const SENTENCE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\r\n";

fn tree(name: &str, content: impl AsRef<[u8]>) -> Tree {
    let tree = Tree::of([]);
    tree.write(name, content);
    tree
}

#[tokio::test]
async fn text_is_given_untouched_and_under_the_uri_asked_for() {
    let text = "\u{feff}a\r\nb\u{0}c".replace('\u{0}', "日本😀");
    let tree = tree("a b.md", &text);
    let part = tree.serve(ListingMode::Flat).whole("file:///%61%20b.md").await.unwrap();
    assert_eq!(part.resource.uri.as_str(), "file:///%61%20b.md");
    assert_eq!(part.resource.mime.as_deref(), Some("text/markdown"));
    assert_eq!((part.resource.charset, part.slice.is_none()), (None, true));
    assert_eq!(part.resource.size, Some(text.len() as u64));
    assert!(is_text(&part));
    assert_eq!(bytes(part.body).await, text);
}

#[tokio::test]
async fn old_charsets_are_given_as_utf_8_and_named() {
    let western = "Der Bär läuft über die Straße, «très élégant», 50 € kostet es.";
    for (charset, text) in [
        (SHIFT_JIS, SENTENCE),
        (EUC_JP, SENTENCE),
        (ISO_2022_JP, SENTENCE),
        (WINDOWS_1252, western),
    ] {
        let encoded = charset.encode(text).0;
        let tree = tree("a.txt", &encoded);
        let part = tree.serve(ListingMode::Flat).whole("file:///a.txt").await.unwrap();
        assert_eq!(part.resource.charset, Some(charset.name()));
        assert_eq!(part.resource.size, Some(encoded.len() as u64));
        assert!(is_text(&part));
        assert_eq!(bytes(part.body).await, text);
    }
}

#[tokio::test]
async fn utf_16_is_given_without_its_mark() {
    let wide: Vec<u8> =
        format!("\u{feff}{SENTENCE}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let tree = tree("a", wide);
    let part = tree.serve(ListingMode::Flat).whole("file:///a").await.unwrap();
    assert_eq!(part.resource.charset, Some("UTF-16LE"));
    assert_eq!(part.resource.mime.as_deref(), Some("text/plain"));
    assert_eq!(bytes(part.body).await, SENTENCE);
}

#[tokio::test]
async fn what_is_not_text_is_a_blob_of_the_type_it_shows() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    for (name, content, mime) in [
        ("a.md", &png[..], "image/png"),
        ("a", png, "image/png"),
        ("a.txt", b"a\0b", "application/octet-stream"),
        ("a", b"\x01\xff\0", "application/octet-stream"),
        ("a.png", b"\x01\xff\0", "image/png"),
        ("a.pdf", b"%PDF-1.4 letters", "application/pdf"),
    ] {
        let tree = tree(name, content);
        let part = tree.serve(ListingMode::Flat).whole(&format!("file:///{name}")).await.unwrap();
        assert!(!is_text(&part), "{name}");
        assert_eq!(part.resource.mime.as_deref(), Some(mime), "{name}");
        assert_eq!(bytes(part.body).await, content);
    }
    let tree = tree("empty", "");
    let part = tree.serve(ListingMode::Flat).whole("file:///empty").await.unwrap();
    assert!(is_text(&part) && part.resource.mime.as_deref() == Some("text/plain"));
}

#[tokio::test]
async fn what_is_over_the_limit_is_refused_with_the_window_to_ask_for() {
    let tree = tree("a.txt", vec![b'a'; 1_001]);
    let desk = tree.serve(ListingMode::Flat);
    let whole = |limit| desk.part("file:///a.txt", Window::Whole { limit });
    assert!(whole(1_001).await.is_ok());
    let error = whole(1_000).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert!(error.message.contains("1001") && error.message.contains("offset 0, length 1000"));
    assert!(error.uri.is_some());
}

#[tokio::test]
async fn large_files_are_given_in_pieces_of_bounded_size() {
    let text = SENTENCE.repeat(3 * MIB / SENTENCE.len());
    let mut binary = vec![0xfe_u8; 3 * MIB + 5];
    binary[10] = 0;
    let mut late = text.clone().into_bytes();
    late.push(0);
    let cases: [(&[u8], bool); 3] = [(text.as_bytes(), true), (&binary, false), (&late, false)];
    for (content, expected) in cases {
        let tree = tree("a", content);
        let part = tree.serve(ListingMode::Flat).whole("file:///a").await.unwrap();
        assert_eq!(is_text(&part), expected);
        let chunks = chunks(part.body).await;
        assert!(chunks.len() >= 12 && chunks.iter().all(|chunk| chunk.len() <= 257 * 1024));
        if expected {
            assert!(chunks.iter().all(|chunk| std::str::from_utf8(chunk).is_ok()));
        }
        assert!(chunks.concat() == content);
    }
}

#[tokio::test]
async fn large_files_in_old_charsets_are_decoded_in_pieces() {
    let text = SENTENCE.repeat(4 * MIB / SENTENCE.len());
    let ascii = "plain ascii at first\n".repeat(200 * 1024 / 21);
    for (charset, text) in [
        (SHIFT_JIS, text.clone()),
        (ISO_2022_JP, text.clone()),
        (EUC_JP, format!("{ascii}{text}")),
        (ISO_2022_JP, format!("{ascii}{text}")),
    ] {
        let tree = tree("a.txt", charset.encode(&text).0);
        let part = tree.serve(ListingMode::Flat).whole("file:///a.txt").await.unwrap();
        assert_eq!(part.resource.charset, Some(charset.name()));
        let chunks = chunks(part.body).await;
        assert!(chunks.len() > 8 && chunks.iter().all(|chunk| chunk.len() <= 256 * 1024));
        assert!(chunks.concat() == text.as_bytes());
    }
}

#[tokio::test]
async fn a_large_file_that_breaks_its_charset_late_is_a_blob() {
    let text = SENTENCE.repeat(2 * MIB / SENTENCE.len());
    let bytes_of = |charset: &'static Encoding| charset.encode(&text).0.into_owned();
    for mut content in [text.clone().into_bytes(), bytes_of(SHIFT_JIS), bytes_of(EUC_JP)] {
        content.extend_from_slice(b"\x01\xff\xff\x80");
        let tree = tree("a.txt", &content);
        let part = tree.serve(ListingMode::Flat).whole("file:///a.txt").await.unwrap();
        assert!(!is_text(&part));
        assert!(bytes(part.body).await == content);
    }
}

#[tokio::test]
async fn only_short_texts_in_old_charsets_are_decoded_on_an_async_thread() {
    let text = SENTENCE.repeat(500 * 1024 / SENTENCE.len());
    let shift_jis = SHIFT_JIS.encode(&text).0.into_owned();
    let wide: Vec<u8> =
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let colours = "\u{1b}(Jcolours\n".repeat(10_000);
    let cases: [(&[u8], bool); 6] = [
        (text.as_bytes(), true),
        (&shift_jis[..8 * 1024], true),
        (&shift_jis, false),
        (&wide, false),
        (colours.as_bytes(), false),
        (&[0; MIB], true),
    ];
    for (content, expected) in cases {
        let tree = tree("a", content);
        let served = tree.serve(ListingMode::Flat);
        let uri = uri("file:///a");
        let path = UriPath::parse(&uri).unwrap();
        let whole = Window::Whole { limit: u64::MAX };
        let read = served.0.root.read_content(&uri, &path, &whole, &WorkBudget::inline(None));
        assert_eq!(read.is_ok(), expected, "{} bytes", content.len());
        assert!(served.whole("file:///a").await.is_ok());
    }
}

/// How a stream ended: all its bytes, or the kind of its error.
async fn streamed(body: Body) -> Result<Vec<u8>, ErrorKind> {
    let (Body::Text(ByteSource::Stream(mut stream)) | Body::Blob(ByteSource::Stream(mut stream))) =
        body
    else {
        panic!("no stream");
    };
    let mut all = Vec::new();
    while let Some(chunk) = stream.next().await {
        all.extend_from_slice(&chunk.map_err(|error| error.kind)?);
    }
    Ok(all)
}

#[tokio::test]
async fn a_stream_of_a_file_that_changes_meanwhile_ends_with_an_error() {
    let text = SENTENCE.repeat(3 * MIB / SENTENCE.len());
    let shift_jis = SHIFT_JIS.encode(&text).0.into_owned();
    let mut binary = vec![0xfe_u8; 3 * MIB];
    binary[10] = 0;
    let changes: [fn(&Tree); 4] = [
        |tree| fs::write(tree.at("a"), vec![b'x'; 3 * MIB]).unwrap(),
        |tree| fs::write(tree.at("a"), vec![0xff; 2 * MIB]).unwrap(),
        |tree| open_to_append(tree).set_len(MIB as u64 + 1).unwrap(),
        |tree| open_to_append(tree).write_all(b"more").unwrap(),
    ];
    for content in [text.as_bytes(), &shift_jis, &binary] {
        for change in changes {
            let tree = tree("a", content);
            set_modified_long_ago(&tree);
            let served = tree.serve(ListingMode::Flat);
            let part = served.whole("file:///a").await.unwrap();
            let window = served.window("file:///a", 3, 2 * MIB as u64).await;
            change(&tree);
            assert_eq!(streamed(part.body).await, Err(ErrorKind::Changed));
            assert_eq!(streamed(window.body).await, Err(ErrorKind::Changed));
        }
    }
}

#[tokio::test]
async fn a_file_that_is_replaced_while_it_is_read_is_read_to_its_end() {
    let text = SENTENCE.repeat(3 * MIB / SENTENCE.len());
    let tree = tree("a", &text);
    let served = tree.serve(ListingMode::Flat);
    let part = served.whole("file:///a").await.unwrap();
    tree.write("b", "new");
    fs::rename(tree.at("b"), tree.at("a")).unwrap();
    assert!(streamed(part.body).await == Ok(text.into_bytes()));
    assert_eq!(served.text("file:///a").await, "new");
}

fn open_to_append(tree: &Tree) -> File {
    OpenOptions::new().append(true).open(tree.at("a")).unwrap()
}

/// The clock of a file system may be too coarse to tell two writes of one test apart.
fn set_modified_long_ago(tree: &Tree) {
    open_to_append(tree).set_modified(std::time::UNIX_EPOCH).unwrap();
}

/// Number of read calls this thread has made so far.
fn reads_so_far() -> u64 {
    let counters = fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = counters.lines().find_map(|line| line.strip_prefix("syscr: ")).unwrap();
    line.parse().unwrap()
}

#[tokio::test]
async fn a_file_at_hand_is_read_in_one_go() {
    for (size, text) in [(1_024, "a"), (MIB - 1, "日本語")] {
        let tree = tree("a", &text.repeat(MIB)[..size / 3 * 3]);
        let mut desk = tree.serve(ListingMode::Flat);
        desk.set_local(true);
        let own = reads_so_far();
        let own = reads_so_far() - own;
        let before = reads_so_far();
        let part = desk.whole("file:///a").await.unwrap();
        assert_eq!(reads_so_far() - before - own, 1);
        assert!(
            matches!(part.body, Body::Text(ByteSource::Bytes(bytes)) if bytes.len() == size / 3 * 3)
        );
    }
}

#[tokio::test]
async fn pieces_can_be_encoded_one_by_one_and_none_is_read_before_it_is_asked_for() {
    let mut content = vec![0xfe_u8; MIB + 100];
    content[0] = 0;
    let tree = tree("a", &content);
    let desk = tree.serve(ListingMode::Flat);
    let blob = async || match desk.whole("file:///a").await.unwrap().body {
        Body::Blob(ByteSource::Stream(stream)) => stream,
        _ => panic!("no stream"),
    };
    let pieces: Vec<_> = blob().await.map(Result::unwrap).collect().await;
    let (last, full) = pieces.split_last().unwrap();
    assert!(full.iter().all(|piece| piece.len() == 192 * 1024 && piece.len() % 3 == 0));
    assert_eq!(last.len(), content.len() - 192 * 1024 * full.len());
    let mut stream = blob().await;
    let first = stream.next().await.unwrap().unwrap();
    OpenOptions::new().write(true).open(tree.at("a")).unwrap().set_len(first.len() as u64).unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap_err().kind, ErrorKind::Changed);
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn small_files_are_at_hand_and_a_removed_one_is_not_found() {
    let tree = tree("a", vec![b'a'; MIB]);
    let desk = tree.serve(ListingMode::Flat);
    let part = desk.whole("file:///a").await.unwrap();
    assert!(matches!(part.body, Body::Text(ByteSource::Bytes(_))));
    tree.remove("a");
    assert!(desk.is_not_found("file:///a").await);
}

#[tokio::test]
async fn a_disk_elsewhere_is_served_all_the_same() {
    let tree = Tree::of(["sub/a.txt"]);
    let mut desk = tree.serve(ListingMode::Auto);
    desk.set_local(false);
    assert_eq!(desk.paths(None).await, ["sub/a.txt"]);
    assert_eq!(desk.text("file:///sub/a.txt").await, "sub/a.txt");
    assert!(desk.stat("file:///sub").await.is_ok() && desk.is_not_found("file:///none").await);
    assert!(is_text(&desk.window("file:///sub/a.txt", 0, 3).await));
}

#[tokio::test]
async fn a_link_is_described_with_the_file_that_it_leads_to() {
    let tree = Tree::of(["deep/env.toml", "plain.txt"]);
    tree.link("notes.txt", "deep/env.toml");
    tree.link("way", "deep");
    tree.link("twice.txt", "way/env.toml");
    for listing in [ListingMode::Flat, ListingMode::Tree] {
        let desk = tree.serve(listing);
        for (uri, target) in [
            ("file:///notes.txt", Some("deep/env.toml")),
            ("file:///twice.txt", Some("deep/env.toml")),
            ("file:///way/env.toml", Some("deep/env.toml")),
            ("file:///deep/env.toml", None),
            ("file:///plain.txt", None),
        ] {
            // Twice: from the file, and from the caches.
            for _ in 0..2 {
                assert_eq!(desk.stat(uri).await.unwrap().link_target.as_deref(), target, "{uri}");
                let part = desk.whole(uri).await.unwrap();
                assert_eq!(part.resource.link_target.as_deref(), target, "{uri}");
                let part = desk.window(uri, 1, 2).await;
                assert_eq!(part.resource.link_target.as_deref(), target, "{uri}");
                for parent in [None, Some("file:///way"), Some("file:///deep")] {
                    let page = desk.page(parent, None, 99).await.unwrap();
                    for item in page.items.iter().filter(|item| item.uri.as_str() == uri) {
                        assert_eq!(item.link_target.as_deref(), target, "{uri} in {parent:?}");
                    }
                }
            }
        }
    }
    // Another name of the same file has the same stamp.
    std::fs::hard_link(tree.at("deep/env.toml"), tree.at("copy.md")).unwrap();
    let desk = tree.serve(ListingMode::Tree);
    for target in ["deep/env.toml", "copy.md", "deep/env.toml"] {
        tree.remove("notes.txt");
        tree.link("notes.txt", target);
        let page = desk.page(None, None, 99).await.unwrap();
        let listed = page.items.iter().find(|item| item.name == "notes.txt").unwrap();
        let read = desk.whole("file:///notes.txt").await.unwrap();
        for found in [listed, &read.resource] {
            assert_eq!(found.link_target.as_deref(), Some(target));
        }
    }
}
