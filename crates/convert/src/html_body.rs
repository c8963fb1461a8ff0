//! HTML inside of other documents: bodies of mails, chapters of books, outputs of notebooks.
//!
//! All of them pass here, so that one place decides which converter of HTML they use.

use crate::converted::Converted;
use crate::error::ConvertError;
use crate::html::markdown_of_html;
use crate::options::Options;

/// All of a page or a fragment as Markdown.
pub(crate) fn html_body(html: &str, options: &Options) -> Result<Converted, ConvertError> {
    markdown_of_html(html, options)
}
