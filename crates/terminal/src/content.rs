//! Content of resources: read in windows where the server has them, cut to what a command wants.

use bytes::Bytes;
use client::{ContentElement, ReadResult};
use resource::{ReadRequest, Resource, SectionChoice, SectionUnit, Uri, Window, tokens};
use serde_json::Value;

use crate::args::WindowArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::listing::request;
use crate::output::encoded_uri;

/// The length of one window.
const WINDOW_BYTES: u64 = 1 << 20;

/// A piece of the content of a resource.
pub(crate) struct Chunk {
    pub(crate) resource: Resource,
    pub(crate) is_text: bool,
    pub(crate) bytes: Bytes,
    /// Where it begins, if the server cut the window.
    pub(crate) offset: Option<u64>,
}

/// What of a content to read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selection {
    piece: Piece,
    format: Option<String>,
    section: Option<SectionChoice>,
    /// The version that it must be of.
    etag: Option<String>,
}

/// Which piece of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Piece {
    #[default]
    All,
    /// From the first byte, up to but without the last.
    Bytes(u64, u64),
    /// The numbers of the first and last line, counted from 1.
    Lines(u64, u64),
    Tokens(u64),
}

impl Selection {
    pub(crate) fn parse(args: &WindowArgs) -> Result<Self, CommandError> {
        let wrong = |option: &str, range: &str| {
            CommandError::Usage(format!(
                "--{option} {range}: write a range such as 10-20, 10-, -20 or 10"
            ))
        };
        let piece = if let Some(range) = &args.bytes {
            let (first, last) = parse_range(range, 0).ok_or_else(|| wrong("bytes", range))?;
            Piece::Bytes(first, last.saturating_add(1))
        } else if let Some(range) = &args.lines {
            let (first, last) = parse_range(range, 1).ok_or_else(|| wrong("lines", range))?;
            Piece::Lines(first, last)
        } else if let Some(most) = args.tokens {
            Piece::Tokens(most)
        } else {
            Piece::All
        };
        let section = args.page.as_ref().map(|range| {
            let choice = SectionChoice::parse_range(SectionUnit::Page, range);
            choice.map_err(|words| CommandError::Usage(format!("--page {range}: {words}")))
        });
        Ok(Self { piece, format: args.accept.clone(), section: section.transpose()?, etag: None })
    }

    /// Everything from a byte on, of one version.
    pub(crate) fn from_offset(offset: u64, etag: Option<&str>) -> Self {
        let piece = if offset == 0 { Piece::All } else { Piece::Bytes(offset, u64::MAX) };
        Self { piece, etag: etag.map(str::to_owned), ..Self::default() }
    }

    /// Whether the form is not chosen, and the same lines can be had in another one.
    pub(crate) fn is_free(&self) -> bool {
        let has_lines = matches!(self.piece, Piece::All | Piece::Lines(..));
        has_lines && self.format.is_none() && self.section.is_none()
    }

    /// The same lines in another form, if it is free.
    pub(crate) fn in_form(&self, mime: &str) -> Option<Self> {
        self.is_free().then(|| Self { format: Some(mime.to_owned()), ..self.clone() })
    }

    fn request(&self, offset: u64, length: u64, etag: Option<&str>) -> ReadRequest {
        ReadRequest {
            window: Window::Part { offset, length, etag: etag.map(str::to_owned) },
            format: self.format.clone(),
            part: None,
            section: self.section.clone(),
        }
    }
}

/// The first and last of a range such as `10-20`, `10-`, `-20` or `10`.
fn parse_range(range: &str, least: u64) -> Option<(u64, u64)> {
    let number = |text: &str, absent: u64| match text.trim() {
        "" => Some(absent),
        text => text.parse().ok(),
    };
    let (first, last) = match range.split_once(['-', ':']) {
        None if range.trim().is_empty() => return None,
        None => (number(range, least)?, number(range, least)?),
        Some(("", "")) => return None,
        Some((first, last)) => (number(first, least)?, number(last, u64::MAX)?),
    };
    (least <= first && first <= last).then_some((first, last))
}

/// Cuts a piece out of content that arrives in chunks.
struct Cutter {
    piece: Piece,
    /// The line that the next byte is in, counted from 1.
    line: u64,
    tokens: u64,
}

