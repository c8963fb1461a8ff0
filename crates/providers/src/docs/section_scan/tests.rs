//! Tests of the scanner of sections.

use super::{MAX_SECTIONS, PageSections, SectionScan};
use crate::docs::page_path::PageKind;

fn scan(kind: PageKind, text: &str, chunk: usize) -> PageSections {
    let mut scan = SectionScan::new(kind);
    text.as_bytes().chunks(chunk.max(1)).for_each(|bytes| scan.push(bytes));
    scan.finish()
}

fn texts(kind: PageKind, text: &str) -> Vec<(String, String)> {
    let found = scan(kind, text, text.len());
    let cut = |start: u64, end: u64| text[start as usize..end as usize].to_owned();
    found.sections.iter().map(|one| (one.name.clone(), cut(one.start, one.end))).collect()
}

#[test]
fn a_section_reaches_to_the_next_heading_of_its_level_and_the_title_is_none() {
    let text =
        "---\na: b\n---\n# 題\n序\n## 使い方\nあ\n### 細部\nい\n```\n# no\n```\n## 使い方\nう";
    let found = texts(PageKind::Markdown, text);
    let expected = [
        ("使い方", "## 使い方\nあ\n### 細部\nい\n```\n# no\n```\n"),
        ("細部", "### 細部\nい\n```\n# no\n```\n"),
        ("使い方-2", "## 使い方\nう"),
    ];
    assert_eq!(found, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    let whole = scan(PageKind::Markdown, text, text.len());
    for chunk in 1..9 {
        assert_eq!(scan(PageKind::Markdown, text, chunk), whole, "chunks of {chunk}");
    }
    assert_eq!(whole.sections[1].above, ["使い方"]);
    assert_eq!(whole.position("使い方-2"), Some(2));
}

#[test]
fn underlined_headings_are_found_in_markdown_and_restructured_text() {
    let names =
        |kind, text| texts(kind, text).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(PageKind::Markdown, "T\n===\nA\n---\nx\n\n---\n\nB\n---\n"), ["A", "B"]);
    let rst =
        "=====\nTitle\n=====\n\nOne\n---\n\ntext\n\nTwo\n---\n\nSub\n~~~\n\n.. code::\n\n   ===\n";
    assert_eq!(names(PageKind::ReStructuredText, rst), ["One", "Two", "Sub"]);
    let found = texts(PageKind::ReStructuredText, rst);
    assert!(found[1].1.contains("Sub") && found[0].1.starts_with("One\n---"), "{found:?}");
    assert_eq!(names(PageKind::AsciiDoc, "= T\n\n== A\n\n----\n== no\n----\n\n== B\n"), ["A", "B"]);
}

#[test]
fn equal_headings_get_names_that_no_other_has() {
    let text = "# T\n## a\n## a-2\n## a\n## a\n";
    let names: Vec<_> = texts(PageKind::Markdown, text).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "a-2", "a-3", "a-4"]);
}

#[test]
fn sections_are_bounded_and_a_line_without_end_takes_no_memory() {
    let text = "## x\n".repeat(MAX_SECTIONS + 10);
    let found = scan(PageKind::Markdown, &text, 4096);
    assert!(found.sections.len() == MAX_SECTIONS && found.is_cut);
    let mut scan = SectionScan::new(PageKind::Markdown);
    for _ in 0..1_000 {
        scan.push(&[b'#'; 10_000]);
    }
    assert!(scan.line.len() <= super::MAX_LINE_BYTES);
    assert!(scan.finish().sections.is_empty());
}

#[test]
fn any_text_has_sections_that_lie_in_it() {
    let examples: &[&[u8]] =
        &[b"# a\n## b\n", b"a\n===\nb\n---\n", b"== a\n", b"## \xc3\xa9\n```\n"];
    let check = |input: &[u8]| {
        let text = String::from_utf8_lossy(input).into_owned();
        for kind in [PageKind::Markdown, PageKind::ReStructuredText, PageKind::AsciiDoc] {
            let found = scan(kind, &text, 7);
            assert_eq!(found, scan(kind, &text, text.len()), "chunks do not matter");
            for section in &found.sections {
                assert!(section.start < section.end && section.end <= text.len() as u64);
                assert!(text.is_char_boundary(section.start as usize));
            }
        }
    };
    testkit::FuzzTarget { name: "sections", examples, check }.test();
}
