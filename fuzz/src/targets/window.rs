//! Target `window`: windows of a text, by bytes, lines and tokens, join to the whole.

use std::sync::Arc;

use resource::{Continuation, Uri};
use server::window::{WindowRange, WindowSpan, read_window};
use server::{CollectionsMode, Limits, Server};
use testkit::{FuzzTarget, MemoryProvider, local_context};

use super::{run, text_of};

pub(crate) const TARGET: FuzzTarget = FuzzTarget { name: "window", examples: EXAMPLES, check };

const EXAMPLES: &[&[u8]] = &[
    b"\x01\x05\x03plain words\nand a second line\r\nand a third",
    "\x02\x09\x02日本語の文章か\u{3099}\n👨\u{200d}👩\u{200d}👧👍\u{1f3fd}\r\n".as_bytes(),
    "\x03\x04\x04e\u{301}\u{323}\n\n\n\r\r\n0123456789012345678901234567890123456789".as_bytes(),
    b"\x04\x10\x02fn main() {\n    call(1234);\n}\n",
    b"\x02\x02\x01\n\n\n\n",
];

/// How many windows one input is read in, at most.
const MAX_WINDOWS: u64 = 48;

fn check(input: &[u8]) {
    let [kind, size, lines, body @ ..] = input else { return };
    let text = text_of(body);
    let bytes = u64::from(*size) + 1 + text.len() as u64 / MAX_WINDOWS;
    let most = Some(u64::from(*lines) + 1 + text.len() as u64 / MAX_WINDOWS);
    let first = match kind % 4 {
        0 => WindowRange::Bytes { offset: 0, length: bytes },
        1 => WindowRange::Lines { start: 1, most, bytes },
        2 => WindowRange::Lines { start: 1, most: None, bytes },
        _ => WindowRange::Tokens { offset: 0, most: bytes },
    };
    let provider = Arc::new(MemoryProvider::new().text("test:a", &text));
    let server = Server::new(provider, Limits::default(), [7; 32], CollectionsMode::Always);
    let joined = run(read_all(&server, &first));
    assert_eq!(joined, text.as_bytes(), "{first:?}");
}

/// Reads from window to window until the end.
async fn read_all(server: &Server, first: &WindowRange) -> Vec<u8> {
    let uri = Uri::parse("test:a").expect("it is a URI");
    let (ctx, mut all, mut etag) = (local_context(), Vec::new(), None);
    let mut range = first.clone();
    loop {
        let span = WindowSpan::new(range, etag);
        let set = read_window(server, &ctx, &uri, &span).await.expect("a text has windows");
        let [window] = &set.windows[..] else { panic!("{} windows", set.windows.len()) };
        assert!(window.text().is_some(), "half a character was given");
        assert_eq!(window.slice.offset, all.len() as u64, "a window begins elsewhere");
        assert_eq!(window.slice.length, window.bytes.len() as u64);
        all.extend_from_slice(&window.bytes);
        assert_eq!(window.is_last(), all.len() as u64 == window.slice.total);
        let Some(next) = window.next() else { return all };
        assert!(!window.bytes.is_empty(), "there is no end to this");
        etag = window.etag().map(str::to_owned);
        range = next_range(next, first);
    }
}

fn next_range(next: Continuation, first: &WindowRange) -> WindowRange {
    match (next, first) {
        (Continuation::Line(start), WindowRange::Lines { most, bytes, .. }) => {
            WindowRange::Lines { start, most: *most, bytes: *bytes }
        }
        (Continuation::Offset(offset), WindowRange::Tokens { most, .. }) => {
            WindowRange::Tokens { offset, most: *most }
        }
        (
            Continuation::Offset(offset),
            WindowRange::Lines { bytes: length, .. } | WindowRange::Bytes { length, .. },
        ) => WindowRange::Bytes { offset, length: *length },
        (Continuation::Line(_) | Continuation::Part(_), _) => panic!("{next:?} after {first:?}"),
    }
}
