//! Tests of the reader of RTF documents.

use crate::document::DocumentKind;
use crate::error::ConvertErrorKind;
use crate::form::Form;
use crate::office_fixture::{converted, html, markdown};

const HEAD: &str = r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset128 Mincho;}{\f2\fcharset2 Symbol;}{\f3\fcharset0 Courier New;}}{\stylesheet{\s1\outlinelevel0 heading 1;}{\s2\sbasedon1 Own;}{\s3 heading 3;}}{\info{\title hidden}}";

fn text_of(body: &str) -> String {
    markdown(DocumentKind::Rtf, format!("{HEAD}{body}}}").as_bytes())
}

#[test]
fn text_is_decoded_by_font_by_code_page_and_by_number() {
    // The second byte of the character is a backslash.
    let (sjis, _, _) = encoding_rs::SHIFT_JIS.encode("日本語の表示");
    let hex: String = sjis.iter().map(|byte| format!("\\'{byte:02x}")).collect();
    assert_eq!(text_of(&format!("{{\\f1 {hex}}} caf\\'e9\\par")), "日本語の表示 café");
    assert_eq!(text_of(r"\uc1\u26085?\u26412?{\uc2\u-10179\'81\'40\u-8704\'81\'40}\par"), "日本😀");
    assert_eq!(text_of(r"\loch\af0 a\dbch\af1 \'93\'fa\loch b\par"), "a日b");
    let page = r"{\rtf1\ansi\ansicpg932{\fonttbl{\f0 X;}}\'93\'fa\'96\{\par}";
    assert_eq!(markdown(DocumentKind::Rtf, page.as_bytes()), "日本");
}

#[test]
fn headings_are_told_by_style_by_parent_and_by_outline_level() {
    let body = r"\pard\s1 A\par\pard\s2 B\par\pard\s3 C\par\pard\outlinelevel1 D\par\pard E\par";
    assert_eq!(text_of(body), "# A\n\n# B\n\n### C\n\n## D\n\nE");
}

#[test]
fn lists_have_the_marks_of_their_text() {
    let body = r"{\listtext\f2\'b7\tab}\pard\ls1 a\par{\listtext (a)\tab}\pard\ls1\ilvl1 b\par{\pntext 3.\tab}\pard c\par\pard\bullet\tab d\par";
    assert_eq!(text_of(body), "- a\n  - (a) b\n\n3. c\n\n- d");
}

#[test]
fn cells_span_by_their_edges_and_merges() {
    let body = r"\trowd\cellx1\cellx1000\cellx2000\intbl a\cell b\cell c\cell\row\trowd\cellx1000\clvmgf\cellx2000\intbl wide\cell tall\cell\row\trowd\cellx1\cellx1000\clvmrg\cellx2000\intbl d\cell e|f\cell\cell\row\pard after\par";
    let wanted =
        "| a | b | c |\n| --- | --- | --- |\n| wide |  | tall |\n| d | e\\|f |  |\n\nafter";
    assert_eq!(text_of(body), wanted);
    let page = html(DocumentKind::Rtf, format!("{HEAD}{body}}}").as_bytes());
    assert!(page.contains("<td colspan=\"2\">wide</td><td rowspan=\"2\">tall</td>"), "{page}");
}

#[test]
fn a_table_in_a_cell_stays_in_its_cell() {
    let body = r"\pard\intbl\itap1 before\par\pard\intbl\itap2 x\nestcell y\nestcell{\*\nesttableprops\trowd\cellx1\cellx2\nestrow}{\nonesttables\par}\pard\intbl\itap1 after\cell next\cell\trowd\cellx5\cellx9\row\pard end\par";
    assert_eq!(text_of(body), "| before<br>x / y<br>after | next |\n| --- | --- |\n\nend");
}

#[test]
fn notes_comments_links_ruby_and_boxes_are_given() {
    let body = r#"a{\super\chftn}{\footnote\pard\plain{\super\chftn} foot} {\field{\*\fldinst HYPERLINK "https://a.example"}{\fldrslt link}}{\*\atnid K}{\*\atnauthor Kim}\chatn{\*\annotation{\*\atndate 1} why}{\shp{\*\shpinst{\shptxt\pard box\par}}{\shprslt\par box}}\par{\field{\*\fldinst EQ \\o\\ad(\\s\\up 9(r),base)}{\fldrslt}}\par"#;
    let wanted = "a[^1] [link](https://a.example)[^c1]\n\nbox\n\nbase(r)\n\n[^1]: foot\n\n[^c1]: Comment by Kim: why";
    assert_eq!(text_of(body), wanted);
}

#[test]
fn deleted_text_pictures_and_binary_data_are_left_out() {
    let body = r"a {\deleted old}{\revised new} {\*\shppict{\pict{\*\picprop{\sp{\sn wzDescription}{\sv cat}}}\pngblip 89504e47}}{\nonshppict{\pict 00}}\bin4 }}}} {\*\unknown skip}z\par";
    assert_eq!(text_of(body), "a new ![cat]() z");
}

#[test]
fn styles_code_symbols_and_margins_are_given() {
    let body = r"{\header\pard Company\par}{\headerf\pard Company\par}{\footer\pard\chpgn 3\par}{\b bold}\b0  {\i it}\line{\f3 x_y} {\f2 a}\emdash\~z\par";
    assert_eq!(text_of(body), "Header: Company\n\n**bold** *it*  \n`x_y` α— z");
}

#[test]
fn bad_documents_have_errors_of_the_right_kind() {
    let kind = |text: &str| {
        let converted = converted(DocumentKind::Rtf, text.as_bytes(), Form::Markdown);
        converted.err().map(|error| error.kind)
    };
    assert_eq!(kind("text"), Some(ConvertErrorKind::Damaged));
    assert_eq!(kind("{\\rtf1 text"), Some(ConvertErrorKind::Damaged));
    let braces = format!("{{\\rtf1{}", "{".repeat(1_000_000));
    assert_eq!(kind(&braces), Some(ConvertErrorKind::OverLimit));
    assert_eq!(kind("{\\rtf1 whole}\0\0"), None);
}

#[test]
fn a_list_inside_of_a_list_is_told_by_its_indent() {
    let item = |label: &str, list: u8, indent: u32, text: &str| {
        format!("{{\\listtext {label}\\tab}}\\pard\\ls{list}\\li{indent} {text}\\par")
    };
    let body = [
        item("1.", 1, 720, "a"),
        item("-", 2, 1440, "b"),
        item("-", 2, 1440, "c"),
        item("2.", 1, 720, "d"),
    ];
    assert_eq!(text_of(&body.concat()), "1. a\n   - b\n   - c\n2. d");
}
