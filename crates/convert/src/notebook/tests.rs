//! Tests of notebooks, on small ones.

use crate::{ConvertErrorKind, Document, DocumentKind, Form, Options, convert};

fn converted(json: &str, form: Form) -> Result<String, crate::ConvertError> {
    let options = Options::default();
    let document = Document {
        kind: DocumentKind::Notebook,
        bytes: json.as_bytes(),
        name: "",
        options: &options,
    };
    convert(&document, form).map(|converted| String::from_utf8(converted.body).unwrap())
}

const NOTEBOOK: &str = r##"{"nbformat": 4, "metadata": {"kernelspec": {"language": "julia"}}, "cells": [
    {"cell_type": "markdown", "source": ["# Title\n", "text"]},
    {"cell_type": "code", "source": "x = 1\nprint(x)", "outputs": [
        {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
        {"output_type": "execute_result", "data": {"text/plain": "42", "text/html": "<table><tr><td>cell</td></tr></table>"}},
        {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": ["<Figure>"]}},
        {"output_type": "error", "ename": "NameError", "evalue": "no y", "traceback": ["\u001b[31mNameError\u001b[0m", "no y"]}
    ]},
    {"cell_type": "code", "source": "", "outputs": []},
    {"cell_type": "raw", "source": "raw ``` text"}
]}"##;

#[test]
fn cells_and_outputs_come_in_order() {
    let text = converted(NOTEBOOK, Form::Markdown).unwrap();
    let expected = [
        "# Title\ntext\n",
        "```julia\nx = 1\nprint(x)\n```\n",
        "Output:\n\n```text\n1\n```\n",
        "cell",
        "[image/png output, 3 bytes:  Figure>]\n",
        "Error:\n\n```text\nNameError\nno y\n```\n",
        "````\nraw ``` text\n````\n",
    ];
    let mut from = 0;
    for piece in expected {
        let at = text[from..].find(piece);
        from += at.unwrap_or_else(|| panic!("{piece:?} is missing in {text}"));
    }
}

#[test]
fn the_source_has_a_mark_a_cell() {
    assert_eq!(
        converted(NOTEBOOK, Form::Plain).unwrap(),
        "# %% [markdown]\n# # Title\n# text\n\n# %%\nx = 1\nprint(x)\n\n# %%\n\n\n# %% [raw]\n# raw ``` text\n"
    );
}

#[test]
fn format_3_is_read() {
    let json = r#"{"nbformat": 3, "worksheets": [{"cells": [
        {"cell_type": "heading", "level": 2, "source": ["Old"]},
        {"cell_type": "code", "language": "python", "input": ["1+1"], "outputs": [
            {"output_type": "pyout", "text": ["2"]},
            {"output_type": "display_data", "png": "AAAAAAAA"},
            {"output_type": "stream", "stream": "stderr", "text": "warn"}]}]}]}"#;
    let text = converted(json, Form::Markdown).unwrap();
    assert_eq!(
        text,
        "## Old\n\n```python\n1+1\n```\n\nOutput:\n\n```text\n2\n```\n\n[image/png output, 6 bytes]\n\n\
         Output (stderr):\n\n```text\nwarn\n```\n"
    );
}

#[test]
fn what_is_no_notebook_is_damaged() {
    let deep = format!("{{\"cells\": {}", "[".repeat(100_000));
    for json in ["", "{}", "[]", "{\"cells\": 1}", "{\"cells\": [", deep.as_str()] {
        assert_eq!(converted(json, Form::Markdown).unwrap_err().kind, ConvertErrorKind::Damaged);
    }
}

#[test]
fn a_deep_cell_is_left_out() {
    let deep = format!(
        "{{\"cells\": [{}{}, {{\"source\": \"x\"}}]}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(converted(&deep, Form::Markdown).unwrap(), "```python\nx\n```\n");
}

#[test]
fn millions_of_cells_and_outputs_are_bounded_and_said() {
    let cells = format!("{{\"cells\": [{}{{}}]}}", "1,".repeat(100_001));
    let options = Options::default();
    let bytes = cells.as_bytes();
    let document = Document { kind: DocumentKind::Notebook, bytes, name: "", options: &options };
    let losses = convert(&document, Form::Markdown).unwrap().losses;
    assert!(losses[0].starts_with("2 cells are left out"), "{losses:?}");
    let many = "{\"output_type\": \"stream\", \"text\": [\"a\"]},".repeat(10_002);
    let json = format!("{{\"cells\": [{{\"source\": \"x\", \"outputs\": [{many}{{}}]}}]}}");
    let text = converted(&json, Form::Markdown).unwrap();
    assert!(text.ends_with("[3 more outputs are left out]\n"));
}
