//! Properties of all converters, over small documents of each kind.

use proptest::prelude::*;

use crate::converted::Converted;
use crate::document::{Document, DocumentKind};
use crate::error::ConvertErrorKind;
use crate::form::Form;
use crate::office_fixture::{OFFICE_NAMES, docx_body, odf, package, relationships};
use crate::options::Options;

/// A small document of this kind with these words in it, and its file name.
fn document(kind: DocumentKind, words: &str) -> (Vec<u8>, &'static str) {
    let text = |text: String, name| (text.into_bytes(), name);
    let xml = words.replace('&', "&amp;").replace('<', "&lt;");
    match kind {
        DocumentKind::Pdf => text(format!("%PDF-1.4\n1 0 obj\n({words})\nendobj\ntrailer<<>>\n"), "a.pdf"),
        DocumentKind::Docx => (docx_body(&format!("<w:p><w:r><w:t>{xml}</w:t></w:r></w:p>")), "a.docx"),
        DocumentKind::Odt => (odf("text", "", &format!("<text:p>{xml}</text:p>"), &[]), "a.odt"),
        DocumentKind::Ods => {
            let cell = format!("<table:table-row><table:table-cell><text:p>{xml}</text:p></table:table-cell></table:table-row>");
            let sheets = format!("<table:table table:name='{}'>{cell}</table:table>", xml.replace('\'', ""));
            (odf("spreadsheet", "", &sheets.repeat(3), &[]), "a.ods")
        }
        DocumentKind::Odp => {
            let page = format!("<draw:page draw:name='x'><draw:frame><draw:text-box><text:p>{xml}</text:p></draw:text-box></draw:frame></draw:page>");
            (odf("presentation", "", &page.repeat(3), &[]), "a.odp")
        }
        DocumentKind::Xlsx => {
            let rows = relationships(&[("r1", "worksheet", "sheet1.xml"), ("r2", "worksheet", "sheet1.xml")]);
            let space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
            let sheets = "<sheet name='日本' r:id='r1'/><sheet name='b' r:id='r2'/>";
            let book = format!("<workbook xmlns='{space}' {OFFICE_NAMES}><sheets>{sheets}</sheets></workbook>");
            let sheet = format!("<worksheet xmlns='{space}'><sheetData><row r='1'><c r='A1' t='inlineStr'><is><t>{xml}</t></is></c></row></sheetData></worksheet>");
            (package(&[("xl/workbook.xml", &book), ("xl/_rels/workbook.xml.rels", &rows), ("xl/sheet1.xml", &sheet)]), "a.xlsx")
        }
        DocumentKind::Pptx => {
            let rows = relationships(&[("r1", "slide", "slide1.xml"), ("r2", "slide", "slide1.xml")]);
            let list = "<p:sldIdLst><p:sldId id='1' r:id='r1'/><p:sldId id='2' r:id='r2'/></p:sldIdLst>";
            let show = format!("<p:presentation {OFFICE_NAMES}>{list}</p:presentation>");
            let slide = format!("<p:sld {OFFICE_NAMES}><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>{xml}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>");
            (package(&[("ppt/presentation.xml", &show), ("ppt/_rels/presentation.xml.rels", &rows), ("ppt/slide1.xml", &slide)]), "a.pptx")
        }
        DocumentKind::Epub => {
            let container = "<container><rootfiles><rootfile full-path='a.opf'/></rootfiles></container>";
            let book = "<package><manifest><item id='a' href='a.xhtml' media-type='application/xhtml+xml'/><item id='b' href='b.xhtml' media-type='application/xhtml+xml'/></manifest><spine><itemref idref='a'/><itemref idref='b'/></spine></package>";
            let page = format!("<html><body><h1>{xml}</h1><p>{xml}</p></body></html>");
            (package(&[("mimetype", "application/epub+zip"), ("META-INF/container.xml", container), ("a.opf", book), ("a.xhtml", &page), ("b.xhtml", &page)]), "a.epub")
        }
        DocumentKind::Rtf => text(format!("{{\\rtf1\\ansi {words}\\par}}"), "a.rtf"),
        DocumentKind::Csv => text(format!("a,b\n{words},1\n"), "a.csv"),
        DocumentKind::Tsv => text(format!("a\tb\n{words}\t1\n"), "a.tsv"),
        DocumentKind::Html => text(format!("<h1>{words}</h1><p>{words}<table><td>{words}"), "a.html"),
        DocumentKind::Notebook => text(
            serde_json::json!({"nbformat": 4, "cells": [{"cell_type": "code", "source": words, "outputs": []}]}).to_string(),
            "a.ipynb",
        ),
        DocumentKind::Markdown => text(format!("# {words}\n\n```rust\n{words}\n```\n"), "a.md"),
        DocumentKind::AsciiDoc => text(format!("= {words}\n\n----\n{words}\n----\n\n* {words}\n"), "a.adoc"),
        DocumentKind::Source => text(format!("fn main() {{ \"{words}\" }}\n"), "a.rs"),
        DocumentKind::Image => text(format!("\u{89}PNG{words}"), "a.png"),
        DocumentKind::Svg => text(format!("<svg xmlns='http://www.w3.org/2000/svg'><text>{xml}</text></svg>"), "a.svg"),
        DocumentKind::Email => text(format!("Subject: {words}\nFrom: a@example.com\n\n{words}\n"), "a.eml"),
        DocumentKind::Mbox => text(format!("From a Thu Jan 1 00:00:00 2026\nSubject: {words}\n\n{words}\n\n").repeat(3), "a.mbox"),
        DocumentKind::Man => text(format!(".TH A 1\n.SH {words}\n.TP\n{words}\n{words}\n"), "a.1"),
    }
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

fn check_sections(converted: &Converted, form: Form) -> Result<(), TestCaseError> {
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
            check_forms(kind, &bytes, name)?;
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
            check_forms(kind, &bytes, name)?;
        }
    }
}

/// The documents are documents: each kind but two has a form of it.
#[test]
fn every_small_document_is_converted() {
    for kind in DocumentKind::all() {
        let (bytes, name) = document(kind, "some words");
        let options = &Options::default();
        let form = kind.forms()[0];
        let result = crate::convert(&Document { kind, bytes: &bytes, name, options }, form);
        // A PDF and an image of a line are none.
        let is_none = matches!(kind, DocumentKind::Pdf | DocumentKind::Image);
        assert!(result.is_ok() || is_none, "{kind:?} {result:?}");
    }
}
