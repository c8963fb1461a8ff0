//! Lead of a text: the lines at its beginning that say what it is about.

use std::ops::Range;

use crate::TextKind;
use crate::passages::{TextLine, front_matter_lines, lines};
use crate::summary::{is_comment, is_decoration, is_legal_line};

/// The most lines that are looked at.
const MAX_LINES: usize = 200;

/// Headings of manual pages whose sections have no words: how something is called, and where from.
const SKIPPED_SECTIONS: [&str; 7] =
    ["SYNOPSIS", "LIBRARY", "書式", "形式", "構文", "ライブラリ", "ライブラリー"];

/// The lines at the beginning of a text that say what it is about, in order: the leading comment of
/// source code; the first heading and the first paragraphs of words of other texts, until they have
/// `most` characters. Code, tables, images and rules are passed over.
pub fn lead(text: &str, kind: TextKind, most: usize) -> Vec<Range<usize>> {
    let found = match kind {
        TextKind::Code => comment_lines(text),
        TextKind::Markdown | TextKind::Plain => word_lines(text, kind, most),
    };
    bounded(text, joined(found), most)
}

/// The lines of the first comment that is not about rights.
fn comment_lines(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut is_docstring, mut is_legal) = (false, false);
    for (line, range) in ranges(text) {
        let code = line.head.trim();
        let is_inside = is_docstring || is_comment(code);
        is_docstring ^= code.matches("\"\"\"").count() == 1;
        if is_inside {
            is_legal |= is_legal_line(code);
            found.push(range);
        } else if !found.is_empty() {
            if !is_legal {
                break;
            }
            found.clear();
            is_legal = false;
        } else if !code.is_empty() && !code.starts_with(['#', '<']) {
            // What follows the first statement speaks of a part.
            break;
        }
    }
    if is_legal { Vec::new() } else { found }
}

/// The first lines of words, with the title above them.
fn word_lines(text: &str, kind: TextKind, most: usize) -> Vec<Range<usize>> {
    let is_markdown = kind == TextKind::Markdown;
    let skipped = if is_markdown { front_matter_lines(text) } else { 0 };
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut chars, mut is_fenced, mut is_skipped) = (0, false, false);
    let mut heading: Option<Range<usize>> = None;
    for (line, range) in ranges(text).skip(skipped) {
        let words = line.head.trim();
        let is_fence = is_markdown && (words.starts_with("```") || words.starts_with("~~~"));
        is_fenced ^= is_fence;
        if is_markdown && !is_fenced && words.starts_with('#') {
            is_skipped = SKIPPED_SECTIONS.contains(&words.trim_matches(['#', ' ']));
            heading = Some(range).filter(|_| !is_skipped && words.starts_with("# "));
            continue;
        }
        if is_skipped || is_fence || is_fenced || words.starts_with("<!--") || is_decoration(words)
        {
            continue;
        }
        // The title counts with the words that follow it; other headings say little.
        found.extend(heading.take());
        chars += text[range.clone()].trim().chars().count();
        found.push(range);
        if chars >= most {
            break;
        }
    }
    found.extend(heading.filter(|_| chars == 0));
    found
}

/// The first lines with their ranges, line breaks included.
fn ranges(text: &str) -> impl Iterator<Item = (TextLine<'_>, Range<usize>)> {
    let lengths = text.split_inclusive('\n').map(str::len);
    let ranges = lengths.scan(0, |start, length| {
        let range = *start..*start + length;
        *start = range.end;
        Some(range)
    });
    lines(text).zip(ranges).take(MAX_LINES)
}

/// Neighbouring lines, and those with a blank line between them, as one range.
fn joined(lines: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for line in lines {
        match joined.last_mut() {
            Some(last) if line.start <= last.end + 1 => last.end = line.end,
            _ => joined.push(line),
        }
    }
    joined
}

