//! Tests of windows over resources that change, have several formats, or are not text.

use std::sync::Arc;

use resource::{Continuation, ErrorKind, Uri, Window};
use server::window::{self, WindowRange, WindowSpan};
use testkit::MemoryProvider;

use crate::short_reads::ShortReads;
use crate::windows_join::{read, server_of};

const URI: &str = "test://it";

fn lines(start: u64, most: u64) -> WindowRange {
    WindowRange::Lines { start, most: Some(most), bytes: 64 << 10 }
}

fn length(window: &Window) -> u64 {
    match window {
        Window::Part { length, .. } => *length,
        Window::Whole { .. } => panic!("a whole read instead of a window"),
    }
}

fn numbered(name: &str, count: usize) -> String {
    (1..=count).map(|line| format!("{name} {line}\n")).collect()
}

#[tokio::test]
async fn nothing_is_given_of_an_empty_text_and_it_is_the_end() {
    let server = server_of(Arc::new(ShortReads::new(MemoryProvider::new().text(URI, ""), 100)));
    let bys = [
        WindowRange::Bytes { offset: 0, length: 9 },
        lines(1, 9),
        WindowRange::Tokens { offset: 0, most: 9 },
    ];
    for by in bys {
        let piece = read(&server, by.clone(), None).await.unwrap();
        assert!(piece.is_last() && piece.bytes.is_empty() && piece.next().is_none(), "{by:?}");
    }
}

