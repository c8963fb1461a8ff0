//! Shallow JSON tools: read an object's members, write an object, replace values in place.
//!
//! Values are not parsed, so they stay byte for byte as they were.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use memchr::memmem;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::unescape::unescape_string;
use crate::outbound::response::MalformedMessage;

/// Writes a JSON object member by member.
pub(crate) struct ObjectWriter(String);

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self("{".to_owned())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    pub(crate) fn put_raw(&mut self, name: &str, json: &str) {
        if !self.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&json_escape_simd::escape(name));
        self.0.push(':');
        self.0.push_str(json);
    }

    pub(crate) fn put_string(&mut self, name: &str, text: &str) {
        self.put_raw(name, &json_escape_simd::escape(text));
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

pub(crate) type RawMembers<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// The members of an object. Deserializes in place, without scanning for the end first.
pub(crate) struct RawObject<'a>(pub(crate) RawMembers<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = RawMembers<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<JsonString<'de>>()? {
                    members.push((name.0, map.next_value()?));
                }
                Ok(members)
            }
        }
        from.deserialize_map(MembersVisitor).map(RawObject)
    }
}

/// The members of an object in order, values not parsed. `what` names the object in errors.
pub(crate) fn parse_members<'a>(
    raw: Option<&'a RawValue>,
    what: &str,
) -> Result<RawMembers<'a>, MalformedMessage> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let fields = RawObject::deserialize(&mut serde_json::Deserializer::from_str(raw.get()));
    fields
        .map(|fields| fields.0)
        .map_err(|_| MalformedMessage::new(&format!("{what}: not an object")))
}

/// Deserializes an object. A derived `Deserialize` would take an array too, as its members in order.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(json: &'a str) -> serde_json::Result<T> {
    if json.trim_start().starts_with('[') {
        return Err(serde::de::Error::custom("an array in the place of an object"));
    }
    serde_json::from_str(json)
}

/// The value of the last member called `name` of the object in `json`.
pub(crate) fn find_member<'a>(json: &'a str, name: &str) -> Option<&'a RawValue> {
    if !may_contain(json, name) {
        return None;
    }
    members_of(json).into_iter().rfind(|(one, _)| one == name).map(|(_, raw)| raw)
}

/// Whether a name or a string in the JSON may have `word`, which is ASCII without quotes and
/// backslashes. Much faster than parsing. False is certain, although a letter may be written as an
/// escape, and a slash as two characters.
pub(crate) fn may_contain(json: &str, word: &str) -> bool {
    let has = |part: &str| memmem::find(json.as_bytes(), part.as_bytes()).is_some();
    word.split('/').all(has) || has(r"\u00")
}

/// The members of the object in `json`; none if it is no object.
pub(crate) fn members_of(json: &str) -> RawMembers<'_> {
    serde_json::from_str(json).map(|RawObject(members)| members).unwrap_or_default()
}

#[derive(Deserialize)]
pub(crate) struct JsonString<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// The elements of an array; empty if `raw` is no array.
pub(crate) fn parse_elements(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The value of a JSON string; `None` if `raw` is no string. Unpaired surrogates become U+FFFD.
pub(crate) fn parse_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    unquote(raw.get())
}

/// The value of a JSON string; `None` if `json`, which is valid JSON, is no string. Unpaired
/// surrogates become U+FFFD.
pub(crate) fn unquote(json: &str) -> Option<Cow<'_, str>> {
    if let Some(text) = unescaped(json) {
        return Some(Cow::Borrowed(text));
    }
    serde_json::from_str::<JsonString<'_>>(json)
        .ok()
        .map(|name| name.0)
        .or_else(|| String::from_utf8(unescape_string(json)?).ok().map(Cow::Owned))
}

/// The value of a JSON string without escapes, which is as it stands; `None` if `json`, which is
/// valid JSON, is anything else.
pub(crate) fn unescaped(json: &str) -> Option<&str> {
    let text = json.strip_prefix('"')?.strip_suffix('"')?;
    memchr::memchr(b'\\', text.as_bytes()).is_none().then_some(text)
}

/// JSON text with replacements for some of its values. All other bytes stay as they are.
pub(crate) struct JsonEdits<'a> {
    text: &'a str,
    replacements: Vec<(Range<usize>, String)>,
}

impl<'a> JsonEdits<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, replacements: Vec::new() }
    }

    /// Replaces `value` by `json`. `value` must borrow from the text given to [`JsonEdits::new`].
    pub(crate) fn replace(&mut self, value: &'a str, json: String) {
        let begin = value.as_ptr().addr() - self.text.as_ptr().addr();
        self.replacements.push((begin..begin + value.len(), json));
    }

    /// The text with all replacements applied; `None` if there are none.
    pub(crate) fn apply(mut self) -> Option<String> {
        if self.replacements.is_empty() {
            return None;
        }
        self.replacements.sort_by_key(|(place, _)| place.start);
        let mut whole = String::with_capacity(self.text.len() + 16 * self.replacements.len());
        let mut at = 0;
        for (place, json) in self.replacements {
            whole.push_str(&self.text[at..place.start]);
            whole.push_str(&json);
            at = place.end;
        }
        whole.push_str(&self.text[at..]);
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::{find_member, may_contain};

    #[test]
    fn a_word_is_found_however_it_is_written() {
        for json in [r#"{"a/bc":1}"#, r#"{"a\/bc":1}"#, r#"{"\u0061/bc":1}"#, r#"{"a\u002Fbc":1}"#]
        {
            assert!(may_contain(json, "a/bc"), "{json}");
            assert_eq!(find_member(json, "a/bc").unwrap().get(), "1", "{json}");
        }
        assert!(!may_contain(r#"{"d":"\u3042bc"}"#, "a/bc"));
        assert!(find_member(r#"{"b":"a/bc"}"#, "a/bc").is_none());
        assert_eq!(find_member(r#"{"a":1,"a":2}"#, "a").unwrap().get(), "2");
    }
}
