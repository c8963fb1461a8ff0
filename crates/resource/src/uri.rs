//! URI validation (RFC 3986) and percent-encoding of path segments.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};

/// An absolute URI, kept exactly as it was written.
///
/// The parser checks the characters of RFC 3986 and accepts non-ASCII letters, since hosts pass on
/// what people type. It normalises nothing: two spellings are two URIs.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uri(Arc<str>);

impl Uri {
    /// Checks `text` and keeps it.
    pub fn parse(text: &str) -> Result<Self> {
        match find_error(text) {
            None => Ok(Self(text.into())),
            Some(flaw) => Err(Error::invalid(format!("not a valid URI: {flaw}"))),
        }
    }

    /// The URI as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The scheme: the part before the first colon.
    pub fn scheme(&self) -> &str {
        self.0.split_once(':').map_or("", |(scheme, _)| scheme)
    }

    /// The authority: the part between `//` and the path, if there is one.
    pub fn authority(&self) -> Option<&str> {
        self.after_scheme().strip_prefix("//").map(|rest| split_authority(rest).0)
    }

    /// The path, still percent-encoded.
    pub fn path(&self) -> &str {
        let rest = self.after_scheme();
        let path = match rest.strip_prefix("//") {
            Some(rest) => split_authority(rest).1,
            None => rest,
        };
        without_query(path)
    }

    /// Everything behind the scheme and its colon.
    pub fn after_scheme(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, rest)| rest)
    }

    /// Whether it has a query or a fragment.
    pub fn has_query(&self) -> bool {
        without_query(self.as_str()).len() < self.0.len()
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// `text` without its query and its fragment.
pub fn without_query(text: &str) -> &str {
    let end = text.bytes().position(|byte| matches!(byte, b'?' | b'#'));
    &text[..end.unwrap_or(text.len())]
}

/// The authority, and what follows it.
fn split_authority(rest: &str) -> (&str, &str) {
    let end = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    rest.split_at(end.unwrap_or(rest.len()))
}

/// The reason why `text` is not a URI, or `None` if it is one.
fn find_error(text: &str) -> Option<&'static str> {
    let Some((scheme, rest)) = text.split_once(':') else {
        return Some("it has no scheme");
    };
    let mut letters = scheme.bytes();
    if !letters.next().is_some_and(|first| first.is_ascii_alphabetic()) {
        return Some("its scheme does not begin with a letter");
    }
    if !letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
        return Some("its scheme contains an invalid character");
    }
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'%' {
            let hex = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_hexdigit);
            if !(hex(at + 1) && hex(at + 2)) {
                return Some("a % is not followed by two hexadecimal digits");
            }
        } else if !IS_ALLOWED[usize::from(byte)] {
            return Some("it contains a character that must be percent-encoded");
        }
        at += 1;
    }
    // C1 controls are the only non-ASCII characters that no URI or IRI may contain.
    rest.chars().any(char::is_control).then_some("it contains a control character")
}

/// The bytes that a URI may have as they are; all of other scripts among them.
const IS_ALLOWED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = byte >= 0x80 || is_unreserved(byte as u8) || is_reserved(byte as u8);
        byte += 1;
    }
    table
};

/// Letters, digits and `-._~`, which never need encoding.
pub const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// The delimiters of RFC 3986.
pub const fn is_reserved(byte: u8) -> bool {
    let is_general = matches!(byte, b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@');
    is_general || matches!(byte, b'!' | b'$' | b'&'..=b',' | b';' | b'=')
}

/// Appends `segment` to `into`, percent-encoded as one path segment. Any bytes are allowed.
pub fn encode_segment(segment: &[u8], into: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in segment {
        if is_unreserved(byte) || b"!$&'()*+,;=@:".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push('%');
            into.push(char::from(HEX[usize::from(byte >> 4)]));
            into.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Writes `value` as RFC 6570 expands it in `{+name}`: delimiters and what is percent-encoded
/// already stay as they are.
pub fn expand_reserved(value: &str, into: &mut String) {
    let bytes = value.as_bytes();
    let is_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    for (at, &byte) in bytes.iter().enumerate() {
        let is_triplet = byte == b'%' && is_hex(at + 1) && is_hex(at + 2);
        if is_triplet || is_unreserved(byte) || is_reserved(byte) {
            into.push(char::from(byte));
        } else {
            encode_segment(&[byte], into);
        }
    }
}

/// Writes `path` as a value for `{+name}`: its expansion names the same path.
pub fn reserved_value(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3F").replace('#', "%23")
}

/// Decodes percent-encoding, once.
pub fn percent_decode(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    if !bytes.contains(&b'%') {
        return Cow::Borrowed(bytes);
    }
    let digit = |i: usize| bytes.get(i).and_then(|&b| char::from(b).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    Cow::Owned(out)
}

/// Decodes percent-encoding into text; what is no UTF-8 is replaced.
pub fn percent_decode_lossy(text: &str) -> Cow<'_, str> {
    match percent_decode(text) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::{Uri, encode_segment, percent_decode};

    #[test]
    fn a_uri_is_taken_apart_where_rfc_3986_says() {
        let uri = Uri::parse("git+ssh://host:1/a%20b/c?q=1#f").unwrap();
        assert_eq!(uri.scheme(), "git+ssh");
        assert_eq!(uri.authority(), Some("host:1"));
        assert_eq!(uri.path(), "/a%20b/c");
        let opaque = Uri::parse("urn:isbn:1").unwrap();
        assert_eq!((opaque.authority(), opaque.path()), (None, "isbn:1"));
    }

    #[test]
    fn what_is_not_a_uri_is_refused() {
        for text in ["", "not a uri", "noscheme", "1a://x", "a b://x", "file:///a\\b", "x://%zz"] {
            assert!(Uri::parse(text).is_err(), "{text:?} was taken");
        }
        for text in ["file:///a\u{0}", "file:///a\nb", "file:///a b", "file:///\u{85}", "x:%4"] {
            assert!(Uri::parse(text).is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn letters_beyond_ascii_are_kept_as_written() {
        assert_eq!(Uri::parse("mem://café/日本").unwrap().as_str(), "mem://café/日本");
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(segment in any::<Vec<u8>>()) {
            let mut text = String::from("x:/");
            encode_segment(&segment, &mut text);
            let uri = Uri::parse(&text).unwrap();
            assert_eq!(&percent_decode(&uri.path()[1..])[..], &segment[..]);
        }
    }

    #[test]
    fn the_allowed_characters_are_those_of_rfc_3986() {
        let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9');
        let allowed: String = letters.chain("-._~:/?#[]@!$&'()*+,;=".chars()).collect();
        for character in (0..0x80).map(char::from).filter(|character| *character != '%') {
            let is_uri = Uri::parse(&format!("a:{character}")).is_ok();
            assert_eq!(is_uri, allowed.contains(character), "{character:?}");
        }
    }

    #[test]
    fn a_query_and_a_fragment_are_told_from_the_path() {
        for (text, path) in [("a://h/p?q", "/p"), ("a://h/p#f?g", "/p"), ("a:b", "b")] {
            let uri = Uri::parse(text).unwrap();
            assert_eq!((uri.path(), uri.has_query()), (path, text.contains(['?', '#'])));
        }
        assert_eq!(super::percent_decode_lossy("a%20b%FF"), "a b\u{FFFD}");
    }
}
