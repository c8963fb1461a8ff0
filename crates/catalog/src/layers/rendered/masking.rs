//! Masks of forms: the text, the titles of its sections and what is said of it.

use std::borrow::Cow;

use convert::{Conversion, Form};
use redaction::{Redaction, Redactor, Syntax};
use resource::{Error, ErrorKind, Result};

use super::FormExtent;

/// A larger form is masked on a thread of its own, so that it delays no other request.
const MAX_INLINE_BYTES: usize = 32 << 10;

/// How often a text with keys is masked at most: a mask may change how the rest of it is read.
const MAX_ROUNDS: usize = 8;

/// The marks of pages in Markdown, and between them in plain text.
const MARK: (&str, &str) = ("<!--", "-->");
const PAGE_BREAK: &str = "\u{C}";

/// Masks all that is text in a form. Returns whether a secret was in it.
pub(super) async fn mask_form(
    redaction: &Redaction,
    (form, extent): (Form, FormExtent),
    converted: Conversion,
) -> Result<(Conversion, bool)> {
    let is_small = converted.body.len() as u64 <= Redactor::MAX_PARSED_BYTES;
    let syntax = match form {
        // What only is searched has its secrets found by shapes.
        Form::Json if is_small || extent == FormExtent::Shown => Syntax::of_mime(form.mime()),
        _ => Syntax::Text,
    };
    if syntax.has_keys() && !is_small {
        let message = format!(
            "the secrets of this form cannot be masked: it is over the limit of {} bytes",
            Redactor::MAX_PARSED_BYTES
        );
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    let redaction = redaction.clone();
    if converted.body.len() <= MAX_INLINE_BYTES {
        return Ok(mask_now(redaction.redactor(), syntax, converted));
    }
    let work = move || mask_now(redaction.redactor(), syntax, converted);
    let masked = tokio::task::spawn_blocking(work).await;
    masked.map_err(|_| Error::internal("the masking of a form failed"))
}

fn mask_now(redactor: &Redactor, syntax: Syntax, mut converted: Conversion) -> (Conversion, bool) {
    let mut is_masked = mask_body(redactor, syntax, &mut converted);
    let titles = converted.sections.iter_mut().filter_map(|section| section.title.as_mut());
    for text in titles.chain(&mut converted.losses) {
        if let Cow::Owned(masked) = redactor.mask(text, Syntax::Text) {
            (*text, is_masked) = (masked, true);
        }
    }
    (converted, is_masked)
}

/// Masks the body as one text, because a secret may go on in the next section. A section that begins
/// inside a secret begins behind its mask.
fn mask_body(redactor: &Redactor, syntax: Syntax, converted: &mut Conversion) -> bool {
    let body = std::mem::take(&mut converted.body);
    let mut text = match String::from_utf8(body) {
        Ok(text) => text,
        Err(broken) => String::from_utf8_lossy(broken.as_bytes()).into_owned(),
    };
    let mut is_masked = false;
    let rounds = if syntax.has_keys() { MAX_ROUNDS } else { 1 };
    for _ in 0..rounds {
        let seen = without_marks(&text, converted);
        let found = redactor.find(&seen, syntax);
        if found.is_empty() {
            break;
        }
        is_masked = true;
        let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
        let mut sections = converted.sections.iter_mut().peekable();
        for secret in &found {
            while let Some(section) = sections.next_if(|next| next.start <= secret.range.start) {
                section.start = masked.len() + section.start.saturating_sub(end);
            }
            masked.push_str(text.get(end..secret.range.start).unwrap_or_default());
            masked.push_str(&secret.mask);
            end = secret.range.end;
            while let Some(section) = sections.next_if(|next| next.start < end) {
                section.start = masked.len();
            }
        }
        for section in sections {
            section.start = masked.len() + section.start.saturating_sub(end);
        }
        masked.push_str(text.get(end..).unwrap_or_default());
        text = masked;
    }
    converted.body = text.into_bytes();
    is_masked
}

/// The text with spaces in the place of the marks between pages, which would end a secret.
fn without_marks<'a>(text: &'a str, converted: &Conversion) -> Cow<'a, str> {
    let mut seen = Cow::Borrowed(text);
    for section in &converted.sections {
        let before = section.start.saturating_sub(PAGE_BREAK.len());
        if text.get(before..section.start) == Some(PAGE_BREAK) {
            seen.to_mut().replace_range(before..section.start, " ");
        }
        let Some(rest) = text.get(section.start..).filter(|rest| rest.starts_with(MARK.0)) else {
            continue;
        };
        let line = rest.lines().next().unwrap_or_default();
        if let Some(end) = line.find(MARK.1).map(|at| section.start + at + MARK.1.len()) {
            let spaces = " ".repeat(end - section.start);
            seen.to_mut().replace_range(section.start..end, &spaces);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use convert::{Conversion, Section};
    use proptest::prelude::{prop, prop_assert, proptest};
    use redaction::{Redactor, Syntax};

    use super::mask_now;

    fn key() -> String {
        ["AKIA", "QYLPMN5HFIQR7XYB"].concat()
    }

    fn form(pieces: &[String]) -> Conversion {
        let mut converted = Conversion::default();
        for (at, piece) in pieces.iter().enumerate() {
            let (title, start) = (Some(format!("title {at}")), converted.body.len());
            converted.sections.push(Section { title, start, is_hidden: false });
            converted.body.extend(format!("<!-- page {} -->\n\n{piece}\n\n", at + 1).into_bytes());
        }
        converted
    }

    #[test]
    fn a_private_key_over_two_pages_is_masked_on_both() {
        let line = |at: usize| {
            format!("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7Vx{at:02}pQ+/")
        };
        let lines = |from: usize, to: usize| (from..to).map(line).collect::<Vec<_>>().join("\n");
        let kind = ["PRIVATE", " KEY"].concat();
        let first = format!("words\n\n-----BEGIN {kind}-----\n{}", lines(0, 12));
        let second = format!("{}\n-----END {kind}-----\n\nmore words", lines(12, 24));
        let pieces = [first, second, "third".to_owned()];
        let (masked, is_masked) = mask_now(&Redactor::default(), Syntax::Text, form(&pieces));
        let text = String::from_utf8(masked.body.clone()).unwrap();
        assert!(is_masked && !text.contains("MIIEv"), "{text}");
        assert!(text.starts_with("<!-- page 1 -->\n\nwords"), "{text}");
        let second = String::from_utf8(masked.section(1).unwrap().to_vec()).unwrap();
        assert!(second.contains("more words") && !second.contains("third"), "{second}");
        let third = masked.section(2).unwrap();
        assert_eq!(third, b"<!-- page 3 -->\n\nthird\n\n");
    }

    #[test]
    fn titles_and_losses_are_masked() {
        let mut converted = form(&["clean".to_owned()]);
        converted.sections[0].title = Some(format!("key {}", key()));
        converted.losses.push(format!("\"{}.xhtml\" is left out", key()));
        let (masked, is_masked) = mask_now(&Redactor::default(), Syntax::Text, converted);
        assert!(is_masked && !format!("{masked:?}").contains(&key()), "{masked:?}");
    }

    proptest! {
        #[test]
        fn sections_begin_where_they_did(
            pieces in prop::collection::vec(prop::collection::vec("[a-z日]{0,6}|KEY", 0..5), 1..6),
        ) {
            let pieces: Vec<String> =
                pieces.iter().map(|words| words.join(" ").replace("KEY", &key())).collect();
            let (masked, is_masked) = mask_now(&Redactor::default(), Syntax::Text, form(&pieces));
            prop_assert!(is_masked == pieces.iter().any(|piece| piece.contains(&key())));
            for at in 0..pieces.len() {
                let mark = format!("<!-- page {} -->", at + 1);
                prop_assert!(masked.section(at).unwrap().starts_with(mark.as_bytes()));
            }
        }
    }
}
