//! XML: elements, attributes, and pairs of a key and a value. Not a validating parser: what does
//! not fit is passed over and said to be broken.

use std::borrow::Cow;
use std::ops::Range;

use super::lines;
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// Attributes that name what stands in another attribute or in the element.
const NAME_ATTRIBUTES: &[&str] = &["name", "key", "id"];

/// Reports the elements and attributes of `text`.
pub(super) fn scan<'t>(text: &'t str, walk: &mut Walk<'t, '_>) -> Fit {
    let mut reader = XmlReader { text, walk, open: Vec::new(), property: None, fit: Fit::Whole };
    let mut at = 0;
    while at < text.len() {
        at = reader.next(at);
    }
    if !reader.open.is_empty() {
        reader.fit = Fit::Broken;
    }
    reader.fit
}

struct XmlReader<'t, 'w, 'j> {
    text: &'t str,
    walk: &'w mut Walk<'t, 'j>,
    /// The names of open elements.
    open: Vec<&'t str>,
    /// The last `<key>` of a property list.
    property: Option<&'t str>,
    fit: Fit,
}

impl<'t> XmlReader<'t, '_, '_> {
    /// Reads what stands at `at`; returns where the next thing stands.
    fn next(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        if let Some((inner, end)) = self.enclosed(at, "<!--", "-->") {
            lines::scan_comment(self.text, inner.clone(), self.walk);
            self.comment(inner);
            return end;
        }
        if let Some((inner, end)) = self.enclosed(at, "<![CDATA[", "]]>") {
            self.content(inner);
            return end;
        }
        let declaration = self.enclosed(at, "<?", "?>").or_else(|| self.enclosed(at, "<!", ">"));
        if let Some((_, end)) = declaration {
            return end;
        }
        if rest.starts_with("</") {
            let end = rest.find('>').map_or(self.text.len(), |end| at + end + 1);
            if self.open.pop().is_some() {
                self.walk.close();
            } else {
                self.fit = Fit::Broken;
            }
            return end;
        }
        if rest.starts_with('<') {
            return self.element(at);
        }
        let end = rest.find('<').map_or(self.text.len(), |end| at + end);
        self.content(at..end);
        end
    }

    /// What stands between `open` at `at` and the next `close`, and where that ends.
    fn enclosed(&mut self, at: usize, open: &str, close: &str) -> Option<(Range<usize>, usize)> {
        let rest = self.text[at..].strip_prefix(open)?;
        let start = at + open.len();
        let Some(length) = rest.find(close) else {
            self.fit = Fit::Broken;
            return Some((start..self.text.len(), self.text.len()));
        };
        Some((start..start + length, start + length + close.len()))
    }

    /// Elements inside a comment: `<password>…</password>`.
    fn comment(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while let Some(open) = self.text[at..range.end].find('<') {
            let start = at + open + 1;
            let Some(close) = self.text[start..range.end].find('>') else { return };
            let name =
                self.text[start..start + close].split_whitespace().next().unwrap_or_default();
            at = start + close + 1;
            let content = &self.text[at..range.end];
            let length = content.find('<').unwrap_or(content.len());
            let value = content[..length].trim();
            let from = at + content.find(value).unwrap_or_default();
            let range = from..from + value.len();
            let token =
                ScalarToken { range, value: Cow::Borrowed(value), quoting: Quoting::Verbatim };
            if !name.starts_with('/') {
                self.walk.assignment(name, &token);
            }
        }
    }

    /// Text inside the innermost element.
    fn content(&mut self, range: Range<usize>) {
        let raw = &self.text[range.clone()];
        let value = raw.trim();
        let Some(element) = self.open.last().copied().filter(|_| !value.is_empty()) else { return };
        let from = range.start + (raw.len() - raw.trim_start().len());
        let range = from..from + value.len();
        let is_property_value = ["string", "data", "integer"].contains(&element);
        if element == "key" && self.open.iter().nth_back(1) == Some(&"dict") {
            self.property = Some(value);
        } else if let Some(property) = self.property.take().filter(|_| is_property_value) {
            let token =
                ScalarToken { range, value: Cow::Borrowed(value), quoting: Quoting::Verbatim };
            self.walk.assignment(property, &token);
            return;
        }
        // The element's name is the key under which its map was opened, so the text is reported
        // one level up, as a value of it.
        self.walk.text_of_map(ScalarToken {
            range,
            value: decode(value),
            quoting: Quoting::Verbatim,
        });
    }

