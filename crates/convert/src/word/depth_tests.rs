//! Tests of documents that nest as deep as they may.

use crate::document::DocumentKind;
use crate::office_fixture::{docx_body, html, markdown, odf};

fn nested(start: &str, inner: &str, end: &str, depth: usize) -> String {
    format!("{}{inner}{}", start.repeat(depth), end.repeat(depth))
}

#[test]
fn elements_of_word_nest_deep_without_harm() {
    let run = "<w:r><w:t>x</w:t></w:r>";
    let cell = format!("<w:p>{run}</w:p>");
    let beside = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>y</w:t></w:r></w:p></w:tc><w:tc>";
    let bodies = [
        nested(beside, &cell, "</w:tc></w:tr></w:tbl>", 62),
        format!("<w:p>{}</w:p>", nested("<w:smartTag>", run, "</w:smartTag>", 190)),
        nested(
            "<w:p><w:r><w:drawing><w:txbxContent>",
            &cell,
            "</w:txbxContent></w:drawing></w:r></w:p>",
            48,
        ),
    ];
    for body in bodies {
        let bytes = docx_body(&body);
        assert!(markdown(DocumentKind::Docx, &bytes).contains('x'));
        assert!(html(DocumentKind::Docx, &bytes).contains('x'));
    }
}

#[test]
fn elements_of_opendocument_nest_deep_without_harm() {
    let text = "<text:p>x</text:p>";
    let bodies = [
        nested("<text:list><text:list-item>", text, "</text:list-item></text:list>", 97),
        format!("<text:p>{}</text:p>", nested("<text:span>", "x", "</text:span>", 190)),
        nested(
            "<text:p><text:note><text:note-body>",
            text,
            "</text:note-body></text:note></text:p>",
            64,
        ),
        nested("<draw:g>", "<draw:rect><text:p>x</text:p></draw:rect>", "</draw:g>", 190),
    ];
    for body in bodies {
        let bytes = odf("text", "", &body, &[]);
        assert!(markdown(DocumentKind::Odt, &bytes).contains('x'));
        assert!(html(DocumentKind::Odt, &bytes).contains('x'));
    }
}
