//! Plain texts of files that are named after secrets, such as `passwords.txt`: `name: value`,
//! `name = value` or `name value` on a line, or a value alone.

use std::borrow::Cow;
use std::ops::Range;

use super::{ini, lines};
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// Reports the values of `text`. The text of a program, which such a file may be, has none.
pub(super) fn scan<'t>(text: &'t str, walk: &mut Walk<'t, '_>) -> Fit {
    if text.starts_with("#!") {
        return Fit::Whole;
    }
    walk.expect_secrets();
    let is_single = text.split_whitespace().nth(1).is_none();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim().trim_start_matches('\u{feff}');
        let at = start + line.find(body).unwrap_or_default();
        start += line.len();
        if is_single || is_value(body) {
            report_value(text, at..at + body.len(), walk);
        } else {
            scan_line(text, at..at + body.len(), walk);
        }
    }
    Fit::Whole
}

/// Whether a line is a value without a name. Signs at its end are those of base64.
fn is_value(line: &str) -> bool {
    let name = line.trim_end_matches('=');
    !line.contains(char::is_whitespace) && !line.starts_with('#') && !name.contains([':', '='])
}

fn report_value<'t>(text: &'t str, range: Range<usize>, walk: &mut Walk<'t, '_>) {
    let value = Cow::Borrowed(&text[range.clone()]);
    walk.key(Cow::Borrowed("value"));
    walk.scalar(ScalarToken { range, value, quoting: Quoting::Verbatim });
}

fn scan_line<'t>(text: &'t str, range: Range<usize>, walk: &mut Walk<'t, '_>) {
    let body = &text[range.clone()];
    let is_url = body.contains("://") && !body.contains(char::is_whitespace);
    if body.starts_with('#') || body.starts_with("//") {
        lines::scan_comment(text, range, walk);
    } else if !is_url
        && let Some((key, value)) =
            ini::split(text, range.clone()).or_else(|| ini::split_words(text, range))
    {
        walk.key(Cow::Borrowed(key));
        ini::assign(text, key, value, walk);
    }
}
