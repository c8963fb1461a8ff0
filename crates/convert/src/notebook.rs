//! The converter of Jupyter notebooks, of format 3 and 4.

mod format;
mod lists;
mod output;

use format::{MAX_CELLS, NotebookCell, NotebookFile};
use output::output_text;

use crate::conversion::{Conversion, counted};
use crate::decode::decode;
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;
use crate::options::Options;

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    let text = decode(document.bytes, None);
    let file = NotebookFile::parse(&text)?;
    let language = file.language();
    let mut converted = Conversion::default();
    let mut broken = 0;
    let cells = file.cells()?;
    for raw in cells.values {
        let Some(cell) = NotebookCell::parse(raw) else {
            broken += 1;
            continue;
        };
        let piece = match form {
            Form::Markdown => to_markdown(&cell, &language, document.options)?,
            Form::Plain => to_source(&cell),
            form => return Err(ConvertError::no_form(document.kind, form)),
        };
        if piece.is_empty() {
            continue;
        }
        if converted.body.len() + piece.len() > document.options.max_output_bytes {
            converted.cut("cells are left out: the result is over the limit");
            break;
        }
        if !converted.body.is_empty() {
            converted.push_str("\n");
        }
        converted.push_str(&piece);
    }
    if cells.left_out > 0 {
        let count = cells.left_out;
        converted.cut(format!("{count} cells are left out: the limit is {MAX_CELLS}"));
    }
    if broken > 0 {
        converted.losses.push(counted(
            broken,
            "cell is broken and left out",
            "cells are broken and left out",
        ));
    }
    Ok(converted)
}

/// A cell with its outputs.
fn to_markdown(
    cell: &NotebookCell<'_>,
    language: &str,
    options: &Options,
) -> Result<String, ConvertError> {
    let source = cell.source();
    let source = source.trim_matches('\n');
    let is_blank = source.trim().is_empty();
    Ok(match cell.kind() {
        "markdown" | "raw" if is_blank => String::new(),
        "markdown" => format!("{source}\n"),
        "heading" => {
            let marks = "#".repeat(cell.level().clamp(1, 6));
            format!("{marks} {}\n", source.replace('\n', " "))
        }
        "raw" => fenced(source, ""),
        _ => {
            let mut blocks = Vec::new();
            if !is_blank {
                blocks.push(fenced(source, cell.language().unwrap_or(language)));
            }
            for output in cell.outputs() {
                let text = output_text(output.as_ref(), options)?;
                if !text.is_empty() {
                    blocks.push(text);
                }
            }
            if cell.outputs_left_out() > 0 {
                blocks.push(format!("[{} more outputs are left out]\n", cell.outputs_left_out()));
            }
            blocks.join("\n")
        }
    })
}

/// The source of a cell after a mark; text is a comment, so that the whole is a program.
fn to_source(cell: &NotebookCell<'_>) -> String {
    let source = cell.source();
    let source = source.trim_matches('\n');
    let comment = |mark: &str| {
        let mut text = format!("# %%{mark}\n");
        for line in source.lines() {
            text.push_str("# ");
            text.push_str(line);
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    };
    match cell.kind() {
        "markdown" | "heading" => comment(" [markdown]"),
        "raw" => comment(" [raw]"),
        _ => format!("# %%\n{source}\n"),
    }
}

/// A block of code, with a fence that the code does not have.
fn fenced(text: &str, language: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_matches('\n'))
}

#[cfg(test)]
mod tests;
