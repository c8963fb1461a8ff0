//! Tokens of RTF: groups, control words, bytes of text.

/// A token.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RtfToken<'a> {
    Open,
    Close,
    /// A control word, with its number.
    Word(&'a str, Option<i32>),
    /// A control sign, such as `\~`.
    Sign(u8),
    /// A byte that is written in hexadecimal.
    Hex(u8),
    /// Bytes of text.
    Text(&'a [u8]),
}

/// The tokens of a document.
pub(super) struct RtfTokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> RtfTokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn control(&mut self) -> Option<RtfToken<'a>> {
        let bytes = self.bytes;
        let first = *bytes.get(self.at)?;
        if first == b'\'' {
            let digits = bytes.get(self.at + 1..self.at + 3);
            let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            self.at += if byte.is_some() { 3 } else { 1 };
            return Some(byte.map_or(RtfToken::Text(&[]), RtfToken::Hex));
        }
        if !first.is_ascii_alphabetic() {
            self.at += 1;
            return Some(RtfToken::Sign(first));
        }
        let start = self.at;
        while bytes.get(self.at).is_some_and(u8::is_ascii_alphabetic) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&bytes[start..self.at]).unwrap_or_default();
        let start = self.at;
        if bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        while bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        let number = std::str::from_utf8(&bytes[start..self.at]).unwrap_or_default();
        if number == "-" {
            self.at -= 1;
        }
        let number = number.parse::<i64>().ok();
        let number = number.map(|number| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
        if bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        if word == "bin" {
            self.at = self.at.saturating_add(number.unwrap_or(0).max(0) as usize).min(bytes.len());
        }
        Some(RtfToken::Word(word, number))
    }
}

impl<'a> Iterator for RtfTokens<'a> {
    type Item = RtfToken<'a>;

    fn next(&mut self) -> Option<RtfToken<'a>> {
        while matches!(self.bytes.get(self.at), Some(b'\r' | b'\n' | 0)) {
            self.at += 1;
        }
        let first = *self.bytes.get(self.at)?;
        match first {
            b'{' | b'}' => {
                self.at += 1;
                Some(if first == b'{' { RtfToken::Open } else { RtfToken::Close })
            }
            b'\\' => {
                self.at += 1;
                self.control()
            }
            _ => {
                let rest = &self.bytes[self.at..];
                let is_end = |byte: &u8| matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n' | 0);
                let length = rest.iter().position(is_end).unwrap_or(rest.len());
                self.at += length;
                Some(RtfToken::Text(&rest[..length]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RtfToken, RtfTokens};

    #[test]
    fn words_signs_and_bytes_are_told_apart() {
        let tokens: Vec<RtfToken<'_>> =
            RtfTokens::new(b"{\\b0 a\\'e9\\~\\u-10?\r\n\\bin3 }}}\\x}").collect();
        let wanted = [
            RtfToken::Open,
            RtfToken::Word("b", Some(0)),
            RtfToken::Text(b"a"),
            RtfToken::Hex(0xE9),
            RtfToken::Sign(b'~'),
            RtfToken::Word("u", Some(-10)),
            RtfToken::Text(b"?"),
            RtfToken::Word("bin", Some(3)),
            RtfToken::Word("x", None),
            RtfToken::Close,
        ];
        assert_eq!(tokens, wanted);
    }
}
