//! Tests of windowed reads.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use encoding_rs::{EUC_JP, ISO_2022_JP, SHIFT_JIS};
use proptest::prelude::{Just, ProptestConfig, any, prop_oneof, proptest};
use proptest::strategy::Strategy;
use resource::{Body, ByteSource, ErrorKind, Slice, Window};

use super::{ListingMode, ServedFs, Tree, bytes, chunks, is_text};

const SENTENCE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\r\n";

/// Reads `file:///a` in windows of `length`; returns the content, and whether all windows were
/// text.
async fn joined(served: &ServedFs, length: u64) -> (Vec<u8>, bool) {
    let (mut all, mut text, mut offset) = (Vec::new(), true, 0);
    loop {
        let part = served.window("file:///a", offset, length).await;
        let slice = part.slice.clone().unwrap();
        text &= is_text(&part);
        let body = bytes(part.body).await;
        assert_eq!((slice.offset, slice.length), (offset, body.len() as u64));
        assert!(slice.length <= length.max(4));
        all.extend_from_slice(&body);
        match slice.next_offset() {
            Some(next) => offset = next,
            None => return (all, text),
        }
    }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("日本語の文章。"),
        Just("😀👨‍👩‍👧"),
        Just("\r\n"),
        Just("abc"),
        Just("é"),
        Just("\u{feff}"),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn windows_of_any_size_join_to_the_text(text in texts(), length in 0..40_u64) {
        let tree = Tree::of([]);
        tree.write("a", &text);
        let (all, is_text) = run(joined(&tree.serve(ListingMode::Flat), length));
        assert!(is_text && all == text.as_bytes());
    }

    #[test]
    fn windows_of_any_size_join_to_the_blob(mut blob in any::<Vec<u8>>(), length in 1..40_u64) {
        // Half a pair of UTF-16 in either order of bytes, so that it is no text by chance.
        blob.resize(blob.len().next_multiple_of(2), 0);
        blob.extend([0xD8, 0xD8, 0, 0]);
        let tree = Tree::of([]);
        tree.write("a", &blob);
        let (all, is_text) = run(joined(&tree.serve(ListingMode::Flat), length));
        assert!(!is_text && all == blob);
    }

    #[test]
    fn a_window_anywhere_begins_and_ends_between_characters(
        text in texts(), offset in 0..200_u64, length in 0..40_u64,
    ) {
        let tree = Tree::of([]);
        tree.write("a", &text);
        let part = run(tree.serve(ListingMode::Flat).window("file:///a", offset, length));
        let Slice { offset: start, length: given, total, .. } = part.slice.clone().unwrap();
        assert_eq!(total, text.len() as u64);
        let start_of_next = text.ceil_char_boundary(text.len().min(offset as usize));
        assert_eq!(start, start_of_next as u64);
        let body = run(bytes(part.body));
        assert_eq!(body, text[start_of_next..][..given as usize]);
        assert!(given > 0 || start == total, "a whole character if any is left");
        let first = text[start_of_next..].chars().next().map_or(0, char::len_utf8) as u64;
        assert!(given <= length.max(first));
        assert!(given + 4 > length.min(total - start), "no shorter than it must be");
    }
}

#[tokio::test]
async fn windows_of_old_charsets_count_the_decoded_text() {
    let text = SENTENCE.repeat(20);
    let long = SENTENCE.repeat(30_000);
    for charset in [SHIFT_JIS, EUC_JP, ISO_2022_JP] {
        let tree = Tree::of([]);
        tree.write("a", charset.encode(&text).0);
        let desk = tree.serve(ListingMode::Flat);
        for length in [1, 2, 3, 7, 100, 5_000] {
            assert_eq!(joined(&desk, length).await, (text.clone().into_bytes(), true));
        }
        let part = desk.window("file:///a", 1, 5).await;
        assert_eq!(part.resource.charset, Some(charset.name()));
        let total = text.len() as u64;
        assert_eq!(part.slice, Some(Slice::new(3, 3, total)));
        assert_eq!(bytes(part.body).await, "輩");
        tree.write("a", charset.encode(&long).0);
        let part = desk.window("file:///a", 200_000, 2 * 1024 * 1024).await;
        let slice = part.slice.clone().unwrap();
        assert!(matches!(part.body, Body::Text(ByteSource::Stream(_))));
        let body = bytes(part.body).await;
        let range = slice.offset as usize..(slice.offset + slice.length) as usize;
        assert!(body == long[range]);
        assert!(slice.length > 2 * 1024 * 1024 - 3 && slice.total == long.len() as u64);
    }
}

