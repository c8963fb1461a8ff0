//! Property tests: windows of any size, by bytes, lines or tokens, join to the whole text.

use std::sync::Arc;

use proptest::prelude::*;
use resource::{Continuation, Uri};
use server::window::{self, FormatWindow, WindowRange, WindowSpan};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;

use crate::short_reads::ShortReads;

const URI: &str = "test://it";

pub(crate) fn server_of(provider: Arc<ShortReads>) -> Server {
    Server::new(provider, Limits::default(), [7; 32], CollectionsMode::Always)
}

pub(crate) async fn read(
    server: &Server,
    range: WindowRange,
    etag: Option<&str>,
) -> resource::Result<FormatWindow> {
    let (uri, span) = (Uri::parse(URI).unwrap(), WindowSpan::new(range, etag.map(str::to_owned)));
    let mut windowed = window::read_window(server, &testkit::local_context(), &uri, &span).await?;
    assert_eq!(windowed.windows.len(), 1);
    Ok(windowed.windows.remove(0))
}

/// Reads from start to end, following `next` from window to window.
async fn read_all(server: &Server, first: WindowRange, check: impl Fn(&FormatWindow)) -> Vec<u8> {
    let (mut all, mut by, mut etag) = (Vec::new(), first.clone(), None);
    loop {
        let piece = read(server, by, etag.as_deref()).await.unwrap();
        check(&piece);
        assert_eq!(piece.slice.offset, all.len() as u64, "a window begins elsewhere");
        assert_eq!(piece.slice.length, piece.bytes.len() as u64);
        assert_eq!(piece.is_text, piece.text().is_some(), "half a character was given");
        all.extend_from_slice(&piece.bytes);
        assert_eq!(piece.is_last(), all.len() as u64 == piece.slice.total);
        let Some(next) = piece.next() else { return all };
        assert!(!piece.bytes.is_empty(), "there is no end to this");
        etag = piece.etag().map(str::to_owned);
        by = match (next, &first) {
            (Continuation::Line(start), WindowRange::Lines { most, bytes, .. }) => {
                WindowRange::Lines { start, most: *most, bytes: *bytes }
            }
            (
                Continuation::Offset(offset),
                WindowRange::Lines { bytes: length, .. } | WindowRange::Bytes { length, .. },
            ) => WindowRange::Bytes { offset, length: *length },
            (Continuation::Offset(offset), WindowRange::Tokens { most, .. }) => {
                WindowRange::Tokens { offset, most: *most }
            }
            (Continuation::Part(part), _) => panic!("there is no part {part}"),
            (Continuation::Line(line), _) => panic!("line {line} in a window that is not by lines"),
        };
    }
}

/// Texts with characters that must stay together.
fn texts() -> impl Strategy<Value = String> {
    let pieces = [
        "日本語の文章",
        "か\u{3099}",
        "👨\u{200d}👩\u{200d}👧",
        "👍\u{1f3fd}",
        "❤\u{fe0f}",
        "e\u{301}\u{323}",
        "\r\n",
        "\n",
        "\n\n\n",
        "\r",
        "plain words, and ",
        "fn main() {\n    call(1234);\n}\n",
        "0123456789012345678901234567890123456789",
        "привет мир ",
        "\u{feff}",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40)
        .prop_map(|pieces| pieces.concat())
}

