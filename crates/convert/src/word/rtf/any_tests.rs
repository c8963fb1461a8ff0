//! Tests of RTF in any order of its tokens.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, proptest};
use proptest::sample::select;

use crate::document::DocumentKind;
use crate::form::Form;
use crate::office_fixture::converted;

const TOKENS: &[&str] = &[
    "{",
    "}",
    "{\\field",
    "{\\*\\fldinst HYPERLINK x",
    "{\\fldrslt y",
    "{\\footnote ",
    "\\footnote ",
    "{\\*\\annotation ",
    "{\\header ",
    "{\\shptxt ",
    "{\\pict ",
    "{\\listtext 1.",
    "{\\fonttbl",
    "{\\stylesheet",
    "{\\s1 name;",
    "{\\f1\\fcharset128 font;",
    "\\pard ",
    "\\par ",
    "\\intbl ",
    "\\itap3 ",
    "\\itap-1 ",
    "\\cell ",
    "\\nestcell ",
    "\\row ",
    "\\nestrow ",
    "\\trowd ",
    "\\cellx100 ",
    "\\cellx-2147483648 ",
    "\\clmrg ",
    "\\clvmrg ",
    "\\u-10179 ",
    "\\u26085 ",
    "\\uc9 ",
    "\\'93",
    "\\'fa",
    "\\f1 ",
    "\\dbch ",
    "\\af1 ",
    "\\b ",
    "\\plain ",
    "\\deleted ",
    "\\line ",
    "\\ls1 ",
    "\\ilvl99 ",
    "\\li720 ",
    "\\s1 ",
    "\\outlinelevel300 ",
    "\\bin3 ",
    "text ",
    "\\~",
    "\\*",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn tokens_in_any_order_are_read_or_refused(tokens in vec(select(TOKENS), 0..120)) {
        let body: String = tokens.concat();
        let open = body.matches('{').count();
        let whole = format!("{{\\rtf1\\ansi {body}{}", "}".repeat(open + 1));
        for form in [Form::Markdown, Form::Html] {
            let _ = converted(DocumentKind::Rtf, whole.as_bytes(), form);
            let _ = converted(DocumentKind::Rtf, format!("{{\\rtf1 {body}").as_bytes(), form);
        }
    }
}
