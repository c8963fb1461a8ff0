//! Shallow JSON tools: read an object's members, write an object, replace values in place.
//!
//! Values are not parsed, so they stay byte for byte as they were.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::answer::Malformed;

/// Writes a JSON object member by member.
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn begin() -> Self {
        Self("{".to_owned())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    pub(crate) fn raw(&mut self, name: &str, json: &str) {
        if !self.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&json_escape_simd::escape(name));
        self.0.push(':');
        self.0.push_str(json);
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.raw(name, &json_escape_simd::escape(text));
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

pub(crate) type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// The members of an object. Deserializes in place, without scanning for the end first.
pub(crate) struct Fields<'a>(pub(crate) Members<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    members.push((name.0, map.next_value()?));
                }
                Ok(members)
            }
        }
        from.deserialize_map(Each).map(Fields)
    }
}

/// The members of an object in order, values not parsed. `what` names the object in errors.
pub(crate) fn members<'a>(raw: Option<&'a RawValue>, what: &str) -> Result<Members<'a>, Malformed> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let fields = Fields::deserialize(&mut serde_json::Deserializer::from_str(raw.get()));
    fields.map(|fields| fields.0).map_err(|_| Malformed::new(&format!("{what}: not an object")))
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The elements of an array; empty if `raw` is no array.
pub(crate) fn elements(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The value of a JSON string; `None` if `raw` is no string.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Name<'_>>(raw.get()).ok().map(|name| name.0)
}

/// JSON text with replacements for some of its values. All other bytes stay as they are.
pub(crate) struct Edits<'a> {
    text: &'a str,
    made: Vec<(Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, made: Vec::new() }
    }

    /// Replaces `value` by `json`. `value` must borrow from the text given to [`Edits::of`].
    pub(crate) fn replace(&mut self, value: &'a RawValue, json: String) {
        let value = value.get();
        let begin = value.as_ptr().addr() - self.text.as_ptr().addr();
        self.made.push((begin..begin + value.len(), json));
    }

    /// The text with all replacements applied; `None` if there are none.
    pub(crate) fn done(mut self) -> Option<String> {
        if self.made.is_empty() {
            return None;
        }
        self.made.sort_by_key(|(place, _)| place.start);
        let mut whole = String::with_capacity(self.text.len() + 16 * self.made.len());
        let mut at = 0;
        for (place, json) in self.made {
            whole.push_str(&self.text[at..place.start]);
            whole.push_str(&json);
            at = place.end;
        }
        whole.push_str(&self.text[at..]);
        Some(whole)
    }
}
