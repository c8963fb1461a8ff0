//! Tests of titles and descriptions.

use super::super::page_path::PageKind;
use super::{PageHead, shortened};

fn texts(kind: PageKind, text: &str) -> (Option<String>, Option<String>) {
    let head = PageHead::read(kind, text, true);
    (head.title(), head.description())
}

#[test]
fn title_and_description_come_from_front_matter_first_heading_and_paragraph() {
    for (kind, text, title, description) in [
        (
            PageKind::Markdown,
            "# Guide\n\nHow to *use* it.\nAnd more.\n\nNext.",
            "Guide",
            "How to use it. And more.",
        ),
        (PageKind::Markdown, "---\ntitle: T\ndescription: D\n---\n# Guide\n\nText.", "T", "D"),
        (
            PageKind::Markdown,
            "[![ci](x)](y)\n\nはじめに\n========\n\nこれは\n説明です。\n",
            "はじめに",
            "これは説明です。",
        ),
        (
            PageKind::Markdown,
            "<!-- a\nb -->\n# T\n\n```\n# no\n```\n> quote\n\nText.",
            "T",
            "Text.",
        ),
        (
            PageKind::ReStructuredText,
            "=====\nTitle\n=====\n\n:Author: x\n\n.. note::\n   no\n\nText here.",
            "Title",
            "Text here.",
        ),
        (PageKind::AsciiDoc, "= Title\n:toc:\n\nText here.\n", "Title", "Text here."),
        (PageKind::PlainText, "README of x\n\nIt does things.\n", "README of x", "It does things."),
        (
            PageKind::Html,
            "<html lang=\"ja\"><title>題 &amp; 名</title><meta name=description content='説明'>",
            "題 & 名",
            "説明",
        ),
    ] {
        let expected = (Some(title.to_owned()), Some(description.to_owned()));
        assert_eq!(texts(kind, text), expected, "{text}");
    }
    assert_eq!(
        texts(PageKind::Markdown, "# T\n\n## License\n\nMIT\n").1,
        None,
        "not what it is about"
    );
    assert_eq!(texts(PageKind::Markdown, ""), (None, None));
    assert_eq!(texts(PageKind::Markdown, "- a\n- b\n"), (None, None));
}

#[test]
fn a_front_matter_without_an_end_is_a_fault_of_its_page() {
    let faults =
        |text: &str, is_whole| PageHead::read(PageKind::Markdown, text, is_whole).front.faults;
    assert!(faults("---\ntitle: x\n# Text\n", true)[0].contains("does not end"));
    assert!(faults("---\ntitle: x\n", false)[0].contains("64 KiB"));
    assert!(faults("---\n\nA rule, then text.\n", true).is_empty());
}

#[test]
fn long_texts_are_cut_between_words() {
    assert_eq!(shortened("one two three", 9).as_deref(), Some("one two…"));
    assert_eq!(shortened("日本語の文章です", 4).as_deref(), Some("日本語の…"));
    assert_eq!(shortened(" \n ", 4), None);
}

#[test]
fn any_head_is_read_without_a_panic() {
    let examples: &[&[u8]] =
        &[b"# a\n\nb", b"a\n===\n", b"<html lang=x><p>a</p>", b".TH a 1\n.SH NAME\na \\- b"];
    let check = |input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        for kind in [
            PageKind::Markdown,
            PageKind::ReStructuredText,
            PageKind::AsciiDoc,
            PageKind::Html,
            PageKind::PlainText,
            PageKind::Manual,
        ] {
            PageHead::read(kind, &text, true);
        }
    };
    testkit::FuzzTarget { name: "page heads", examples, check }.test();
}
