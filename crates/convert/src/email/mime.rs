//! Parts of a mail message (MIME).

use std::borrow::Cow;

use super::header::{MailHeader, MailValue, charset_text};
use super::transfer::{decoded, unflowed};

/// The deepest nesting of parts. What lies deeper is one part.
const MAX_DEPTH: usize = 32;

/// The most parts of a message.
const MAX_PARTS: usize = 10_000;

/// A message or a part of one.
#[derive(Debug)]
pub(super) struct MailPart<'a> {
    pub(super) header: MailHeader<'a>,
    pub(super) content_type: MailValue,
    disposition: MailValue,
    /// The body in its transfer encoding.
    body: &'a [u8],
    pub(super) children: Vec<Self>,
}

/// What bounds the parsing of one message.
#[derive(Debug, Default)]
pub(super) struct MailLimits {
    parts: usize,
    /// Whether a limit was met, so that parts are not taken apart.
    pub(super) is_met: bool,
}

impl<'a> MailPart<'a> {
    /// Parses a message.
    pub(super) fn parse(bytes: &'a [u8], limits: &mut MailLimits) -> Self {
        Self::parse_at(bytes, 0, "text/plain", limits)
    }

    fn parse_at(bytes: &'a [u8], depth: usize, default: &str, limits: &mut MailLimits) -> Self {
        limits.parts += 1;
        let (header, body) = MailHeader::split(bytes);
        let mut content_type = header.value("content-type");
        if !content_type.value.contains('/') {
            content_type.value = default.to_owned();
        }
        let disposition = header.value("content-disposition");
        let mut part = Self { header, content_type, disposition, body, children: Vec::new() };
        let Some(boundary) = part.boundary() else { return part };
        if depth >= MAX_DEPTH {
            limits.is_met = true;
            return part;
        }
        let is_digest = part.content_type.value == "multipart/digest";
        let default = if is_digest { "message/rfc822" } else { "text/plain" };
        for piece in pieces(body, &boundary) {
            if limits.parts >= MAX_PARTS {
                limits.is_met = true;
                break;
            }
            part.children.push(Self::parse_at(piece, depth + 1, default, limits));
        }
        part
    }

    fn boundary(&self) -> Option<String> {
        let boundary = self.content_type.parameter("boundary")?;
        let is_multipart = self.content_type.value.starts_with("multipart/");
        (is_multipart && !boundary.is_empty() && boundary.len() < 1_000)
            .then(|| boundary.to_owned())
    }

    /// Whether the part should have parts of its own and says no boundary: it is one text.
    pub(super) fn is_unmarked_multipart(&self) -> bool {
        self.content_type.value.starts_with("multipart/") && self.boundary().is_none()
    }

    /// The MIME type.
    pub(super) fn mime(&self) -> &str {
        self.content_type.value.split_whitespace().next().unwrap_or("application/octet-stream")
    }

    /// The name that the sender gave the part.
    pub(super) fn file_name(&self) -> Option<&str> {
        let named = self.disposition.parameter("filename");
        named.or_else(|| self.content_type.parameter("name")).filter(|name| !name.trim().is_empty())
    }

    /// Whether the sender wants the part to be kept apart from the text.
    pub(super) fn is_attached(&self) -> bool {
        self.disposition.value == "attachment" || self.file_name().is_some()
    }

    /// The content, without its transfer encoding.
    pub(super) fn content(&self) -> Cow<'a, [u8]> {
        let encoding = self.header.text("content-transfer-encoding").unwrap_or_default();
        decoded(self.body, &encoding)
    }

    /// The content as text.
    pub(super) fn text(&self) -> String {
        let text = charset_text(&self.content(), self.content_type.parameter("charset"));
        let text = text.replace("\r\n", "\n");
        let is = |name: &str, value: &str| {
            let found = self.content_type.parameter(name);
            found.is_some_and(|found| found.eq_ignore_ascii_case(value))
        };
        if is("format", "flowed") { unflowed(&text, is("delsp", "yes")) } else { text }
    }
}

/// The pieces of a body between the lines with its boundary. A last piece may lack its end.
fn pieces<'a>(body: &'a [u8], boundary: &str) -> Vec<&'a [u8]> {
    let mark = format!("--{boundary}").into_bytes();
    let mut pieces = Vec::new();
    // Where the piece starts that is open.
    let mut start = None;
    let mut at = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        if let Some(rest) = line.strip_prefix(mark.as_slice()) {
            let rest = rest.trim_ascii_end();
            if rest.is_empty() || rest == b"--" {
                pieces.extend(start.take().map(|start: usize| without_line_end(&body[start..at])));
                if rest == b"--" {
                    return pieces;
                }
                start = Some(at + line.len());
            }
        }
        at += line.len();
    }
    pieces.extend(start.map(|start| &body[start.min(body.len())..]));
    pieces
}

/// A piece without the line end that belongs to the boundary after it.
fn without_line_end(piece: &[u8]) -> &[u8] {
    let piece = piece.strip_suffix(b"\n").unwrap_or(piece);
    piece.strip_suffix(b"\r").unwrap_or(piece)
}

#[cfg(test)]
mod tests {
    use super::{MailLimits, MailPart, pieces};

    #[test]
    fn a_body_is_split_at_lines_with_its_boundary_alone() {
        let body =
            b"preamble\r\n--b\r\none\r\n--bc\r\n\r\n--b  \r\ntwo\r\n--b--\r\nepilogue\r\n--b\r\n";
        assert_eq!(pieces(body, "b"), [&b"one\r\n--bc\r\n"[..], b"two"]);
        assert_eq!(pieces(b"--b\nno end\n", "b"), [b"no end\n"]);
        assert_eq!(pieces(b"nothing", "b"), [b""; 0]);
    }

    #[test]
    fn deep_parts_are_not_taken_apart() {
        let mut text = String::new();
        for depth in 0..10_000 {
            text.push_str(&format!(
                "Content-Type: multipart/mixed; boundary=b{depth}\n\n--b{depth}\n"
            ));
        }
        let mut limits = MailLimits::default();
        MailPart::parse(text.as_bytes(), &mut limits);
        assert!(limits.is_met);
    }
}
