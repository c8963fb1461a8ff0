//! Lists in the JSON of notebooks, read within bounds: the first values, and lines as one text.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

/// The first values of an array, at most `MOST`; the others are counted.
#[derive(Clone, Default)]
pub(super) struct FirstValues<'a, const MOST: usize> {
    pub(super) values: Vec<&'a RawValue>,
    pub(super) left_out: usize,
}

impl<const MOST: usize> FirstValues<'_, MOST> {
    /// Adds the values of another array, as far as there is room.
    pub(super) fn append(&mut self, other: Self) {
        let room = MOST - self.values.len();
        self.left_out += other.left_out + other.values.len().saturating_sub(room);
        self.values.extend(other.values.into_iter().take(room));
    }
}

impl<'de: 'a, 'a, const MOST: usize> Deserialize<'de> for FirstValues<'a, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FirstValuesVisitor::<MOST>)
    }
}

struct FirstValuesVisitor<const MOST: usize>;

impl<'de, const MOST: usize> Visitor<'de> for FirstValuesVisitor<MOST> {
    type Value = FirstValues<'de, MOST>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut first = FirstValues::default();
        while first.values.len() < MOST {
            let Some(value) = array.next_element()? else { return Ok(first) };
            first.values.push(value);
        }
        while array.next_element::<IgnoredAny>()?.is_some() {
            first.left_out += 1;
        }
        Ok(first)
    }
}

/// The first members of an object, at most `MOST`.
pub(super) struct FirstMembers<'a, const MOST: usize>(pub(super) BTreeMap<String, &'a RawValue>);

impl<'de: 'a, 'a, const MOST: usize> Deserialize<'de> for FirstMembers<'a, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FirstMembersVisitor::<MOST>)
    }
}

struct FirstMembersVisitor<const MOST: usize>;

impl<'de, const MOST: usize> Visitor<'de> for FirstMembersVisitor<MOST> {
    type Value = FirstMembers<'de, MOST>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut first = BTreeMap::new();
        while first.len() < MOST {
            let Some((name, value)) = object.next_entry()? else { return Ok(FirstMembers(first)) };
            first.insert(name, value);
        }
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(FirstMembers(first))
    }
}

/// A text, which may be an array of lines that are joined by `between`; another value as its JSON.
pub(super) fn joined_text(raw: &RawValue, between: &str) -> String {
    let json = raw.get();
    let mut text = String::new();
    let mut parser = serde_json::Deserializer::from_str(json);
    match (LinesVisitor { text: &mut text, between }).deserialize(&mut parser) {
        Ok(()) => text,
        Err(_) => json.to_owned(),
    }
}

/// Appends a text, or the texts of an array, to `text`. No line is a value of its own, so that
/// millions of them take no more memory than their text.
struct LinesVisitor<'a> {
    text: &'a mut String,
    between: &'a str,
}

impl<'de> DeserializeSeed<'de> for LinesVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for LinesVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or an array of texts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.text.push_str(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while array.next_element_seed(OneLine(&mut *self.text))?.is_some() {
            self.text.push_str(self.between);
        }
        if self.text.ends_with(self.between) {
            self.text.truncate(self.text.len() - self.between.len());
        }
        Ok(())
    }
}

/// Appends one text to another.
struct OneLine<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for OneLine<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for OneLine<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{FirstMembers, FirstValues, joined_text};

    #[test]
    fn of_a_long_list_the_first_values_are_kept_and_the_others_counted() {
        let json = format!("[{}1]", "1,".repeat(9));
        let mut list: FirstValues<'_, 4> = serde_json::from_str(&json).unwrap();
        assert_eq!((list.values.len(), list.left_out), (4, 6));
        list.append(serde_json::from_str("[1, 2]").unwrap());
        assert_eq!((list.values.len(), list.left_out), (4, 8));
        let object: FirstMembers<'_, 1> = serde_json::from_str(r#"{"a": 1, "b": 2}"#).unwrap();
        assert_eq!(object.0.keys().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn lines_are_one_text() {
        let joined = |json: &str, between| {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            joined_text(raw, between)
        };
        assert_eq!(joined(r#"["a\n", "b"]"#, ""), "a\nb");
        assert_eq!(joined(r#"["a", "", "b"]"#, "\n"), "a\n\nb");
        assert_eq!(joined(r#""a""#, "\n"), "a");
        assert_eq!(joined("[]", "\n"), "");
        assert_eq!(joined(r#"["a", 1]"#, ""), r#"["a", 1]"#);
        assert_eq!(joined(r#"{"a": 1}"#, ""), r#"{"a": 1}"#);
    }
}
