//! Properties of all converters, over small documents of each kind.

use proptest::prelude::*;
use testkit::documents::{DOCUMENT_ENDINGS, docx, text_cell, workbook};

use crate::conversion::Conversion;
use crate::document::{Document, DocumentKind};
use crate::error::ConvertErrorKind;
use crate::form::Form;
use crate::options::Options;

/// A small document of this kind with these words in it, and its file name.
fn document(kind: DocumentKind, words: &str) -> (Vec<u8>, String) {
    let names = DOCUMENT_ENDINGS.map(|ending| (ending, format!("a.{ending}")));
    let is_kind = |(_, name): &(&str, String)| DocumentKind::of_name(name, None) == Some(kind);
    let (ending, name) = names.into_iter().find(is_kind).expect("each kind has a document");
    (testkit::documents::document(ending, words), name)
}

/// Words, marks of formats among them.
fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,6}",
        "[ -~]{1,4}",
        Just("日本語".to_owned()),
        Just("é\u{301}🍵".to_owned()),
        Just("\n".to_owned()),
        Just("\\".to_owned()),
    ];
    prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "))
}

fn check_sections(converted: &Conversion, form: Form) -> Result<(), TestCaseError> {
    if !form.is_text() {
        return Ok(());
    }
    let text = std::str::from_utf8(&converted.body);
    prop_assert!(text.is_ok(), "{form:?} is no UTF-8");
    let text = text.unwrap_or_default();
    let starts: Vec<_> = converted.sections.iter().map(|section| section.start).collect();
    prop_assert!(starts.is_sorted(), "{starts:?}");
    prop_assert!(starts.iter().all(|start| text.is_char_boundary(*start)), "{starts:?}");
    for at in 0..starts.len() {
        prop_assert!(converted.section(at).is_some());
    }
    Ok(())
}

/// Asks for every form, also those that the kind does not have.
fn check_forms(kind: DocumentKind, bytes: &[u8], name: &str) -> Result<(), TestCaseError> {
    let options = &Options::default();
    for form in Form::ALL {
        let result = crate::convert(&Document { kind, bytes, name, options }, form);
        let is_known = kind.forms().contains(&form);
        match result {
            Ok(converted) => {
                prop_assert!(is_known, "{kind:?} {form:?}");
                check_sections(&converted, form)?;
            }
            Err(error) => {
                let is_unsupported = error.kind == ConvertErrorKind::Unsupported;
                prop_assert!(is_known || is_unsupported, "{kind:?} {form:?} {error}");
                prop_assert!(!error.message.is_empty());
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_form_of_every_kind_is_whole_or_refused(words in words()) {
        for kind in DocumentKind::all() {
            let (bytes, name) = document(kind, &words);
            check_forms(kind, &bytes, &name)?;
        }
    }

    #[test]
    fn documents_with_changed_bytes_never_panic(
        words in words(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        for kind in DocumentKind::all() {
            let (mut bytes, name) = document(kind, &words);
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            if let Some(cut) = &cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            check_forms(kind, &bytes, &name)?;
        }
    }
}

/// The documents are documents: each kind has all of its forms, and the words in the first one.
#[test]
fn every_small_document_is_converted() {
    for kind in DocumentKind::all() {
        let (bytes, name) = document(kind, "some words");
        let options = &Options::default();
        for form in kind.forms() {
            let document = Document { kind, bytes: &bytes, name: &name, options };
            let converted = crate::convert(&document, *form);
            let converted = converted.unwrap_or_else(|error| panic!("{kind:?} {form:?} {error}"));
            let text = String::from_utf8_lossy(&converted.body);
            let has_words = text.to_lowercase().contains("some words");
            let is_first = kind.forms().first() == Some(form);
            assert!(has_words || !is_first, "{kind:?} {form:?} {text}");
        }
    }
}

/// Tables of every kind that has them: what is left out is known, and without a limit nothing is.
#[test]
fn a_form_that_leaves_out_rows_is_cut_and_without_limits_it_is_whole() {
    let rows = 12;
    let word_row = "<w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr>".repeat(rows);
    let sheet_rows: String = (1..=rows)
        .map(|row| format!("<row r='{row}'>{}</row>", text_cell(&format!("A{row}"), "cell")))
        .collect();
    let page = format!("<table>{}</table>", "<tr><td>cell</td><td>2</td></tr>".repeat(rows));
    let documents = [
        (DocumentKind::Docx, docx(&format!("<w:tbl>{word_row}</w:tbl>"))),
        (DocumentKind::Xlsx, workbook("a", &sheet_rows)),
        (DocumentKind::Csv, "cell,2\n".repeat(rows).into_bytes()),
        (DocumentKind::Html, page.into_bytes()),
    ];
    for (kind, bytes) in documents {
        let made = |max_table_rows, max_table_columns| {
            let options = &Options { max_table_rows, max_table_columns, ..Options::default() };
            let document = Document { kind, bytes: &bytes, name: "", options };
            let converted = crate::convert(&document, Form::Markdown).unwrap();
            (converted.is_cut, String::from_utf8(converted.body).unwrap().matches("cell").count())
        };
        let (is_cut, shown) = made(3, 50);
        assert!(is_cut && shown < rows, "{kind:?} {shown}");
        let without = Options::WITHOUT_LIMIT;
        let (is_cut, shown) = made(without, without);
        assert!(!is_cut && shown % rows == 0, "{kind:?} {shown}");
    }
}