#[tokio::test]
async fn a_window_beyond_the_end_is_empty_and_no_error() {
    let tree = Tree::of([]);
    for content in [&b"abc"[..], b"a\0c", &SHIFT_JIS.encode("日本語の文章。").0, b""] {
        tree.write("a", content);
        let desk = tree.serve(ListingMode::Flat);
        for offset in [100, u64::MAX] {
            let part = desk.window("file:///a", offset, u64::MAX).await;
            let slice = part.slice.clone().unwrap();
            assert_eq!((slice.offset, slice.length), (slice.total, 0));
            assert_eq!(slice.next_offset(), None);
            assert!(bytes(part.body).await.is_empty());
        }
    }
}

#[tokio::test]
async fn a_pinned_version_that_is_gone_is_refused_with_the_one_that_is() {
    let tree = Tree::of(["a"]);
    let desk = tree.serve(ListingMode::Flat);
    let etag = desk.stat("file:///a").await.unwrap().etag.clone();
    let pinned = || Window::Part { offset: 0, length: 10, etag: etag.clone() };
    assert!(desk.part("file:///a", pinned()).await.is_ok());
    tree.write("a", "another");
    let error = desk.part("file:///a", pinned()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed);
    let now = desk.stat("file:///a").await.unwrap().etag.clone().unwrap();
    assert_eq!(error.facts, [("etag", now)]);
}

#[tokio::test]
async fn a_window_with_broken_text_is_a_blob_and_others_stay_text() {
    let tree = Tree::of([]);
    let mut content = SENTENCE.repeat(2_000).into_bytes();
    content[100_000] = 0xff;
    tree.write("a", &content);
    let desk = tree.serve(ListingMode::Flat);
    let broken = desk.window("file:///a", 99_990, 100).await;
    assert!(!is_text(&broken));
    assert_eq!(bytes(broken.body).await, content[99_990..100_090]);
    assert!(is_text(&desk.window("file:///a", 0, 100).await));
    assert!(is_text(&desk.window("file:///a", 150_000, 100).await));
    assert!(!is_text(&desk.whole("file:///a").await.unwrap()));
}

/// Number of bytes this thread has read so far.
fn read_so_far() -> u64 {
    let counters = fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = counters.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
    line.parse().unwrap()
}

#[tokio::test]
async fn a_little_of_a_huge_file_reads_only_a_little() {
    let tree = Tree::of([]);
    let file = File::create(tree.at("a")).unwrap();
    let size = 5 * 1024 * 1024 * 1024_u64;
    file.set_len(size).unwrap();
    file.write_all_at("日本語".repeat(10_000).as_bytes(), 0).unwrap();
    file.write_all_at("語日本".repeat(10_000).as_bytes(), size / 2).unwrap();
    let mut desk = tree.serve(ListingMode::Flat);
    // Inline, on the thread whose reads are counted, whatever disk the test runs on.
    desk.set_local(true);
    let before = read_so_far();
    let part = desk.window("file:///a", size / 2 + 1, 4_096).await;
    let read = read_so_far() - before;
    assert!((4_096..64 * 1024).contains(&read), "{read}");
    assert!(is_text(&part));
    let slice = part.slice.clone().unwrap();
    assert_eq!((slice.offset, slice.total), (size / 2 + 3, size));
    assert!(bytes(part.body).await.starts_with("日本語".as_bytes()));
}

#[tokio::test]
async fn large_windows_are_given_in_pieces() {
    let text = SENTENCE.repeat(40_000);
    let mut blob = text.clone().into_bytes();
    blob[0] = 0;
    let tree = Tree::of([]);
    for (content, expected) in [(text.as_bytes(), true), (&blob, false)] {
        tree.write("a", content);
        let part = tree.serve(ListingMode::Flat).window("file:///a", 3, 2_000_000).await;
        assert_eq!(is_text(&part), expected);
        let slice = part.slice.clone().unwrap();
        assert!(slice.length > 2_000_000 - 4);
        let chunks = chunks(part.body).await;
        assert!(chunks.len() > 7 && chunks.iter().all(|chunk| chunk.len() <= 257 * 1024));
        assert!(chunks.concat() == content[3..3 + slice.length as usize]);
    }
}
