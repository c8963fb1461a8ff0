//! Converter of HTML pages: Markdown or text of the main content, and HTML that is safe to show.

mod blocks;
mod builder;
mod charset;
mod elements;
mod escape;
mod inline;
mod main_content;
mod notes;
mod sanitise;
mod table;
mod tokenizer;
mod tree;
mod writer;

#[cfg(test)]
mod tests;

use main_content::MainContent;
use tree::{HtmlTree, TEXT};
use writer::{HtmlTextStyle, HtmlWriter};

use crate::conversion::{Conversion, counted};
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;
use crate::options::Options;

pub(crate) use sanitise::{push_text, sanitise};

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    let page = charset::decode_page(document.bytes);
    match form {
        Form::Markdown => page_text(&page, document.options, HtmlTextStyle::Markdown),
        Form::Plain => page_text(&page, document.options, HtmlTextStyle::Plain),
        Form::SanitisedHtml => sanitise(&page, document.options),
        _ => Err(ConvertError::no_form(document.kind, form)),
    }
}

fn page_text(
    page: &str,
    options: &Options,
    style: HtmlTextStyle,
) -> Result<Conversion, ConvertError> {
    let tree = HtmlTree::parse(page)?;
    write_content(&tree, &MainContent::find(&tree), options, style)
}

/// Converts all of a fragment or page to Markdown, without a choice of its main content.
pub(crate) fn markdown_of_html(page: &str, options: &Options) -> Result<Conversion, ConvertError> {
    let tree = HtmlTree::parse(page)?;
    write_content(&tree, &MainContent::whole(&tree), options, HtmlTextStyle::Markdown)
}

fn write_content(
    tree: &HtmlTree,
    content: &MainContent,
    options: &Options,
    style: HtmlTextStyle,
) -> Result<Conversion, ConvertError> {
    let writer = HtmlWriter::new(tree, content, options, style);
    let text = writer.write().ok_or_else(|| over_output_limit(options))?;
    Ok(Conversion { losses: losses(tree), ..Conversion::text(text) })
}

pub(crate) fn over_output_limit(options: &Options) -> ConvertError {
    let limit = options.max_output_bytes;
    ConvertError::over_limit(format!("the result has more than the limit of {limit} bytes"))
}

/// What neither Markdown nor text shows of a page.
fn losses(tree: &HtmlTree) -> Vec<String> {
    let mut losses = Vec::new();
    let has_words = |id| tree.name(id) == TEXT && !tree.text(id).trim_ascii().is_empty();
    let is_label = |id| tree.name(tree.node(id).parent) == "text" && has_words(id);
    let labels = tree.ids().filter(|id| is_label(*id)).count();
    if labels > 0 {
        losses.push(counted(
            labels,
            "text in a drawing is left out",
            "texts in drawings are left out",
        ));
    }
    if tree.is_cut {
        losses.push("the page has too many elements: the last ones are given as text".to_owned());
    }
    losses
}
