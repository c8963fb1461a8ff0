//! Converter of AsciiDoc: HTML that loads and runs nothing; highlighting and outline as of source.

use asciidoc_html5::{Options as AsciiDocOptions, SafeMode, convert_with};

use crate::conversion::Conversion;
use crate::decode::decode;
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;
use crate::html::{over_output_limit, sanitise};
use crate::source;

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    if form != Form::Html {
        // The name that a converter is given may be an ending alone.
        return source::convert(&Document { name: "page.adoc", ..*document }, form);
    }
    // In this mode the reader includes no file, and gives a link in its place.
    let options = AsciiDocOptions::new().safe_mode(SafeMode::Secure).set("showtitle");
    let page = convert_with(&decode(document.bytes, None), &options);
    if page.len() > document.options.max_output_bytes {
        return Err(over_output_limit(document.options));
    }
    sanitise(&page, document.options)
}

#[cfg(test)]
mod tests {
    use crate::document::{Document, DocumentKind};
    use crate::form::Form;
    use crate::options::Options;

    fn html(text: &str) -> String {
        let kind = DocumentKind::of_name("guide.adoc", Some("text/asciidoc")).unwrap();
        let options = &Options::default();
        let document = Document { kind, bytes: text.as_bytes(), name: "guide.adoc", options };
        let converted = crate::convert(&document, Form::Html).unwrap();
        String::from_utf8(converted.body).unwrap()
    }

    #[test]
    fn headings_lists_tables_and_code_are_given() {
        let page = html(
            "= 港の手引き\n\n== Boats\n\nText with *bold*, _italics_ and `code`.\n\n* one\n** two\n\n\
             Then:\n\n. first\n\n|===\n|Name |Price\n\n|tea |120\n|===\n\n[source,rust]\n----\nfn main() {}\n----\n\n\
             NOTE: mind the tide\n\nsee footnote:[at night]\n",
        );
        for piece in [
            "<h1>港の手引き</h1>",
            "Boats</h2>",
            "<strong>bold</strong>",
            "<em>italics</em>",
            "<code>code</code>",
            "<td",
            "tea",
            "fn main() {}",
            "mind the tide",
            "at night",
        ] {
            assert!(page.contains(piece), "{piece} in {page}");
        }
        assert!(page.matches("<li>").count() >= 3 && page.contains("<ol"), "{page}");
    }

    #[test]
    fn nothing_is_included_loaded_or_run() {
        let page = html(
            "include::/etc/hostname[]\n\nimage::http://example.com/a.png[x]\n\n++++\n<script>alert(1)</script>\n\
             <img src=x onerror=alert(2)>\n++++\n\nlink:javascript:alert(3)[press]\n\n\
             +++<iframe src=\"http://example.com\"></iframe>+++\n\nvideo::a.mp4[]\n\n:stylesheet: x.css\n",
        );
        for piece in
            ["<script", "onerror", "href=\"javascript:", "<iframe", "<video", "<link", "src=\"http"]
        {
            assert!(!page.contains(piece), "{piece} in {page}");
        }
    }

    #[test]
    fn hostile_documents_end_within_bounds() {
        let bomb: String = (1..12)
            .map(|at| format!(":a{at}: {}\n", format!("{{a{}}}", at - 1).repeat(10)))
            .collect();
        for text in [
            format!(":a0: xxxxxxxxxx\n{bomb}\n{{a11}}\n"),
            ":a: {b}\n:b: {a}\n\n{a}\n".to_owned(),
            "a".repeat(1 << 20),
            "[".repeat(1 << 20),
            "|===\na|\n".repeat(300),
            (0..400).map(|at| format!("{}\n", "=".repeat(4 + at))).collect(),
            (1..400).map(|at| format!("{} x\n", "*".repeat(at))).collect(),
            "ifdef::x[]\n".repeat(20_000),
            "+++".repeat(100_000),
            "\0\u{FEFF}\r\n= \r\n".to_owned(),
        ] {
            let page = html(&text);
            assert!(page.len() <= 4 << 20, "{} bytes", page.len());
        }
    }

    #[test]
    fn the_outline_and_the_highlighted_text_stay() {
        let options = &Options::default();
        let (kind, bytes) = (DocumentKind::AsciiDoc, "= Title\n\n== One\n".as_bytes());
        let document = Document { kind, bytes, name: "adoc", options };
        let outline = crate::convert(&document, Form::Outline).unwrap();
        assert!(String::from_utf8(outline.body).unwrap().contains("One"));
        assert!(crate::convert(&document, Form::HighlightedHtml).is_ok());
    }
}
