//! Tests of the fields of Word documents.

use crate::document::DocumentKind;
use crate::office_fixture::{docx_body, markdown};

fn field(begin: &str, instruction: &str, result: &str) -> String {
    let mark = |kind: &str, inner: &str| {
        format!("<w:r><w:fldChar w:fldCharType='{kind}'>{inner}</w:fldChar></w:r>")
    };
    format!(
        "{}<w:r><w:instrText>{instruction}</w:instrText></w:r>{}<w:r><w:t>{result}</w:t></w:r>{}",
        mark("begin", begin),
        mark("separate", ""),
        mark("end", ""),
    )
}

fn text_of(line: &str) -> String {
    markdown(DocumentKind::Docx, &docx_body(&format!("<w:p>{line}</w:p>")))
}

#[test]
fn a_field_shows_its_result_and_not_its_instruction() {
    assert_eq!(text_of(&field("", "PAGEREF x", "7")), "7");
    let inner = field("", "DATE", "2024");
    let outer = field("", &format!("IF</w:instrText></w:r>{inner}<w:r><w:instrText>"), "shown");
    assert_eq!(text_of(&outer), "shown");
    let simple =
        "<w:fldSimple w:instr='HYPERLINK https://a.example'><w:r><w:t>x</w:t></w:r></w:fldSimple>";
    assert_eq!(text_of(simple), "[x](https://a.example)");
}

#[test]
fn a_form_shows_what_is_checked_and_chosen() {
    let check = |state: &str| format!("<w:ffData><w:checkBox>{state}</w:checkBox></w:ffData>");
    let list = "<w:ffData><w:ddList><w:result w:val='1'/><w:listEntry w:val='no'/><w:listEntry w:val='yes'/></w:ddList></w:ffData>";
    let line = field(&check("<w:checked/>"), "FORMCHECKBOX", " a ")
        + &field(&check("<w:default w:val='0'/>"), "FORMCHECKBOX", " b ")
        + &field(list, "FORMDROPDOWN", "");
    assert_eq!(text_of(&line), "☑ a ☐ b yes");
}

#[test]
fn an_equation_field_with_a_reading_is_ruby() {
    let line = "<w:r><w:fldChar w:fldCharType='begin'/><w:instrText>eq \\o\\ad(\\s\\up 9(かんじ),漢字)</w:instrText>\
        <w:fldChar w:fldCharType='end'/></w:r>";
    assert_eq!(text_of(line), "漢字(かんじ)");
}