    /// The start tag at `at`.
    fn element(&mut self, at: usize) -> usize {
        let is_name_end = |character: char| character.is_whitespace() || "/>".contains(character);
        let rest = &self.text[at + 1..];
        let name = &rest[..rest.find(is_name_end).unwrap_or(rest.len())];
        let mut at = at + 1 + name.len();
        let mut attributes: Vec<(&'t str, Range<usize>)> = Vec::new();
        loop {
            let rest = self.text[at..].trim_start();
            at = self.text.len() - rest.len();
            if rest.is_empty() {
                self.fit = Fit::Broken;
                break;
            }
            if let Some(length) =
                ["/>", ">"].iter().find(|end| rest.starts_with(**end)).map(|end| end.len())
            {
                at += length;
                break;
            }
            at = self.attribute(at, &mut attributes);
        }
        let is_empty = self.text[..at].ends_with("/>");
        let local = name.rsplit(':').next().unwrap_or(name);
        self.walk.key(Cow::Borrowed(self.named(local, &attributes)));
        self.walk.open_map();
        self.attributes(&attributes);
        if is_empty {
            self.walk.close();
        } else {
            self.open.push(local);
        }
        at
    }

    /// The name under which an element stands: its `name` or `key` where it is a mere pair.
    fn named(&self, name: &'t str, attributes: &[(&'t str, Range<usize>)]) -> &'t str {
        let is_pair = [
            "property",
            "entry",
            "setting",
            "param",
            "parameter",
            "prop",
            "init-param",
            "env",
            "variable",
            "string",
            "item",
            "option",
        ]
        .contains(&name.to_ascii_lowercase().as_str());
        let attribute = attributes.iter().find(|(key, _)| NAME_ATTRIBUTES.contains(key));
        match attribute {
            Some((_, range)) if is_pair => &self.text[range.clone()],
            _ => name,
        }
    }

    fn attribute(&mut self, at: usize, attributes: &mut Vec<(&'t str, Range<usize>)>) -> usize {
        let rest = &self.text[at..];
        let is_end = |character: char| character.is_whitespace() || "=/>".contains(character);
        let length = rest.find(is_end).unwrap_or(rest.len());
        if length == 0 {
            self.fit = Fit::Broken;
            return at + rest.chars().next().map_or(1, char::len_utf8);
        }
        let behind = rest[length..].trim_start();
        let Some(value) = behind.strip_prefix('=').map(str::trim_start) else { return at + length };
        let from = self.text.len() - value.len();
        let Some(quote) = value.chars().next().filter(|first| "\"'".contains(*first)) else {
            self.fit = Fit::Broken;
            return from.max(at + length + 1);
        };
        let inner = &value[1..];
        let Some(end) = inner.find(quote) else {
            self.fit = Fit::Broken;
            return self.text.len();
        };
        attributes.push((&rest[..length], from + 1..from + 1 + end));
        from + 1 + end + 1
    }

    fn attributes(&mut self, attributes: &[(&'t str, Range<usize>)]) {
        let named = attributes.iter().find(|(key, _)| NAME_ATTRIBUTES.contains(key));
        for (key, range) in attributes {
            let value = decode(&self.text[range.clone()]);
            let token = ScalarToken { range: range.clone(), value, quoting: Quoting::Verbatim };
            let is_value = ["value", "connectionString"].contains(key);
            if let Some((_, name)) = named.filter(|_| is_value) {
                self.walk.assignment(&self.text[name.clone()], &token);
            } else {
                self.walk.key(Cow::Borrowed(key));
                self.walk.scalar(token);
            }
        }
    }
}

/// A text without entities.
fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    let replace = |text: String, (entity, character): (&str, &str)| text.replace(entity, character);
    Cow::Owned(entities.into_iter().fold(text.to_owned(), replace))
}
