//! A mail message as Markdown: who wrote to whom and when, the text, the names of attachments.

use super::Attachment;
use super::date::iso_date;
use super::mime::{MailLimits, MailPart};
use crate::conversion::Conversion;
use crate::error::ConvertError;
use crate::html_body::html_body;
use crate::markdown::escape;
use crate::options::Options;

/// The text of a message and what hangs on it.
pub(super) struct MailMessage {
    pub(super) subject: String,
    pub(super) markdown: String,
    pub(super) losses: Vec<String>,
}

/// The parts of a message in the order of reading.
#[derive(Default)]
pub(super) struct MailContent<'p, 'a> {
    texts: Vec<&'p MailPart<'a>>,
    pub(super) attachments: Vec<&'p MailPart<'a>>,
    is_encrypted: bool,
}

impl<'p, 'a> MailContent<'p, 'a> {
    pub(super) fn of(message: &'p MailPart<'a>) -> Self {
        let mut content = Self::default();
        content.add(message, true);
        content
    }

    /// Adds a part; its texts only if the reader shall see them.
    fn add(&mut self, part: &'p MailPart<'a>, with_text: bool) {
        let mime = part.mime();
        if mime == "multipart/alternative" && !part.children.is_empty() {
            let chosen = chosen_alternative(&part.children);
            for (at, child) in part.children.iter().enumerate() {
                self.add(child, with_text && at == chosen);
            }
        } else if !part.children.is_empty() {
            self.is_encrypted |= mime == "multipart/encrypted";
            let has_root = mime == "multipart/related";
            for (at, child) in part.children.iter().enumerate() {
                // Only the first of related parts is shown, the others are what it shows.
                if has_root && at > 0 && !child.mime().starts_with("multipart/") {
                    self.attachments.push(child);
                } else {
                    self.add(child, with_text);
                }
            }
        } else if part.is_unmarked_multipart() || (is_text(mime) && !part.is_attached()) {
            if with_text {
                self.texts.push(part);
            }
        } else {
            let is_smime = mime.ends_with("pkcs7-mime");
            let is_enveloped = part.content_type.parameter("smime-type") == Some("enveloped-data");
            self.is_encrypted |= is_smime && is_enveloped;
            self.attachments.push(part);
        }
    }
}

fn is_text(mime: &str) -> bool {
    matches!(
        mime,
        "text/plain"
            | "text/html"
            | "text/enriched"
            | "text/rfc822-headers"
            | "message/delivery-status"
            | "message/disposition-notification"
    )
}

