//! Decoder for the read window: `dev.refdesk/window` in `_meta` of `resources/read`.

use resource::{SectionChoice, SectionUnit};
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
    /// The pages, sheets or slides that the window is of.
    pub section: Option<SectionChoice>,
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
    page: Option<usize>,
    pages: Option<String>,
    sheet: Option<SheetMember>,
    slide: Option<usize>,
    slides: Option<String>,
    chapter: Option<usize>,
}

/// A sheet, by its number or its name.
#[derive(Deserialize)]
#[serde(untagged)]
enum SheetMember {
    Number(usize),
    Name(String),
}

/// Decodes the accepted formats in `meta`: an array of MIME types, or one text.
pub(super) fn decode_accept(meta: &RequestMeta<'_>) -> Result<Vec<String>, Refusal> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum AcceptMember {
        One(String),
        Many(Vec<String>),
    }
    let Some(raw) = meta.accept else { return Ok(Vec::new()) };
    match serde_json::from_str(raw.get()) {
        Ok(AcceptMember::One(one)) => Ok(vec![one]),
        Ok(AcceptMember::Many(many)) => Ok(many),
        Err(_) => {
            let flaw = "dev.refdesk/accept: not an array of MIME types";
            Err(Refusal::invalid_params(flaw.to_owned()))
        }
    }
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
        let section = self.section()?;
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
        let Self { etag, format, part, .. } = self;
        Ok(WindowRequest { extent, etag, format, part, section })
    }

    /// The pages, sheets or slides that it names, of one kind.
    fn section(&self) -> Result<Option<SectionChoice>, String> {
        let number = |unit, number: Option<usize>| {
            number.map(|number| Ok(SectionChoice::number(unit, number)))
        };
        let range = |unit, text: &Option<String>| {
            text.as_deref().map(|text| SectionChoice::parse_range(unit, text))
        };
        let sheet = self.sheet.as_ref().map(|sheet| {
            Ok(match sheet {
                SheetMember::Number(number) => SectionChoice::number(SectionUnit::Sheet, *number),
                SheetMember::Name(name) => SectionChoice::sheet(name),
            })
        });
        let named = [
            number(SectionUnit::Page, self.page),
            range(SectionUnit::Page, &self.pages),
            sheet,
            number(SectionUnit::Slide, self.slide),
            range(SectionUnit::Slide, &self.slides),
            number(SectionUnit::Chapter, self.chapter),
        ];
        let mut named = named.into_iter().flatten();
        let first = named.next().transpose()?;
        if named.next().is_some() {
            let flaw = "page, pages, sheet, slide, slides and chapter exclude each other; give one";
            return Err(flaw.to_owned());
        }
        Ok(first)
    }
}