/// The number of the line that begins at `offset`; `None` inside a line.
fn line_at(text: &str, offset: usize) -> Option<u64> {
    let before = &text[..offset];
    (before.is_empty() || before.ends_with('\n')).then(|| before.matches('\n').count() as u64 + 1)
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn server_with_text(text: &str, most: u64) -> Server {
    server_of(Arc::new(ShortReads::new(MemoryProvider::new().text(URI, text), most)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn windows_by_bytes_join(text in texts(), length in 1_u64..300, most in 1_u64..400) {
        let server = server_with_text(&text, most);
        let check = |window: &FormatWindow| {
            assert!(window.slice.length <= length.max(4));
            let end = (window.slice.offset + window.slice.length) as usize;
            let parted = text[..end].ends_with('\r') && text[end..].starts_with('\n');
            assert!(!parted, "CR and LF are split");
        };
        let told = run(read_all(&server, WindowRange::Bytes { offset: 0, length }, check));
        prop_assert_eq!(told, text.as_bytes());
    }

    #[test]
    fn windows_by_lines_join(
        text in texts(),
        lines in prop::option::of(1_u64..9),
        bytes in 1_u64..300,
        most in 1_u64..400,
    ) {
        let server = server_with_text(&text, most);
        let check = |window: &FormatWindow| {
            assert!(window.slice.length <= bytes.max(4));
            let Some(told) = &window.slice.lines else { return };
            let start = window.slice.offset as usize;
            assert_eq!(line_at(&text, start), Some(told.start));
            assert!(lines.is_none_or(|lines| told.count <= lines));
            assert_eq!(window.text().unwrap().split_inclusive('\n').count() as u64, told.count);
            let end = start + window.bytes.len();
            assert_eq!(told.truncated, end < text.len() && line_at(&text, end).is_none());
        };
        let by = WindowRange::Lines { start: 1, most: lines, bytes };
        prop_assert_eq!(run(read_all(&server, by, check)), text.as_bytes());
    }

    #[test]
    fn windows_by_tokens_join(text in texts(), tokens in 1_u64..60, most in 1_u64..400) {
        let server = server_with_text(&text, most);
        let check = |window: &FormatWindow| {
            let text = window.text().unwrap();
            let about = resource::tokens::estimate(text);
            let is_least = text == "\r\n" || text.chars().count() == 1;
            assert!(about <= tokens || is_least, "{about} for {tokens} of {text:?}");
        };
        let told = run(read_all(&server, WindowRange::Tokens { offset: 0, most: tokens }, check));
        prop_assert_eq!(told, text.as_bytes());
    }

    #[test]
    fn windows_of_blobs_join(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        length in 1_u64..300,
        most in 1_u64..400,
    ) {
        let server = server_of(Arc::new(ShortReads::new(MemoryProvider::new().blob(URI, &bytes), most)));
        let check = |window: &FormatWindow| assert!(!window.is_text && window.slice.length <= length);
        let told = run(read_all(&server, WindowRange::Bytes { offset: 0, length }, check));
        prop_assert_eq!(told, bytes);
    }

    #[test]
    fn any_line_is_found_where_it_begins(text in texts(), start in 1_u64..60, most in 1_u64..400) {
        let server = server_with_text(&text, most);
        let by = WindowRange::Lines { start, most: Some(1), bytes: 4096 };
        let piece = run(read(&server, by, None)).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let line = lines.get(start as usize - 1).copied().unwrap_or_default();
        prop_assert_eq!(piece.text(), Some(line));
        let told = piece.slice.lines.unwrap();
        let first = if line.is_empty() { lines.len() as u64 + 1 } else { start };
        prop_assert_eq!((told.start, told.count), (first, u64::from(!line.is_empty())));
    }
}

#[test]
fn one_line_of_five_megabytes_is_joined_in_every_measure() {
    let text = "日本語 and words ".repeat((5 << 20) / 20);
    assert!(text.len() >= 5_000_000);
    let server = server_with_text(&text, u64::MAX);
    for first in [
        WindowRange::Bytes { offset: 0, length: u64::MAX },
        WindowRange::Lines { start: 1, most: None, bytes: u64::MAX },
        WindowRange::Lines { start: 1, most: Some(1), bytes: 100_000 },
        WindowRange::Tokens { offset: 0, most: 50_000 },
        WindowRange::Tokens { offset: 0, most: u64::MAX },
    ] {
        let most = |window: &FormatWindow| assert!(window.slice.length <= window::MAX_WINDOW_BYTES);
        let told = run(read_all(&server, first.clone(), most));
        assert!(told == text.as_bytes(), "{first:?}");
    }
}
