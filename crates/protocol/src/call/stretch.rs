//! Which stretch of a resource does a read ask for?

use serde::Deserialize;

use crate::meta::Meta;
use crate::refusal::Refusal;

/// A window as a client asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Where it begins and how much it is.
    pub extent: Extent,
    /// The version it must be of.
    pub etag: Option<String>,
}

/// A beginning and a measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// By bytes.
    Bytes {
        /// Where it begins.
        offset: u64,
        /// How long it may be; as long as is allowed, if nobody says.
        length: Option<u64>,
    },
    /// By lines.
    Lines {
        /// The first, counted from 1.
        start: u64,
        /// How many; as many as are allowed, if nobody says.
        most: Option<u64>,
    },
    /// By tokens.
    Tokens {
        /// Where it begins, in bytes.
        offset: u64,
        /// How many there may be.
        most: u64,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    offset: Option<u64>,
    length: Option<u64>,
    start_line: Option<u64>,
    max_lines: Option<u64>,
    max_tokens: Option<u64>,
    etag: Option<String>,
}

/// The window that `meta` asks for, if it does.
pub(super) fn stretch(meta: &Meta<'_>) -> Result<Option<Stretch>, Refusal> {
    let refusal = |flaw: String| Refusal::bad_params(format!("dev.refdesk/window: {flaw}"));
    let Some(raw) = meta.window else { return Ok(None) };
    let members: Members =
        serde_json::from_str(raw.get()).map_err(|flaw| refusal(flaw.to_string()))?;
    members.stretch().map(Some).map_err(refusal)
}

impl Members {
    fn stretch(self) -> Result<Stretch, String> {
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
            return Err("start_line and max_lines do not go with offset, length or max_tokens; \
                 give one kind"
                .to_owned());
        }
        let offset = self.offset.unwrap_or(0);
        let extent = match (self.length, self.max_tokens) {
            (Some(_), Some(_)) => {
                return Err("length and max_tokens contradict each other; give one".to_owned());
            }
            (None, Some(most)) => Extent::Tokens { offset, most },
            _ if by_lines => {
                Extent::Lines { start: self.start_line.unwrap_or(1), most: self.max_lines }
            }
            (length, None) => Extent::Bytes { offset, length },
        };
        Ok(Stretch { extent, etag: self.etag })
    }
}
