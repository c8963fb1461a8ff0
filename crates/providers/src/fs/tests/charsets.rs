//! Tests of charsets: the same for whole files and windows, by rules, and at linear cost.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::{ListingMode, ServedFs, Tree, bytes, is_text};
use crate::fs::{Charset, Fs, Options};

const ASCII_LINE: &str = "a plain line of a program, with nothing else in it\n";
const SENTENCE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\r\n";

fn encode(charset: &'static Encoding, text: &str) -> Vec<u8> {
    // The library encodes nothing as UTF-16.
    match () {
        () if charset == UTF_16LE => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        () if charset == UTF_16BE => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        () => charset.encode(text).0.into_owned(),
    }
}

async fn window_text(served: &ServedFs, offset: usize, length: usize) -> (String, Option<String>) {
    let part = served.window("file:///a.txt", offset as u64, length as u64).await;
    assert!(is_text(&part));
    let charset = part.resource.charset.map(str::to_owned);
    (String::from_utf8(bytes(part.body).await.to_vec()).unwrap(), charset)
}

#[tokio::test]
async fn windows_find_the_charset_that_a_whole_read_finds_wherever_the_kanji_are() {
    let few = ASCII_LINE.repeat(2_000);
    let many = ASCII_LINE.repeat(30_000);
    for (before, word, after) in [
        (&few, "# 設定\n", &few),
        (&few, SENTENCE, &few),
        (&few, "# 終了\n", &few),
        (&many, SENTENCE, &many),
        (&many, "# 変更履歴\n", &many),
    ] {
        let text = format!("{before}{word}{after}");
        for charset in [SHIFT_JIS, EUC_JP, ISO_2022_JP] {
            let tree = Tree::of([]);
            tree.write("a.txt", encode(charset, &text));
            let desk = tree.serve(ListingMode::Flat);
            let expected = Some(charset.name().to_owned());
            let window = window_text(&desk, before.len(), word.len()).await;
            assert_eq!(window, (word.to_owned(), expected), "{word} in {}", charset.name());
            let whole = desk.whole("file:///a.txt").await.unwrap();
            assert_eq!(whole.resource.charset, Some(charset.name()));
            assert!(bytes(whole.body).await == text.as_bytes());
        }
    }
}

#[tokio::test]
async fn escape_sequences_that_are_not_japanese_stay_in_their_windows() {
    let ascii = ASCII_LINE.repeat(30_000);
    let tree = Tree::of([]);
    tree.write("a.txt", format!("{ascii}\u{1b}(Jcolour\u{1b}$B!!!\n{ascii}"));
    let desk = tree.serve(ListingMode::Flat);
    let (text, charset) = window_text(&desk, ascii.len(), 9).await;
    assert_eq!((&text[..], charset), ("\u{1b}(Jcolour"[..9].into(), None));
}

#[tokio::test]
async fn the_first_window_of_a_large_file_knows_what_comes_later() {
    let ascii = ASCII_LINE.repeat(10_000);
    let text = format!("{ascii}{}", SENTENCE.repeat(20_000));
    for charset in [SHIFT_JIS, EUC_JP, UTF_16LE, UTF_16BE] {
        let tree = Tree::of([]);
        tree.write("a.txt", encode(charset, &text));
        let desk = tree.serve(ListingMode::Flat);
        let (start, found) = window_text(&desk, 0, 100).await;
        assert_eq!((&start[..], found.as_deref()), (&text[..100], Some(charset.name())));
        let part = desk.window("file:///a.txt", ascii.len() as u64, 100).await;
        assert_eq!(part.slice.clone().unwrap().total, text.len() as u64);
        assert!(SENTENCE.starts_with(std::str::from_utf8(&bytes(part.body).await).unwrap()));
    }
}

#[tokio::test]
async fn a_rule_gives_the_charset_and_wins_over_detection() {
    let tree = Tree::of(["plain.txt"]);
    let russian = "Все счастливые семьи похожи друг на друга\n".repeat(3_000);
    let cyrillic = Encoding::for_label(b"windows-1251").unwrap();
    tree.write("old/a.txt", encode(cyrillic, &russian));
    tree.write("old/large.txt", encode(cyrillic, &russian.repeat(10)));
    tree.write("latin.txt", encode(WINDOWS_1252, "Größe"));
    tree.write("broken.txt", b"ab\xffcd");
    let rule = |path: &str| match path {
        "broken.txt" => Charset::for_label("utf-8"),
        "latin.txt" => Charset::for_label("sjis"),
        path if path.starts_with("old/") => Charset::for_label("cp1251"),
        _ => None,
    };
    let options = Options { charsets: Some(Arc::new(rule)), ..tree.options(ListingMode::Flat) };
    let desk = ServedFs(Fs::open(options).unwrap());
    for (path, text) in [("old/a.txt", russian.clone()), ("old/large.txt", russian.repeat(10))] {
        let uri = format!("file:///{path}");
        let part = desk.whole(&uri).await.unwrap();
        assert_eq!(part.resource.charset, Some("windows-1251"));
        assert!(is_text(&part) && bytes(part.body).await == text.as_bytes());
        let part = desk.window(&uri, 2, 6).await;
        assert_eq!(part.resource.charset, Some("windows-1251"));
        assert_eq!(bytes(part.body).await, "се ");
    }
    assert_eq!(desk.text("file:///broken.txt").await, "ab\u{fffd}cd");
    let part = desk.window("file:///broken.txt", 0, 10).await;
    assert_eq!((is_text(&part), part.resource.charset), (true, None));
    let part = desk.whole("file:///latin.txt").await.unwrap();
    assert_eq!(part.resource.charset, Some("Shift_JIS"));
    assert_eq!(desk.text("file:///plain.txt").await, "plain.txt");
    assert!(Charset::for_label("shift-jis-ish").is_none());
}

/// Waits until the last change of the file is so old that its version can be cached.
async fn wait_until_settled(served: &ServedFs, uri: &str) {
    let decoded = || served.0.root.decode_index.decoded_bytes.load(Ordering::Relaxed);
    loop {
        served.window(uri, 0, 1).await;
        let before = decoded();
        served.window(uri, 0, 1).await;
        if decoded() - before < 256 * 1024 {
            return;
        }
    }
}

#[tokio::test]
async fn a_walk_through_a_decoded_file_decodes_each_part_a_few_times_at_most() {
    let text = SENTENCE.repeat(30_000);
    for charset in [SHIFT_JIS, EUC_JP, ISO_2022_JP, UTF_16LE] {
        let tree = Tree::of([]);
        tree.write("a.txt", encode(charset, &text));
        let desk = tree.serve(ListingMode::Flat);
        wait_until_settled(&desk, "file:///a.txt").await;
        let decoded = || desk.0.root.decode_index.decoded_bytes.load(Ordering::Relaxed);
        let before = decoded();
        let (mut offset, mut all) = (0, Vec::new());
        loop {
            let part = desk.window("file:///a.txt", offset, 100_000).await;
            let slice = part.slice.clone().unwrap();
            all.extend_from_slice(&bytes(part.body).await);
            match slice.next_offset() {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert!(all == text.as_bytes(), "{}", charset.name());
        let times = (decoded() - before) / text.len() as u64;
        assert!(times <= 4, "each byte was decoded {times} times in {}", charset.name());
    }
}
