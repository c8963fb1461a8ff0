//! Tokenizer of HTML: tags, attributes and text, in one pass without recursion.
//!
//! It follows the standard but for the states of escaped scripts, whose content nobody reads. What
//! it takes for markup is only ever read, so that a difference to browsers changes no safety.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// Elements whose content is text up to their end tag.
const RAW_TEXT: &[&str] =
    &["iframe", "noembed", "noframes", "noscript", "script", "style", "textarea", "title", "xmp"];

/// A piece of a page. Names are as they are written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HtmlToken<'a> {
    Text(Cow<'a, str>),
    StartTag(&'a str),
    Attribute(&'a str, Cow<'a, str>),
    StartTagEnd { is_self_closing: bool },
    EndTag(&'a str),
}

/// The state of a pass over a page.
pub(super) struct HtmlTokenizer<'a> {
    page: &'a str,
    at: usize,
    /// By element of raw text: whether the rest of the page has no end tag of it.
    has_no_end: [bool; RAW_TEXT.len()],
}

impl<'a> HtmlTokenizer<'a> {
    /// Gives all tokens of `page` to `take`.
    pub(super) fn run(page: &'a str, mut take: impl FnMut(HtmlToken<'a>)) {
        let mut tokenizer = Self { page, at: 0, has_no_end: [false; RAW_TEXT.len()] };
        while tokenizer.at < page.len() {
            tokenizer.next_token(&mut take);
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.page.as_bytes().get(at).copied()
    }

    fn next_token(&mut self, take: &mut impl FnMut(HtmlToken<'a>)) {
        let start = self.at;
        let markup = self.find_markup(start);
        if markup > start {
            take(HtmlToken::Text(htmlize::unescape(&self.page[start..markup])));
        }
        self.at = markup;
        match (self.byte(markup + 1), self.byte(markup + 2)) {
            (None, _) => self.at = self.page.len(),
            (Some(b'!'), _) => self.skip_declaration(),
            (Some(b'/'), Some(next)) if next.is_ascii_alphabetic() => self.read_end_tag(take),
            (Some(b'/' | b'?'), _) => self.skip_to_bracket(markup + 2),
            _ => self.read_start_tag(take),
        }
    }

    /// Where the next tag, comment or declaration starts.
    fn find_markup(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(found) = memchr(b'<', &self.page.as_bytes()[at..]) {
            at += found;
            let is_markup =
                |next: u8| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?');
            let is_end = self.byte(at + 1) == Some(b'/') && self.byte(at + 2).is_none();
            if self.byte(at + 1).is_some_and(is_markup) && !is_end {
                return at;
            }
            at += 1;
        }
        self.page.len()
    }

    fn skip_to_bracket(&mut self, from: usize) {
        let rest = self.page.as_bytes().get(from..).unwrap_or(&[]);
        self.at = memchr(b'>', rest).map_or(self.page.len(), |end| from + end + 1);
    }

    fn skip_declaration(&mut self) {
        let from = self.at + 2;
        let Some(comment) = self.page[from..].strip_prefix("--") else {
            return self.skip_to_bracket(from);
        };
        let start = from + 2;
        if let Some(length) =
            [">", "->"].iter().find_map(|end| comment.starts_with(end).then_some(end.len()))
        {
            self.at = start + length;
            return;
        }
        let mut ends = memmem::find_iter(comment.as_bytes(), b"--").map(|end| start + end + 2);
        let end = ends.find_map(|end| match (self.byte(end), self.byte(end + 1)) {
            (Some(b'>'), _) => Some(end + 1),
            (Some(b'!'), Some(b'>')) => Some(end + 2),
            // Of more than two dashes, the last two count.
            (Some(b'-'), Some(b'>')) => Some(end + 2),
            _ => None,
        });
        self.at = end.unwrap_or(self.page.len());
    }

    fn read_end_tag(&mut self, take: &mut impl FnMut(HtmlToken<'a>)) {
        let start = self.at + 2;
        let end = self.name_end(start);
        self.at = end;
        // Attributes of end tags mean nothing, but may hold brackets.
        if self.read_attributes(&mut |_| ()).is_some() {
            take(HtmlToken::EndTag(&self.page[start..end]));
        }
    }

    fn read_start_tag(&mut self, take: &mut impl FnMut(HtmlToken<'a>)) {
        let start = self.at + 1;
        let end = self.name_end(start);
        let name = &self.page[start..end];
        self.at = end;
        take(HtmlToken::StartTag(name));
        let Some(is_self_closing) = self.read_attributes(take) else { return };
        if name.eq_ignore_ascii_case("plaintext") {
            take(HtmlToken::StartTagEnd { is_self_closing });
            take(HtmlToken::Text(Cow::Borrowed(&self.page[self.at..])));
            self.at = self.page.len();
            return;
        }
        let raw = RAW_TEXT.iter().position(|raw| raw.eq_ignore_ascii_case(name));
        let Some(raw) = raw else { return take(HtmlToken::StartTagEnd { is_self_closing }) };
        // Without an end tag, all the rest would be its content: the tag is left out instead.
        if let Some(end) = self.find_end_tag(raw) {
            take(HtmlToken::StartTagEnd { is_self_closing });
            let text = &self.page[self.at..end];
            if end > self.at {
                let is_escaped = matches!(RAW_TEXT[raw], "textarea" | "title");
                let text = if is_escaped { htmlize::unescape(text) } else { Cow::Borrowed(text) };
                take(HtmlToken::Text(text));
            }
            self.at = end;
        } else if matches!(RAW_TEXT[raw], "script" | "style") {
            self.at = self.page.len();
        }
    }

    /// Where the end tag of an element of raw text starts.
    fn find_end_tag(&mut self, raw: usize) -> Option<usize> {
        if self.has_no_end[raw] {
            return None;
        }
        let name = RAW_TEXT[raw].as_bytes();
        let rest = &self.page.as_bytes()[self.at..];
        let found = memmem::find_iter(rest, b"</").find(|end| {
            let tag = &rest[end + 2..];
            let is_name = tag.len() > name.len() && tag[..name.len()].eq_ignore_ascii_case(name);
            is_name
                && (tag[name.len()].is_ascii_whitespace() || matches!(tag[name.len()], b'/' | b'>'))
        });
        self.has_no_end[raw] = found.is_none();
        found.map(|end| self.at + end)
    }

    fn name_end(&self, from: usize) -> usize {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
        let rest = &self.page.as_bytes()[from..];
        rest.iter().position(ends).map_or(self.page.len(), |end| from + end)
    }

    /// Reads to the end of a tag: whether a slash stands before it, or `None` if it does not end.
    fn read_attributes(&mut self, take: &mut impl FnMut(HtmlToken<'a>)) -> Option<bool> {
        let mut is_self_closing = false;
        loop {
            match self.byte(self.at) {
                None => return None,
                Some(b'>') => {
                    self.at += 1;
                    return Some(is_self_closing);
                }
                Some(byte) if byte == b'/' || byte.is_ascii_whitespace() => {
                    is_self_closing = byte == b'/';
                    self.at += 1;
                }
                Some(_) => {
                    is_self_closing = false;
                    self.read_attribute(take);
                }
            }
        }
    }

    fn read_attribute(&mut self, take: &mut impl FnMut(HtmlToken<'a>)) {
        let start = self.at;
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'=');
        // An equals sign at the beginning belongs to the name.
        let rest = &self.page.as_bytes()[start + 1..];
        let end = rest.iter().position(ends).map_or(self.page.len(), |end| start + 1 + end);
        let name = &self.page[start..end];
        self.at = end;
        self.skip_space();
        if self.byte(self.at) != Some(b'=') {
            return take(HtmlToken::Attribute(name, Cow::Borrowed("")));
        }
        self.at += 1;
        self.skip_space();
        let value = match self.byte(self.at) {
            Some(quote @ (b'"' | b'\'')) => {
                let from = self.at + 1;
                let length = memchr(quote, &self.page.as_bytes()[from..]);
                let to = length.map_or(self.page.len(), |length| from + length);
                self.at = (to + 1).min(self.page.len());
                &self.page[from..to]
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
                let rest = &self.page.as_bytes()[self.at..];
                let to = rest.iter().position(ends).map_or(self.page.len(), |end| self.at + end);
                let value = &self.page[self.at..to];
                self.at = to;
                value
            }
        };
        take(HtmlToken::Attribute(name, htmlize::unescape_attribute(value)));
    }

    fn skip_space(&mut self) {
        while self.byte(self.at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HtmlToken, HtmlTokenizer};

    /// The tokens of a page, in a short notation.
    fn tokens(page: &str) -> String {
        let mut text = String::new();
        HtmlTokenizer::run(page, |token| {
            let part = match token {
                HtmlToken::Text(words) => format!("{words:?}"),
                HtmlToken::StartTag(name) => format!("<{name}"),
                HtmlToken::Attribute(name, value) => format!(" {name}={value:?}"),
                HtmlToken::StartTagEnd { is_self_closing: true } => "/>".to_owned(),
                HtmlToken::StartTagEnd { is_self_closing: false } => ">".to_owned(),
                HtmlToken::EndTag(name) => format!("</{name}>"),
            };
            text.push_str(&part);
        });
        text
    }

    #[test]
    fn tags_attributes_and_text_are_told_apart() {
        assert_eq!(
            tokens("a<B c d=e f='g>' H = \"i&amp;j\"/>k</B x='>'>"),
            r#""a"<B c="" d="e" f="g>" H="i&j"/>"k"</B>"#
        );
        assert_eq!(tokens("<a/b=c><d =e><f g=h/i>"), r#"<a b="c"><d =e=""><f g="h/i">"#);
        assert_eq!(tokens("1 < 2 <3> << a</ b>c</>d<?x>e"), r#""1 < 2 <3> << a""c""d""e""#);
    }

    #[test]
    fn comments_and_declarations_are_skipped() {
        assert_eq!(
            tokens("<!doctype html>a<!-- <b> -- > -->b<!-->c<!--->d<!--x--!>e<!--y--->f"),
            r#""a""b""c""d""e""f""#
        );
        assert_eq!(tokens("a<![CDATA[b>c]]>d<!-- no end"), r#""a""c]]>d""#);
    }

    #[test]
    fn references_are_decoded_as_in_browsers() {
        assert_eq!(
            tokens("&lt;b&gt; &copy &notit; &#x26; &#128; &nosuch;"),
            "\"<b> © ¬it; & € &nosuch;\""
        );
        assert_eq!(tokens("<a href='?a=1&copy=2&amp;b'>"), "<a href=\"?a=1&copy=2&b\">");
    }

    #[test]
    fn raw_text_ends_at_its_end_tag() {
        assert_eq!(
            tokens("<script>a<b></scripty></SCRIPT >c"),
            r#"<script>"a<b></scripty>"</SCRIPT>"c""#
        );
        assert_eq!(tokens("<title>a&lt;<b></title>"), r#"<title>"a<<b>"</title>"#);
        assert_eq!(tokens("<title>a<b>c"), r#"<title"a"<b>"c""#);
        assert_eq!(tokens("a<style>b"), r#""a"<style"#);
        assert_eq!(tokens("<plaintext>a</plaintext>"), r#"<plaintext>"a</plaintext>""#);
    }

    #[test]
    fn pages_that_end_anywhere_end_the_pass() {
        let page = "<!doctype x><a b='c' d=\"e\" f=g/>h</a ><!-- i --><title>j</title>&amp;k";
        for end in 0..=page.len() {
            tokens(&page[..end]);
        }
        let attributes = tokens(&format!("<p {}", "a=\"b\" ".repeat(200_000)));
        assert_eq!(attributes.matches(" a=").count(), 200_000);
        assert_eq!(tokens(&"<".repeat(200_000)).len(), 200_002);
        assert_eq!(tokens(&"<title>".repeat(200_000)).len(), 200_000 * 6);
    }
}
