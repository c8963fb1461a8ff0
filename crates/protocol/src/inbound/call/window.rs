//! Decoder for the read window: `dev.refdesk/window` in `_meta` of `resources/read`.

use serde::Deserialize;

use crate::inbound::refusal::Refusal;
use crate::inbound::request_meta::RequestMeta;

/// A window, as a client requests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowRequest {
    /// Its unit, start and length.
    pub extent: WindowExtent,
    /// The version of the resource that the window must come from.
    pub etag: Option<String>,
    /// The one format to read, a MIME type.
    pub format: Option<String>,
    /// The part to read, counted from 0.
    pub part: Option<usize>,
}

/// Start and length of a window, in one of three units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowExtent {
    /// In bytes.
    Bytes {
        /// The first byte, counted from 0.
        offset: u64,
        /// Maximum length; `None` means the server's limit.
        length: Option<u64>,
    },
    /// In lines.
    Lines {
        /// The first line, counted from 1.
        start: u64,
        /// Maximum number of lines; `None` means the server's limit.
        max_lines: Option<u64>,
    },
    /// In tokens.
    Tokens {
        /// The first byte, counted from 0.
        offset: u64,
        /// Maximum number of tokens.
        max_tokens: u64,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowMembers {
    offset: Option<u64>,
    length: Option<u64>,
    start_line: Option<u64>,
    max_lines: Option<u64>,
    max_tokens: Option<u64>,
    etag: Option<String>,
    format: Option<String>,
    part: Option<usize>,
}

/// Decodes the window in `meta`, if it has one.
pub(super) fn decode_window(meta: &RequestMeta<'_>) -> Result<Option<WindowRequest>, Refusal> {
    let refusal = |flaw: String| Refusal::invalid_params(format!("dev.refdesk/window: {flaw}"));
    let Some(raw) = meta.window else { return Ok(None) };
    let members: WindowMembers =
        serde_json::from_str(raw.get()).map_err(|flaw| refusal(flaw.to_string()))?;
    members.validate().map(Some).map_err(refusal)
}

impl WindowMembers {
    fn validate(self) -> Result<WindowRequest, String> {
        let numbers = [
            ("length", self.length),
            ("start_line", self.start_line),
            ("max_lines", self.max_lines),
            ("max_tokens", self.max_tokens),
        ];
        if let Some((name, _)) = numbers.iter().find(|(_, number)| *number == Some(0)) {
            return Err(format!("{name} is 0"));
        }
        let by_lines = self.start_line.is_some() || self.max_lines.is_some();
        let by_bytes = self.offset.is_some() || self.length.is_some();
        if by_lines && (by_bytes || self.max_tokens.is_some()) {
            return Err("start_line and max_lines cannot be combined with offset, length or \
                 max_tokens; give one kind"
                .to_owned());
        }
        let offset = self.offset.unwrap_or(0);
        let extent = match (self.length, self.max_tokens) {
            (Some(_), Some(_)) => {
                return Err("length and max_tokens cannot be combined; give one".to_owned());
            }
            (None, Some(most)) => WindowExtent::Tokens { offset, max_tokens: most },
            _ if by_lines => WindowExtent::Lines {
                start: self.start_line.unwrap_or(1),
                max_lines: self.max_lines,
            },
            (length, None) => WindowExtent::Bytes { offset, length },
        };
        Ok(WindowRequest { extent, etag: self.etag, format: self.format, part: self.part })
    }
}
