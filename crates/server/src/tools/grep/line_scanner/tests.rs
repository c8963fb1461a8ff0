//! Tests of the line scanner, with whole and with chunked input.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use machinery::WorkSignal;
use proptest::prelude::{any, proptest};

use super::super::line_regex::LineRegex;
use super::{BatchEnd, LineMatch, LineScanner, MAX_CONTEXT_BYTES};

fn slice() -> WorkSignal {
    WorkSignal::until(tokio::time::Instant::now() + Duration::from_secs(60))
}

/// Scans a text in chunks that end at `cuts`.
fn scanned(pattern: &str, around: usize, text: &str, cuts: &[usize]) -> Vec<LineMatch> {
    let expression = Arc::new(LineRegex::new(pattern, false).unwrap());
    let mut scan = LineScanner::new(expression, around);
    let mut hits = Vec::new();
    let mut at = 0;
    let ends = cuts.iter().copied().filter(|cut| text.is_char_boundary(*cut));
    for end in ends.chain([text.len()]) {
        let end = end.max(at);
        let is_last = end == text.len();
        scan.push_chunk(Bytes::copy_from_slice(&text.as_bytes()[at..end]), is_last);
        loop {
            let (matches, end) = scan.next_batch(&slice());
            hits.extend(matches);
            match end {
                BatchEnd::Paused => {}
                BatchEnd::ChunkDone => break,
                BatchEnd::TooCostly => panic!("{pattern} is too costly"),
            }
        }
        at = end;
        if is_last {
            break;
        }
    }
    hits
}

fn found(pattern: &str, text: &str) -> Vec<(u64, String)> {
    scanned(pattern, 0, text, &[]).into_iter().map(|hit| (hit.line, hit.text)).collect()
}

fn some(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
    lines.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
}

#[test]
fn each_line_that_matches_is_told_once() {
    assert_eq!(found("a", "aaa\nb\nca"), some(&[(1, "aaa"), (3, "ca")]));
    assert_eq!(found("^b$", "a\r\nb\r\nb"), some(&[(2, "b"), (3, "b")]));
    assert_eq!(found("", "a\n\nb\n"), some(&[(1, "a"), (2, ""), (3, "b")]));
    assert_eq!(found("^$", "a\n\n"), some(&[(2, "")]));
    assert_eq!(found("^$", "\r\n"), some(&[(1, "")]));
    assert_eq!(found("", ""), some(&[]));
    assert_eq!(found("^x", "\u{feff}x\n"), some(&[(1, "x")]));
    assert_eq!(found(r"\s", "a\nb c\n"), some(&[(2, "b c")]));
    assert_eq!(found(r"日\b", "日本\n日"), some(&[(2, "日")]));
}

#[test]
fn lines_around_a_match_are_given_with_their_place() {
    let text = "1\n2\n3\n4\n5\n6\n7\n";
    let hits = scanned("[15]", 2, text, &[]);
    let around: Vec<_> = hits.iter().map(|hit| &hit.context).collect();
    assert_eq!((around[0].line, around[0].offset, &*around[0].text), (1, 0, "1\n2\n3\n"));
    assert_eq!((around[1].line, around[1].offset, &*around[1].text), (3, 4, "3\n4\n5\n6\n7\n"));
}

#[test]
fn of_a_long_line_what_is_around_the_match_is_given() {
    let text = format!("first\n{}needle{}\nlast\n", "日".repeat(9_000), "本".repeat(9_000));
    let hits = scanned("needle", 2, &text, &[]);
    let around = &hits[0].context;
    assert!(
        around.text.len() <= MAX_CONTEXT_BYTES
            && around.is_truncated
            && around.text.contains("日needle本")
    );
    assert_eq!((around.line, &hits[0].text), (2, &around.text));
    let offset = around.offset as usize;
    assert_eq!(&text[offset..offset + around.text.len()], around.text);
    // Context lines that are too long are dropped, the match is kept.
    let text = format!("{}\nneedle\n", "x".repeat(MAX_CONTEXT_BYTES));
    let around = &scanned("needle", 1, &text, &[])[0].context;
    assert_eq!((around.line, &*around.text), (2, "needle\n"));
}

/// Search time is linear in the text, whatever the pattern.
#[test]
fn a_pattern_that_others_hang_on_ends() {
    let text = "a".repeat(1 << 20);
    assert_eq!(found("(a+)+$", &format!("{text}\n")).len(), 1);
    assert_eq!(found("(a+)+$", &format!("{text}!\n")).len(), 0);
    assert_eq!(found("(a*)*b", &text).len(), 0);
    assert_eq!(found("[^z]+z", &"a\n".repeat(1 << 19)).len(), 0);
}

proptest! {
    #[test]
    fn chunks_make_no_difference(
        text in "[ab日\\n\\r ]{0,60}", mut cuts in proptest::collection::vec(0..150_usize, 0..6),
        around in 0..4_usize, which in any::<proptest::sample::Index>(),
    ) {
        let patterns = ["a", "^b", "a$", r"\s", "", "^$", "日+", r"\bb", "(a|b)+ "];
        let pattern = patterns[which.index(patterns.len())];
        cuts.sort_unstable();
        let cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < text.len()).collect();
        let whole = scanned(pattern, around, &text, &[]);
        assert_eq!(scanned(pattern, around, &text, &cuts), whole);
        // Matching each line on its own gives the same result.
        let expression = LineRegex::new(pattern, false).unwrap();
        let single = (1..).zip(text.split_inclusive('\n')).scan(0, |at, (number, line)| {
            let start = *at;
            *at += line.len();
            let end = *at - usize::from(line.ends_with('\n'));
            Some((number, expression.first_match_end(text.as_bytes(), start..end).is_some()))
        });
        let single = single.filter(|(_, is_found)| *is_found);
        let single: Vec<u64> = single.map(|(at, _)| at).collect();
        assert_eq!(whole.iter().map(|hit| hit.line).collect::<Vec<_>>(), single, "{pattern:?}");
    }
}
