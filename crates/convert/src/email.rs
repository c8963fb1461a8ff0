//! Mail: messages and mailboxes as Markdown, and the attachments of both.

mod date;
mod header;
mod mbox;
mod message;
mod mime;
mod transfer;

use header::MailHeader;
use message::MailContent;
pub(crate) use message::size_words;
use mime::{MailLimits, MailPart};

use crate::conversion::{Conversion, counted};
use crate::document::{Document, DocumentKind};
use crate::error::ConvertError;
use crate::form::Form;

/// The longest name of an attachment, in bytes.
const MAX_NAME: usize = 120;

/// An attachment of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The number of its message in a mailbox, from 1.
    pub message: Option<usize>,
    /// Its number in the message, from 1.
    pub number: usize,
    /// Its name, safe as one segment of a path: no slashes, control characters or leading points,
    /// at most 120 bytes.
    pub name: String,
    /// The MIME type that the message gives it.
    pub mime: String,
    /// The bytes of its content.
    pub size: usize,
}

impl Attachment {
    /// The name of the attachment as a resource: `2-plan.pdf`; in a mailbox `7-2-plan.pdf`.
    pub fn resource_name(&self) -> String {
        let message = self.message.map(|message| format!("{message}-")).unwrap_or_default();
        format!("{message}{}-{}", self.number, self.name)
    }
}

/// The attachments of a message, in order.
pub fn attachments(message: &[u8]) -> Vec<Attachment> {
    let root = MailPart::parse(message, &mut MailLimits::default());
    message::described(&MailContent::of(&root), None)
}

/// The content of the attachment of a message with this number, from 1.
pub fn attachment(message: &[u8], number: usize) -> Option<Vec<u8>> {
    let root = MailPart::parse(message, &mut MailLimits::default());
    let content = MailContent::of(&root);
    let part = content.attachments.get(number.checked_sub(1)?)?;
    Some(part.content().into_owned())
}

/// The attachments of all messages of a mailbox, in order.
pub fn mailbox_attachments(mailbox: &[u8]) -> Vec<Attachment> {
    let numbered = (1..).zip(mbox::messages(mailbox));
    let found = numbered.flat_map(|(number, message)| {
        let message = mbox::unquoted(message);
        let root = MailPart::parse(&message, &mut MailLimits::default());
        message::described(&MailContent::of(&root), Some(number))
    });
    found.collect()
}

/// The content of an attachment in a mailbox: by the number of its message and its own, from 1.
pub fn mailbox_attachment(mailbox: &[u8], message: usize, number: usize) -> Option<Vec<u8>> {
    let messages = mbox::messages(mailbox);
    attachment(&mbox::unquoted(messages.get(message.checked_sub(1)?)?), number)
}

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    match (document.kind, form) {
        (DocumentKind::Email, Form::Markdown) => {
            if MailHeader::split(document.bytes).0.is_empty() {
                return Err(ConvertError::damaged("the document is no mail message: no header"));
            }
            let message = message::to_markdown(document.bytes, None, document.options)?;
            Ok(Conversion { losses: message.losses, ..Conversion::text(message.markdown) })
        }
        (DocumentKind::Mbox, Form::Markdown) => convert_mailbox(document),
        (kind, form) => Err(ConvertError::no_form(kind, form)),
    }
}

fn convert_mailbox(document: &Document<'_>) -> Result<Conversion, ConvertError> {
    let messages = mbox::messages(document.bytes);
    if messages.is_empty() && !document.bytes.trim_ascii().is_empty() {
        return Err(ConvertError::damaged("the document is no mailbox: no line starts a message"));
    }
    let mut converted = Conversion::default();
    if messages.len() >= mbox::MAX_MESSAGES {
        converted.cut(format!("only the first {} messages are given", messages.len()));
    }
    for (number, message) in (1..).zip(&messages) {
        if converted.body.len() > document.options.max_output_bytes {
            let left = messages.len() + 1 - number;
            converted.cut(counted(
                left,
                "message is left out: the result is too long",
                "messages are left out: the result is too long",
            ));
            break;
        }
        if number > 1 {
            converted.push_str("\n");
        }
        let bytes = mbox::unquoted(message);
        let message = message::to_markdown(&bytes, Some(number), document.options)?;
        converted.start_section(Some(message.subject), false);
        converted.push_str(&message.markdown);
        let losses = message.losses.into_iter();
        converted.losses.extend(losses.map(|loss| format!("message {number}: {loss}")));
    }
    Ok(converted)
}

/// The safe name of an attachment: the sender's, or one by its type.
fn attachment_name(part: &MailPart<'_>) -> String {
    let is_message = part.mime() == "message/rfc822";
    let subject = || {
        let content = part.content();
        let subject = MailPart::parse(&content, &mut MailLimits::default()).header.text("subject");
        subject.unwrap_or_default()
    };
    let given = part.file_name().map(str::to_owned);
    let name = if is_message && given.is_none() {
        format!("{}.eml", subject())
    } else {
        given.unwrap_or_default()
    };
    let name = safe_name(&name);
    if !name.is_empty() && name != "eml" {
        return name;
    }
    let ending = match part.mime() {
        "message/rfc822" => "eml",
        "text/plain" => "txt",
        "text/html" => "html",
        "text/calendar" => "ics",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "image/gif" => "gif",
        "application/pdf" => "pdf",
        _ => "bin",
    };
    format!("attachment.{ending}")
}

/// A name without slashes, control characters and invisible ones, bounded; its ending stays.
fn safe_name(name: &str) -> String {
    let is_unsafe = |letter: char| {
        letter.is_control()
            || matches!(letter, '/' | '\\' | '`' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
            || matches!(letter, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
    };
    // A path becomes a name that starts with its first folder.
    let name = name.trim_start_matches(['.', '/', '\\', ' ']);
    let letters = name.chars().take(4 * MAX_NAME);
    let name: String = letters.map(|letter| if is_unsafe(letter) { '_' } else { letter }).collect();
    let name = name.trim_matches([' ', '.', '\u{3000}']);
    if name.len() <= MAX_NAME {
        return name.to_owned();
    }
    let (stem, ending) =
        name.rsplit_once('.').filter(|(_, ending)| ending.len() <= 16).unwrap_or((name, ""));
    let end = stem.floor_char_boundary(MAX_NAME - ending.len() - 1);
    let point = if ending.is_empty() { "" } else { "." };
    format!("{}{point}{ending}", &stem[..end])
}

#[cfg(test)]
mod tests;
