//! Mailboxes: messages one after another, each after a line that starts with `From `.

use std::borrow::Cow;

/// The most messages of a mailbox.
pub(super) const MAX_MESSAGES: usize = 100_000;

/// The messages of a mailbox, still quoted.
pub(super) fn messages(bytes: &[u8]) -> Vec<&[u8]> {
    let mut messages = Vec::new();
    let mut start = None;
    let mut at = 0;
    let mut is_after_blank = true;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if is_after_blank && is_mark(line) {
            messages.extend(start.map(|start: usize| &bytes[start..at]));
            start = Some(at + line.len());
            if messages.len() >= MAX_MESSAGES {
                return messages;
            }
        }
        is_after_blank = line.trim_ascii().is_empty();
        at += line.len();
    }
    messages.extend(start.map(|start| &bytes[start..]));
    messages
}

/// Whether a line starts a message: it ends with a date, which has a clock in it.
fn is_mark(line: &[u8]) -> bool {
    let is_clock = |window: &[u8]| {
        matches!(window, [b' ', a, b, b':', c, d] | [_, a, b, b':', c, d]
            if [a, b, c, d].iter().all(|digit| digit.is_ascii_digit()))
    };
    line.starts_with(b"From ") && line[..line.len().min(300)].windows(6).any(is_clock)
}

/// A message without the marks before lines that would start another one.
pub(super) fn unquoted(message: &[u8]) -> Cow<'_, [u8]> {
    let is_quoted = |line: &[u8]| {
        let rest = line.trim_ascii_start();
        let marks = rest.iter().take_while(|byte| **byte == b'>').count();
        line.first() == Some(&b'>') && rest[marks..].starts_with(b"From ")
    };
    let lines = || message.split_inclusive(|byte| *byte == b'\n');
    if !lines().any(is_quoted) {
        return Cow::Borrowed(message);
    }
    let plain = lines().flat_map(|line| if is_quoted(line) { &line[1..] } else { line });
    Cow::Owned(plain.copied().collect())
}

#[cfg(test)]
mod tests {
    use super::{messages, unquoted};

    #[test]
    fn messages_start_after_an_empty_line() {
        let mailbox = b"From a Mon Jan  1 10:00:00 2024\nA: 1\n\nFrom here on, text\n\n\
                        From b Mon Jan  1 10:00:00 2024\nB: 2\n\nx\n>From c\n";
        let found = messages(mailbox);
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with(b"From here on, text\n\n"));
        assert_eq!(&*unquoted(found[1]), b"B: 2\n\nx\nFrom c\n");
    }
}
