//! Accepted formats: MIME types with preferences, as in HTTP's `Accept`, and the choice by them.

use crate::error::{Error, Result};

/// The most media ranges of one request.
const MAX_RANGES: usize = 64;

/// The formats that a reader accepts; empty if it has no preference.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accept(Vec<MediaRange>);

/// A MIME type, or all of a family, and how much it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MediaRange {
    mime: MimeType,
    /// From 0, not at all, to 1,000.
    quality: u16,
}

/// A MIME type in parts, all lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MimeType {
    family: String,
    subtype: String,
    /// Sorted, without `charset`: texts are always sent as UTF-8.
    parameters: Vec<String>,
}

/// How closely a range names a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    Anything,
    Family,
    /// The type, with other parameters.
    Type,
    Exact,
}

impl Accept {
    /// Parses media ranges such as `text/markdown` or `text/*;q=0.5`; each text may have several,
    /// separated by commas.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut ranges = Vec::new();
        for text in texts {
            for part in text.split(',').filter(|part| !part.trim().is_empty()) {
                if ranges.len() == MAX_RANGES {
                    let message = format!("accept has more than {MAX_RANGES} types");
                    return Err(Error::invalid(message));
                }
                ranges.push(MediaRange::parse(part)?);
            }
        }
        Ok(Self(ranges))
    }

    /// Whether the reader has no preference.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The position of the best of `formats`, given as MIME types. The wanted more comes first,
    /// then the accepted first, then the one that is named exactly, then the first format.
    pub fn choose<'a>(&self, formats: impl IntoIterator<Item = &'a str>) -> Option<usize> {
        let mut best: Option<((u16, usize, bool), usize)> = None;
        for (at, format) in formats.into_iter().enumerate() {
            let Some(mime) = MimeType::parse(format) else { continue };
            let Some((order, closeness, quality)) = self.rank(&mime) else { continue };
            // The closest range decides how much a format is wanted, as in HTTP.
            let rank = (quality, usize::MAX - order, closeness == Closeness::Exact);
            if quality > 0 && best.is_none_or(|(known, _)| rank > known) {
                best = Some((rank, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// The range that names `mime` most closely: its position, closeness and quality.
    fn rank(&self, mime: &MimeType) -> Option<(usize, Closeness, u16)> {
        let mut found: Option<(usize, Closeness, u16)> = None;
        for (order, range) in self.0.iter().enumerate() {
            let Some(closeness) = range.mime.closeness(mime) else { continue };
            if found.is_none_or(|(_, known, _)| closeness > known) {
                found = Some((order, closeness, range.quality));
            }
        }
        found
    }
}

impl MediaRange {
    fn parse(text: &str) -> Result<Self> {
        let malformed = || {
            let shown: String = text.trim().chars().take(80).collect();
            Error::invalid(format!(
                "accept: {shown:?} is not a MIME type such as text/markdown or text/*;q=0.5"
            ))
        };
        let mut mime = MimeType::parse(text).ok_or_else(malformed)?;
        let is_quality = |parameter: &String| parameter.starts_with("q=");
        let quality = match mime.parameters.iter().position(is_quality) {
            Some(at) => parse_quality(&mime.parameters.remove(at)[2..]).ok_or_else(malformed)?,
            None => 1_000,
        };
        if mime.family == "*" && mime.subtype != "*" {
            return Err(malformed());
        }
        Ok(Self { mime, quality })
    }
}

/// A quality with up to three decimals, in thousandths.
fn parse_quality(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths = format!("{decimals:0<3}").parse::<u16>().ok().filter(|_| are_digits)?;
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(1_000),
        _ => None,
    }
}

impl MimeType {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(|part| part.trim().to_ascii_lowercase());
        let essence = parts.next()?;
        let (family, subtype) = essence.split_once('/')?;
        let is_token = |text: &str| {
            let is_letter =
                |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+*".contains(&byte);
            !text.is_empty() && text.bytes().all(is_letter)
        };
        if !is_token(family) || !is_token(subtype) {
            return None;
        }
        let mut parameters = Vec::new();
        for parameter in parts.filter(|part| !part.is_empty()) {
            let (name, value) = parameter.split_once('=')?;
            if name.trim() != "charset" {
                let value = value.trim().trim_matches('"');
                parameters.push(format!("{}={value}", name.trim()));
            }
        }
        parameters.sort();
        Some(Self { family: family.to_owned(), subtype: subtype.to_owned(), parameters })
    }

    /// How closely this range names `mime`; `None` if it does not. A bare type names its variants.
    fn closeness(&self, mime: &Self) -> Option<Closeness> {
        if self.family == "*" {
            return Some(Closeness::Anything);
        }
        if self.family != mime.family {
            return None;
        }
        if self.subtype == "*" {
            return Some(Closeness::Family);
        }
        if self.subtype != mime.subtype {
            return None;
        }
        if self.parameters == mime.parameters {
            return Some(Closeness::Exact);
        }
        self.parameters.is_empty().then_some(Closeness::Type)
    }
}

#[cfg(test)]
mod tests {
    use super::Accept;

    const FORMATS: [&str; 4] =
        ["application/pdf", "text/plain;variant=raw", "text/markdown", "text/plain"];

    fn choose(ranges: &[&str]) -> Option<&'static str> {
        let accept = Accept::parse(ranges.iter().copied()).unwrap();
        accept.choose(FORMATS).map(|at| FORMATS[at])
    }

    #[test]
    fn the_format_that_is_wanted_most_is_chosen() {
        assert_eq!(choose(&["text/markdown;q=0.4", "text/plain;q=0.5"]), Some("text/plain"));
        assert_eq!(choose(&["text/plain;q=0.5, text/markdown"]), Some("text/markdown"));
        assert_eq!(choose(&["text/*", "application/pdf"]), Some("text/plain;variant=raw"));
        assert_eq!(choose(&["*/*"]), Some("application/pdf"));
        assert_eq!(choose(&["TEXT/Plain; charset=utf-8"]), Some("text/plain"), "the exact one");
        assert_eq!(choose(&["text/plain;variant=raw"]), Some("text/plain;variant=raw"));
        assert_eq!(choose(&["text/*;q=0.1", "*/*;q=0"]), Some("text/plain;variant=raw"));
        assert_eq!(choose(&["*/*", "application/pdf;q=0"]), Some("text/plain;variant=raw"));
        assert_eq!(choose(&["image/png", "text/markdown;q=0"]), None);
        assert!(Accept::parse([]).unwrap().is_empty());
    }

    #[test]
    fn a_malformed_range_is_refused_by_its_text() {
        for text in ["text", "text/", "*/png", "text/plain;q=2", "text/plain;q=0.1234", "a b/c"] {
            let error = Accept::parse([text]).unwrap_err();
            assert!(error.message.contains("is not a MIME type"), "{text}");
        }
        assert!(Accept::parse(["text/a"; 65]).is_err());
    }
}
