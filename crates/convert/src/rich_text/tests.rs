//! Tests of the writers of rich text.

use super::{
    ListMarker, RichBlock, RichCell, RichSpan, RichTable, RichText, SpanContent, SpanStyle,
    write_html, write_markdown,
};
use crate::error::ConvertErrorKind;
use crate::options::Options;

fn markdown_of(blocks: Vec<RichBlock>, options: &Options) -> String {
    let text = RichText { blocks, ..RichText::default() };
    String::from_utf8(write_markdown(text, options).unwrap().body).unwrap()
}

fn span(text: &str, style: SpanStyle) -> RichSpan {
    RichSpan::text(text, style)
}

#[test]
fn a_table_over_the_limits_says_what_is_left_out() {
    let row = || vec![RichCell::single(vec![RichBlock::plain("x")]); 3];
    let table = RichTable { rows: (0..5).map(|_| row()).collect() };
    let options = Options { max_table_rows: 2, max_table_columns: 2, ..Options::default() };
    let text = markdown_of(vec![RichBlock::Table(table)], &options);
    let wanted = "| x | x |\n| --- | --- |\n| x | x |\n| x | x |\n\n*2 more rows and 1 column are left out*\n";
    assert_eq!(text, wanted);
}

#[test]
fn huge_spans_cost_no_more_than_the_limit() {
    let cell = RichCell { blocks: vec![RichBlock::plain("x")], columns: u16::MAX, rows: u16::MAX };
    let table = RichTable { rows: vec![vec![cell; 100]; 100] };
    let text = markdown_of(vec![RichBlock::Table(table)], &Options::default());
    assert!(text.starts_with("| x |  |"), "{}", &text[..40]);
    assert!(text.len() < 100_000);
}

#[test]
fn a_text_over_the_limit_is_refused() {
    let options = Options { max_output_bytes: 10, ..Options::default() };
    let text = || RichText {
        blocks: vec![RichBlock::plain("x".repeat(20)), RichBlock::plain("y")],
        ..RichText::default()
    };
    for error in
        [write_markdown(text(), &options).unwrap_err(), write_html(text(), &options).unwrap_err()]
    {
        assert_eq!(error.kind, ConvertErrorKind::OverLimit);
    }
}

#[test]
fn marks_close_and_open_as_styles_and_links_change() {
    let (bold, italic) = (SpanStyle::BOLD, SpanStyle::ITALIC);
    let link = |text: &str, style| RichSpan {
        link: Some("https://a.example/x(1)".into()),
        ..span(text, style)
    };
    let spans = vec![
        span("a ", bold),
        span("b", bold.with(italic, true)),
        span(" c ", italic),
        link("d", bold),
        link(" e", SpanStyle::default()),
        RichSpan::plain(SpanContent::Note("1".to_owned())),
    ];
    let text = markdown_of(vec![RichBlock::Paragraph(spans)], &Options::default());
    assert_eq!(text, "**a *b*** *c* [**d** e](<https://a.example/x(1)>)[^1]\n");
}

#[test]
fn a_link_that_shows_its_address_is_written_once_and_code_has_no_escapes() {
    let link = RichSpan {
        link: Some("https://a.example/a_b_".into()),
        ..span("https://a.example/a_b_", SpanStyle::default())
    };
    let code = span("x*y*", SpanStyle::CODE);
    let spans =
        vec![link, span(" ", SpanStyle::default()), code, span(" and", SpanStyle::default())];
    let text = markdown_of(vec![RichBlock::Paragraph(spans)], &Options::default());
    assert_eq!(text, "https://a.example/a_b_ `x*y*` and\n");
}

#[test]
fn a_list_that_begins_inside_and_its_further_paragraphs_keep_their_levels() {
    let item = |level, marker, text: &str| RichBlock::Item {
        level,
        marker,
        spans: vec![span(text, SpanStyle::default())],
    };
    let blocks = vec![
        item(1, ListMarker::Bullet, "a"),
        item(1, ListMarker::Bullet, "b"),
        item(0, ListMarker::Number(10), "c"),
        item(0, ListMarker::Continuation, "more"),
        item(2, ListMarker::Bullet, "d"),
    ];
    let text = markdown_of(blocks.clone(), &Options::default());
    assert_eq!(text, "- a\n- b\n\n10. c\n\n    more\n    - d\n");
    let page = write_html(RichText { blocks, ..RichText::default() }, &Options::default()).unwrap();
    let page = String::from_utf8(page.body).unwrap();
    let wanted = "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol start=\"10\">\n<li>c<p>more</p>\n<ul>\n<li>d</li>\n</ul>\n</li>\n</ol>\n";
    assert!(page.contains(wanted), "{page}");
}