/// As much of the ranges as has about `most` characters: the last is cut behind a sentence, which
/// may have up to half as many more, or else behind a word.
fn bounded(text: &str, ranges: Vec<Range<usize>>, most: usize) -> Vec<Range<usize>> {
    let mut left = most;
    let mut kept = Vec::new();
    for range in ranges {
        let part = &text[range.clone()];
        let chars = part.chars().count();
        if chars <= left {
            left -= chars;
            kept.push(range);
            continue;
        }
        let place = |chars: usize| part.char_indices().nth(chars).map_or(part.len(), |(at, _)| at);
        let cut = cut_place(part, place(left), place(left + most / 2));
        if cut > 0 {
            kept.push(range.start..range.start + cut);
        }
        break;
    }
    kept
}

/// Where a text is cut that is too long: behind the sentence that `aim` is in, if it ends before
/// `most`; behind the last sentence before, if it has half of that; or else behind the last word.
fn cut_place(text: &str, aim: usize, most: usize) -> usize {
    let is_words = |line: &str| !line.is_empty() && !line.starts_with('#');
    let ends = |(at, c): &(usize, char)| match c {
        '。' => true,
        '.' => text[at + 1..].starts_with([' ', '\n']),
        // A heading is no sentence.
        '\n' => {
            text[at + 1..].starts_with('\n')
                && text[..*at].lines().next_back().is_some_and(is_words)
        }
        _ => false,
    };
    let behind = |(at, c): (usize, char)| at + c.len_utf8();
    let next = text.char_indices().skip_while(|(at, _)| *at + 1 < aim).find(ends).map(behind);
    let last = || text[..aim].char_indices().rev().find(ends).map(behind);
    let is_wide = |c: char| crate::fold::script_of(c).is_some();
    let is_end = |(_, c): &(usize, char)| c.is_whitespace() || is_wide(*c);
    let word = || text[..aim].char_indices().rev().find(is_end).map(behind);
    let next = next.filter(|end| *end <= most);
    next.or_else(|| last().filter(|end| *end * 2 >= aim)).or_else(word).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::lead;
    use crate::TextKind::{self, Code, Markdown, Plain};

    fn words(text: &str, kind: TextKind, most: usize) -> Vec<&str> {
        lead(text, kind, most).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_manual_page_leads_with_its_name_and_its_description_without_the_synopsis() {
        let page = "# qsort(3)\n\n## NAME\n\nqsort - sort an array\n\n## SYNOPSIS\n\n```\nvoid qsort();\n```\n\n\
                    ## DESCRIPTION\n\nIt sorts an array. It is stable.\n\nMore.\n";
        assert_eq!(words(page, Markdown, 35), ["qsort - sort an array\n", "It sorts an array."]);
        assert_eq!(words(page, Markdown, 10), ["qsort - "]);
    }

    #[test]
    fn source_code_leads_with_the_comment_at_its_head() {
        let code =
            "// Copyright 2026 A\n\n//! Rate limit of the log.\n//! Per site.\n\nuse x;\n// y";
        assert_eq!(words(code, Code, 200), ["//! Rate limit of the log.\n//! Per site.\n"]);
        assert_eq!(words("fn main() {}\n// y\n", Code, 200), [""; 0]);
    }

    #[test]
    fn front_matter_images_and_fences_are_passed_over() {
        let page = "---\ntitle: x\n---\n![logo](a.png)\n\n# Guide\n\n| a | b |\n\nHow to begin.\n";
        assert_eq!(words(page, Markdown, 200), ["# Guide\n", "How to begin.\n"]);
        assert_eq!(words("# Alone\n", Markdown, 200), ["# Alone\n"]);
        assert_eq!(words("", Plain, 200), [""; 0]);
    }

    #[test]
    fn a_lead_ends_with_a_sentence_and_has_at_most_half_more_than_asked_for() {
        let text = "共有メモリの概要である。次の文が続く。".repeat(100);
        for most in [0, 1, 7, 30, 500] {
            for kind in [Code, Markdown, Plain] {
                let chars: usize = words(&text, kind, most).iter().map(|w| w.chars().count()).sum();
                assert!(chars <= most + most / 2, "{most}: {chars}");
            }
        }
        assert_eq!(words(&text, Plain, 14), ["共有メモリの概要である。次の文が続く。"]);
        assert_eq!(words(&text, Plain, 9), ["共有メモリの概要である。"]);
        assert_eq!(words(&text, Plain, 3), ["共有メ"]);
    }
}