impl Cutter {
    /// What to print of a chunk, and whether more is wanted.
    fn cut(&mut self, chunk: &Bytes, is_text: bool) -> (Bytes, bool) {
        match self.piece {
            Piece::Lines(first, last) => self.cut_lines(chunk, first, last),
            Piece::Tokens(most) if is_text => self.cut_tokens(chunk, most),
            Piece::All | Piece::Bytes(..) | Piece::Tokens(_) => (chunk.clone(), true),
        }
    }

    fn cut_lines(&mut self, chunk: &Bytes, first: u64, last: u64) -> (Bytes, bool) {
        let (mut start, mut end) = (None, chunk.len());
        let mut at = 0;
        while at < chunk.len() {
            if self.line > last {
                end = at;
                break;
            }
            if self.line >= first && start.is_none() {
                start = Some(at);
            }
            match chunk[at..].iter().position(|byte| *byte == b'\n') {
                Some(length) => {
                    at += length + 1;
                    self.line += 1;
                }
                None => break,
            }
        }
        let piece = start.map_or_else(Bytes::new, |start| chunk.slice(start..end.max(start)));
        (piece, self.line <= last)
    }

    fn cut_tokens(&mut self, chunk: &Bytes, most: u64) -> (Bytes, bool) {
        let Ok(text) = std::str::from_utf8(chunk) else { return (chunk.clone(), true) };
        let left = most.saturating_sub(self.tokens);
        let length = tokens::prefix_len(text, left);
        self.tokens += tokens::estimate(&text[..length]);
        (chunk.slice(..length), length == chunk.len() && self.tokens < most)
    }
}

impl ServerConnection {
    /// The URI that a person wrote: a URI, or a path that the server's tools understand.
    pub(crate) async fn resolve_uri(&self, written: &str) -> Result<Uri, CommandError> {
        if written.contains("://") || !self.is_refdesk() {
            return Uri::parse(&encoded_uri(written))
                .map_err(|error| CommandError::Usage(format!("{written}: {error}")));
        }
        let arguments = serde_json::json!({ "uris": [written] });
        let result = self.call_tool("resources_metadata", &arguments).await?;
        let found = &result["structuredContent"]["resources"][0]["uri"];
        match found.as_str().and_then(|uri| Uri::parse(uri).ok()) {
            Some(uri) => Ok(uri),
            None => Err(CommandError::NotFound(failure_words(&result, written))),
        }
    }