/// The alternative that is shown: text if it says anything, else HTML, else the first.
fn chosen_alternative(children: &[MailPart<'_>]) -> usize {
    let has = |wanted: &str| {
        children.iter().position(|child| {
            child.mime() == wanted && !child.is_attached() && !child.text().trim().is_empty()
        })
    };
    let nested = || {
        children.iter().position(|child| {
            child.children.iter().any(|inner| is_text(inner.mime()) && !inner.is_attached())
        })
    };
    has("text/plain").or_else(nested).or_else(|| has("text/html")).unwrap_or(0)
}

/// A message as Markdown. `message` is its number in a mailbox.
pub(super) fn to_markdown(
    bytes: &[u8],
    message: Option<usize>,
    options: &Options,
) -> Result<MailMessage, ConvertError> {
    let mut limits = MailLimits::default();
    let root = MailPart::parse(bytes, &mut limits);
    let content = MailContent::of(&root);
    let subject = root.header.text("subject").filter(|subject| !subject.is_empty());
    let subject = subject.unwrap_or_else(|| "(no subject)".to_owned());
    let mut blocks = vec![format!("# {}", escape(&subject))];
    blocks.push(people(&root).join("\n"));
    let mut losses = Vec::new();
    if content.is_encrypted {
        losses.push("the text of the message is encrypted".to_owned());
        blocks.push("*The text of the message is encrypted*".to_owned());
    }
    if limits.is_met {
        losses.push("parts of the message lie too deep or are too many to be shown".to_owned());
    }
    for part in &content.texts {
        let text = part_text(part, options)?;
        blocks.push(String::from_utf8_lossy(&text.body).trim_matches('\n').to_owned());
        losses.extend(text.losses);
    }
    let attachments = described(&content, message);
    if !attachments.is_empty() {
        blocks.push("## Attachments".to_owned());
    }
    let lines = attachments.iter().map(|one| {
        format!("- `{}` ({}, {})", one.resource_name(), escape(&one.mime), size_words(one.size))
    });
    blocks.push(lines.collect::<Vec<_>>().join("\n"));
    blocks.retain(|block| !block.is_empty());
    let markdown = blocks.join("\n\n") + "\n";
    Ok(MailMessage { subject, markdown, losses })
}

/// Who wrote to whom and when, an item each.
fn people(message: &MailPart<'_>) -> Vec<String> {
    let names = ["From", "To", "Cc", "Bcc", "Reply-To"].into_iter();
    let mut items: Vec<_> = names
        .filter_map(|name| {
            let value = message.header.text(name).filter(|value| !value.is_empty())?;
            Some(format!("- {name}: {}", escape_addresses(&value)))
        })
        .collect();
    if let Some(date) = message.header.text("date").filter(|date| !date.is_empty()) {
        items.push(format!("- Date: {}", iso_date(&date).unwrap_or_else(|| escape(&date))));
    }
    items
}

/// The attachments of a message, in order.
pub(super) fn described(content: &MailContent<'_, '_>, message: Option<usize>) -> Vec<Attachment> {
    let parts = content.attachments.iter().enumerate();
    let described = parts.map(|(at, part)| Attachment {
        message,
        number: at + 1,
        name: super::attachment_name(part),
        mime: part.mime().to_owned(),
        size: part.content().len(),
    });
    described.collect()
}

fn part_text(part: &MailPart<'_>, options: &Options) -> Result<Conversion, ConvertError> {
    let text = part.text();
    match part.mime() {
        "text/html" => html_body(&text, options),
        "text/plain" => Ok(Conversion::text(plain_text(&text))),
        _ if part.is_unmarked_multipart() => Ok(Conversion::text(plain_text(&text))),
        _ => Ok(Conversion::text(format!("```\n{}\n```", text.trim().replace("```", "` ` `")))),
    }
}

/// The text of a mail, whose lines stay lines. Quotes and lists mean the same in Markdown.
fn plain_text(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len() + 16);
    let mut lines = text.trim_matches(['\n', '\r']).lines().map(str::trim_end).peekable();
    while let Some(line) = lines.next() {
        let start = line.trim_start_matches([' ', '\t', '>', '\u{3000}']);
        let is_rule = !start.is_empty() && start.bytes().all(|byte| matches!(byte, b'-' | b'='));
        if is_rule || start.starts_with(['#', '~']) || start.starts_with("```") {
            let (before, after) = line.split_at(line.len() - start.len());
            markdown.push_str(&format!("{before}\\{}", after.replace('<', "\\<")));
        } else {
            markdown.push_str(&line.replace('<', "\\<"));
        }
        let goes_on = !line.is_empty() && lines.peek().is_some_and(|next| !next.is_empty());
        markdown.push_str(if goes_on { "  \n" } else { "\n" });
    }
    markdown.trim_end().to_owned()
}

/// Addresses keep their angle brackets, which Markdown takes as links.
fn escape_addresses(text: &str) -> String {
    let mut escaped = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let address = rest[at..].find('>').map(|end| &rest[at..=at + end]);
        let address = address.filter(|one| one.contains('@') && !one.contains([' ', '"', '/']));
        escaped.push_str(&escape(&rest[..at]));
        escaped.push_str(address.unwrap_or("\\<"));
        rest = &rest[at + address.map_or(1, str::len)..];
    }
    escaped.push_str(&escape(rest));
    escaped
}

/// A size in words: `512 bytes`, `12 kB`, `3.4 MB`.
pub(crate) fn size_words(size: usize) -> String {
    match size {
        0..1_000 => format!("{size} bytes"),
        1_000..1_000_000 => format!("{} kB", size.div_ceil(1_000)),
        _ => format!("{:.1} MB", size as f64 / 1e6),
    }
}
