//! HTML inside of other documents: bodies of mails, chapters of books, outputs of notebooks.
//!
//! All of them pass here, so that one place decides which converter of HTML they use.

use std::borrow::Cow;

use crate::conversion::Conversion;
use crate::error::ConvertError;
use crate::html::markdown_of_html;
use crate::options::Options;

/// All of a page or a fragment as Markdown, without the title in its head.
pub(crate) fn html_body(html: &str, options: &Options) -> Result<Conversion, ConvertError> {
    markdown_of_html(&without_head(html), options)
}

/// A page without its head.
fn without_head(html: &str) -> Cow<'_, str> {
    let small = html.to_ascii_lowercase();
    let start = small.find("<head>").or_else(|| small.find("<head "));
    let end = small.find("</head>").map(|at| at + "</head>".len());
    let body = small.find("<body").unwrap_or(small.len());
    match (start, end) {
        (Some(start), Some(end)) if start < end && end <= body => {
            Cow::Owned(format!("{}{}", &html[..start], &html[end..]))
        }
        _ => Cow::Borrowed(html),
    }
}

#[cfg(test)]
mod tests {
    use super::without_head;

    #[test]
    fn the_head_of_a_page_is_left_out() {
        assert_eq!(without_head("<html><HEAD><title>t</title></Head><body>b"), "<html><body>b");
        for whole in ["<p>a</p>", "<head><title>t", "<body></head>", "</head><head>", "<header>a"] {
            assert_eq!(without_head(whole), whole);
        }
    }
}