    /// Passes what `selection` wants of a resource to `take`, chunk by chunk, until it returns
    /// false.
    pub(crate) async fn read_chunks(
        &self,
        uri: &Uri,
        selection: &Selection,
        mut take: impl FnMut(Chunk) -> Result<bool, CommandError>,
    ) -> Result<(), CommandError> {
        let mut cutter = Cutter { piece: selection.piece, line: 1, tokens: 0 };
        let (mut offset, end) = match selection.piece {
            Piece::Bytes(first, end) => (first, end),
            Piece::All | Piece::Lines(..) | Piece::Tokens(_) => (0, u64::MAX),
        };
        let mut etag = selection.etag.clone();
        while offset < end {
            let length = WINDOW_BYTES.min(end - offset);
            let elements = self
                .read_elements(uri, &selection.request(offset, length, etag.as_deref()))
                .await?;
            let Some(first) = elements.first() else { return Ok(()) };
            let Some(slice) = first.slice.clone() else {
                // The server does not cut windows, so this is all there is.
                let elements = wanted_elements(elements, uri, selection.format.as_deref());
                for element in elements {
                    let bytes = match selection.piece {
                        Piece::Bytes(first, end) => slice_bytes(&element.bytes, first, end),
                        _ => element.bytes.clone(),
                    };
                    if !pass(&mut cutter, element, &bytes, &mut take)? {
                        break;
                    }
                }
                return Ok(());
            };
            etag = first.resource.etag.clone().or(etag);
            let bytes = first.bytes.clone();
            let next = slice.next_offset();
            let element = elements.into_iter().next();
            let goes_on = match element {
                Some(element) => pass(&mut cutter, element, &bytes, &mut take)?,
                None => false,
            };
            match next.filter(|next| goes_on && *next > offset) {
                Some(next) => offset = next,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    async fn read_elements(
        &self,
        uri: &Uri,
        wanted: &ReadRequest,
    ) -> Result<Vec<ContentElement>, CommandError> {
        let about = |error| CommandError::about(uri.as_str(), error);
        match self.client.read_window(uri, wanted).await.map_err(about)? {
            ReadResult::Contents(elements, _, _) => Ok(elements),
            ReadResult::InputRequired(_) => {
                let words = "the server asks for input before it gives this resource";
                Err(CommandError::Failed(format!("{uri}: {words}")))
            }
        }
    }

    /// A result as the server wrote it.
    pub(crate) async fn ask(&self, method: &str, params: &Value) -> Result<Value, CommandError> {
        let answer = self.client.send_request(&request(method, params)?).await?;
        serde_json::from_str(answer.get()).map_err(|error| CommandError::Failed(error.to_string()))
    }
}

fn pass(
    cutter: &mut Cutter,
    element: ContentElement,
    bytes: &Bytes,
    take: &mut impl FnMut(Chunk) -> Result<bool, CommandError>,
) -> Result<bool, CommandError> {
    let (bytes, goes_on) = cutter.cut(bytes, element.is_text);
    let ContentElement { resource, is_text, slice, bytes: _ } = element;
    let offset = slice.map(|slice| slice.offset);
    let chunk = Chunk { resource, is_text, bytes, offset };
    Ok(take(chunk)? && goes_on)
}

/// The elements of a whole read to print: those of the resource itself, in the wanted format.
fn wanted_elements(
    mut elements: Vec<ContentElement>,
    uri: &Uri,
    format: Option<&str>,
) -> Vec<ContentElement> {
    if elements.iter().any(|element| element.resource.uri == *uri) {
        elements.retain(|element| element.resource.uri == *uri);
    }
    let fits = |element: &ContentElement| element.resource.mime.as_deref() == format;
    if format.is_some() && elements.iter().any(fits) {
        elements.retain(fits);
    } else if elements.len() > 1 && elements.iter().all(|one| one.resource.uri == *uri) {
        // Formats of one content: the first is the primary one.
        let has_formats = elements[0].resource.mime != elements[1].resource.mime;
        elements.truncate(if has_formats { 1 } else { elements.len() });
    }
    elements
}

fn slice_bytes(bytes: &Bytes, first: u64, end: u64) -> Bytes {
    let at = |offset: u64| usize::try_from(offset).map_or(bytes.len(), |at| at.min(bytes.len()));
    bytes.slice(at(first)..at(end).max(at(first)))
}

/// Why a tool failed, in its own words.
pub(crate) fn failure_words(result: &Value, usual: &str) -> String {
    let failed = result["structuredContent"]["failed"][0]["message"].as_str();
    let text = result["content"][0]["text"].as_str();
    match failed.or(text.filter(|text| !text.is_empty())) {
        Some(words) => words.to_owned(),
        None => format!("no such resource: {usual}"),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Cutter, Piece, parse_range};

    #[test]
    fn ranges_are_written_in_four_ways() {
        assert_eq!(parse_range("10-20", 1), Some((10, 20)));
        assert_eq!(parse_range("10:20", 1), Some((10, 20)));
        assert_eq!(parse_range("10-", 1), Some((10, u64::MAX)));
        assert_eq!(parse_range("-20", 1), Some((1, 20)));
        assert_eq!(parse_range("10", 1), Some((10, 10)));
        for wrong in ["", "-", "a", "5-4", "0-3", "1-2-3"] {
            assert_eq!(parse_range(wrong, 1), None, "{wrong}");
        }
    }

    #[test]
    fn lines_are_cut_across_chunks() {
        let text = "one\ntwo\nthree\nfour\nfive";
        for size in 1..=text.len() {
            let mut cutter = Cutter { piece: Piece::Lines(2, 4), line: 1, tokens: 0 };
            let mut printed = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                let (piece, goes_on) = cutter.cut(&Bytes::copy_from_slice(chunk), true);
                printed.extend_from_slice(&piece);
                if !goes_on {
                    break;
                }
            }
            assert_eq!(String::from_utf8(printed).unwrap(), "two\nthree\nfour\n", "{size}");
        }
    }
}