#[tokio::test]
async fn a_line_behind_the_last_is_empty_and_says_how_many_there_are() {
    for text in ["one\ntwo\n", "one\ntwo"] {
        let server =
            server_of(Arc::new(ShortReads::new(MemoryProvider::new().text(URI, text), 100)));
        let piece = read(&server, lines(50, 1), None).await.unwrap();
        let told = piece.slice.lines.clone().unwrap();
        assert_eq!((told.start, told.count, piece.is_last()), (3, 0, true), "{text:?}");
        assert_eq!(piece.slice.offset, text.len() as u64);
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_goes_on_at_an_offset() {
    let text = format!("short\n{}\nlast", "x".repeat(100));
    let server = server_of(Arc::new(ShortReads::new(MemoryProvider::new().text(URI, &text), 1000)));
    let by = |start| WindowRange::Lines { start, most: None, bytes: 40 };
    let first = read(&server, by(1), None).await.unwrap();
    assert_eq!((first.text(), first.next()), (Some("short\n"), Some(Continuation::Line(2))));
    let second = read(&server, by(2), None).await.unwrap();
    assert_eq!((second.bytes.len(), second.next()), (40, Some(Continuation::Offset(46))));
    let third = read(&server, by(3), None).await.unwrap();
    assert_eq!((third.text(), third.is_last()), (Some("last"), true));
}

#[tokio::test]
async fn blobs_have_no_lines_and_no_tokens() {
    let provider =
        Arc::new(ShortReads::new(MemoryProvider::new().blob(URI, &[0; 3 << 20]), u64::MAX));
    let server = server_of(Arc::clone(&provider));
    for by in [lines(1, 1), lines(1000, 1), WindowRange::Tokens { offset: 0, most: 9 }] {
        let error = read(&server, by, None).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(error.message.contains("offset") && error.message.contains("max_bytes"), "{error}");
        assert_eq!(
            provider.take_reads().len(),
            2,
            "one read, and one of its first byte, are enough"
        );
    }
}

#[tokio::test]
async fn text_is_given_up_to_where_it_is_none() {
    let text = numbered("line", 1000);
    // In the middle of line 501.
    let end = text.find("line 501").unwrap() as u64 + 3;
    let provider =
        ShortReads::new(MemoryProvider::new().text(URI, &text), u64::MAX).blob_beyond(end);
    let server = server_of(Arc::new(provider));
    let (mut start, mut seen) = (1, 0);
    let last = loop {
        let piece = read(&server, lines(start, 2000), None).await.unwrap();
        assert_eq!((piece.is_text, piece.slice.offset), (true, seen));
        seen += piece.slice.length;
        match piece.next() {
            Some(Continuation::Line(next)) => start = next,
            other => break other,
        }
    };
    assert_eq!((start, last), (501, Some(Continuation::Offset(seen))));
    assert_eq!(seen, end);
    let tokens =
        read(&server, WindowRange::Tokens { offset: 0, most: 90_000 }, None).await.unwrap();
    assert!(tokens.is_text && !tokens.is_last() && tokens.slice.length == end);
    assert!(read(&server, lines(700, 1), None).await.is_err(), "that line is not text");
}

#[tokio::test]
async fn a_collection_has_no_windows_and_is_to_be_listed() {
    let memory = MemoryProvider::new().collection(URI, &[]);
    let server = server_of(Arc::new(ShortReads::new(memory, 100)));
    for by in [WindowRange::Bytes { offset: 0, length: 9 }, lines(1, 1)] {
        let error = read(&server, by, None).await.unwrap_err();
        assert!(error.kind == ErrorKind::Invalid && error.message.contains("list it"), "{error}");
    }
}

#[tokio::test]
async fn what_holds_nothing_is_refused() {
    let server = server_of(Arc::new(ShortReads::new(MemoryProvider::new().text(URI, "text"), 100)));
    for by in [
        WindowRange::Bytes { offset: 0, length: 0 },
        WindowRange::Tokens { offset: 0, most: 0 },
        lines(0, 1),
        lines(1, 0),
        WindowRange::Lines { start: 1, most: None, bytes: 0 },
    ] {
        let error = read(&server, by.clone(), None).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{by:?}");
    }
}

#[tokio::test]
async fn windows_go_through_all_parts_in_order_and_name_the_next_one() {
    let memory = || {
        let memory =
            MemoryProvider::new().text(URI, "one\ntwo\nthree\n").text("test://b", "eins\nzwei\n");
        memory.blob("test://blob", &[0, 255])
    };
    let uri = Uri::parse(URI).unwrap();
    let server = server_of(Arc::new(ShortReads::new(memory(), 5).with_format("test://b")));
    // Once without and once with the line index.
    for _ in 0..2 {
        let mut told = Vec::new();
        let mut span = WindowSpan::new(lines(2, 9), None);
        loop {
            let ctx = testkit::local_context();
            let given = window::read_window(&server, &ctx, &uri, &span).await.unwrap();
            let window = &given.windows[0];
            told.push((
                window.slice.part,
                window.slice.total_parts,
                window.text().unwrap().to_owned(),
            ));
            match window.next() {
                Some(Continuation::Part(part)) => span.part = part,
                next => {
                    assert!(next.is_none() && window.is_last());
                    break;
                }
            }
        }
        let expected = [(0, 2, "two\nthree\n"), (1, 2, "zwei\n")];
        assert_eq!(told, expected.map(|(part, total, text)| (part, total, text.to_owned())));
    }
    let server = server_of(Arc::new(ShortReads::new(memory(), 5).with_format("test://blob")));
    let blob = WindowSpan { part: 1, ..WindowSpan::new(lines(1, 1), None) };
    let refused = window::read_window(&server, &testkit::local_context(), &uri, &blob).await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Invalid, "a blob has no lines");
}

#[tokio::test]
async fn a_text_that_changes_while_it_is_read_is_read_anew_once() {
    let (old, new) = (numbered("old", 50), numbered("new", 50));
    let changed = new.clone();
    let once = move |memory: &MemoryProvider, count: usize| {
        if count == 2 {
            memory.write(URI, &changed);
        }
    };
    let provider =
        Arc::new(ShortReads::new(MemoryProvider::new().text(URI, &old), 64).after_read(once));
    let piece = read(&server_of(provider), lines(1, 50), None).await.unwrap();
    assert_eq!(piece.text(), Some(new.as_str()), "all of it is of one version");

    let always =
        |memory: &MemoryProvider, count: usize| memory.write(URI, &numbered("at", 50 + count));
    let provider =
        Arc::new(ShortReads::new(MemoryProvider::new().text(URI, &old), 64).after_read(always));
    let error = read(&server_of(Arc::clone(&provider)), lines(1, 50), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed);
    assert!(error.facts.iter().any(|(name, etag)| *name == "etag" && !etag.is_empty()));
    assert_eq!(provider.take_reads().len(), 2, "one window of each of two versions was read");
}

#[tokio::test]
async fn a_pinned_version_is_given_or_refused_with_the_present_one() {
    let memory = MemoryProvider::new().text(URI, &numbered("old", 50));
    let provider = Arc::new(ShortReads::new(memory, 1000));
    let server = server_of(Arc::clone(&provider));
    let first = read(&server, lines(1, 10), None).await.unwrap();
    let pinned = first.etag().unwrap().to_owned();
    assert_eq!(read(&server, lines(11, 10), Some(&pinned)).await.unwrap().etag(), first.etag());
    provider.memory.write(URI, &numbered("quite new", 50));
    for by in [lines(21, 10), WindowRange::Bytes { offset: 9, length: 9 }] {
        let error = read(&server, by, Some(&pinned)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Changed);
        let now = read(&server, lines(1, 1), None).await.unwrap();
        assert!(error.facts.contains(&("etag", now.etag().unwrap().to_owned())), "{error:?}");
    }
    // The line index of the old version is not used.
    let line = read(&server, lines(21, 1), None).await.unwrap();
    assert_eq!(line.text(), Some("quite new 21\n"));
}

#[tokio::test]
async fn a_walk_by_lines_does_not_begin_anew_with_each_window() {
    let text = numbered("a line of some length, as they are: number", 60_000);
    let provider = Arc::new(ShortReads::new(MemoryProvider::new().text(URI, &text), u64::MAX));
    let server = server_of(Arc::clone(&provider));
    let mut start = 1;
    let mut reads = 0;
    loop {
        let piece = read(&server, lines(start, 1000), None).await.unwrap();
        let asked = provider.take_reads();
        assert_eq!(asked.len(), 1, "window at line {start}: {asked:?}");
        reads += asked.iter().map(length).sum::<u64>();
        match piece.next() {
            Some(Continuation::Line(next)) => start = next,
            other => break assert_eq!(other, None),
        }
    }
    assert_eq!(start, 59_001);
    assert!(reads < 2 * text.len() as u64, "{reads} for {}", text.len());
    // A line in between is near a known offset.
    let piece = read(&server, lines(30_500, 1), None).await.unwrap();
    assert!(piece.text().unwrap().ends_with(" 30500\n"));
    assert!(provider.take_reads().iter().map(length).sum::<u64>() < text.len() as u64);
}

#[tokio::test]
async fn a_line_before_one_that_was_counted_to_is_near() {
    let text = numbered("a line of some length, as they are: number", 60_000);
    let provider = Arc::new(ShortReads::new(MemoryProvider::new().text(URI, &text), u64::MAX));
    let server = server_of(Arc::clone(&provider));
    read(&server, lines(59_000, 1), None).await.unwrap();
    provider.take_reads();
    let piece = read(&server, lines(30_500, 1), None).await.unwrap();
    assert!(piece.text().unwrap().ends_with(" 30500\n"));
    let asked = provider.take_reads();
    assert!(asked.len() <= 3, "{asked:?}");
}

#[tokio::test]
async fn without_an_etag_nothing_is_pinned() {
    let memory = MemoryProvider::new().text(URI, &numbered("line", 50));
    let memory = memory.with_description(|resource| resource.etag = None);
    let provider = Arc::new(ShortReads::new(memory, 64));
    let server = server_of(Arc::clone(&provider));
    let piece = read(&server, lines(10, 30), None).await.unwrap();
    assert_eq!(piece.etag(), None);
    assert!(piece.text().unwrap().starts_with("line 10\n"));
    let asked = provider.take_reads();
    assert!(asked.len() > 3);
    assert!(asked.iter().all(|window| matches!(window, Window::Part { etag: None, .. })));
}

#[tokio::test]
async fn a_window_asks_its_provider_for_little_more_than_itself() {
    let text = numbered("line", 500_000);
    let provider = Arc::new(ShortReads::new(MemoryProvider::new().text(URI, &text), u64::MAX));
    let server = server_of(Arc::clone(&provider));
    for (by, most) in [
        (WindowRange::Bytes { offset: 3_000_000, length: 4096 }, 4200),
        (WindowRange::Tokens { offset: 3_000_000, most: 1000 }, 10_000),
        (lines(1, 10), 70_000),
    ] {
        read(&server, by.clone(), None).await.unwrap();
        let asked: u64 = provider.take_reads().iter().map(length).sum();
        assert!(asked <= most, "{asked} for {by:?}");
    }
}
