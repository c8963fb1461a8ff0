//! Tests of the HTML converter: what pages become.

mod markdown;
mod sanitised;

use crate::{Document, DocumentKind, Form, Options, convert};

/// A page in another form.
fn converted(page: &str, form: Form) -> String {
    let options = Options::default();
    let document =
        Document { kind: DocumentKind::Html, bytes: page.as_bytes(), name: "", options: &options };
    String::from_utf8(convert(&document, form).unwrap().body).unwrap()
}
