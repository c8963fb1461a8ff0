//! Fingerprint of a mount's settings, to tell on reload which mounts an edit changed.

use toml::de::DeValue;

/// A hash of the settings of one mount, wherever in the file they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(blake3::Hash);

impl Fingerprint {
    /// The fingerprint of settings that are one text.
    pub(super) fn of_text(text: &str) -> Self {
        Self(blake3::hash(text.as_bytes()))
    }

    /// The fingerprint of a TOML value.
    pub(super) fn of_toml(value: &DeValue<'_>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hash_value(value, &mut hasher);
        Self(hasher.finalize())
    }
}

/// Each value begins with a letter for its type, and texts and lists with their length, so that
/// two different values never feed the same bytes.
fn hash_value(value: &DeValue<'_>, hasher: &mut blake3::Hasher) {
    match value {
        DeValue::String(text) => hash_text(b"s", text, hasher),
        DeValue::Integer(number) => {
            hash_text(b"i", number.as_str(), hasher);
            hasher.update(&number.radix().to_le_bytes());
        }
        DeValue::Float(number) => hash_text(b"f", number.as_str(), hasher),
        DeValue::Boolean(truth) => {
            hasher.update(&[b'b', u8::from(*truth)]);
        }
        DeValue::Datetime(time) => hash_text(b"d", &time.to_string(), hasher),
        DeValue::Array(items) => {
            hasher.update(b"a").update(&items.len().to_le_bytes());
            items.iter().for_each(|item| hash_value(item.get_ref(), hasher));
        }
        DeValue::Table(table) => {
            hasher.update(b"t").update(&table.len().to_le_bytes());
            for (key, item) in table.iter() {
                hash_text(b"k", key.get_ref(), hasher);
                hash_value(item.get_ref(), hasher);
            }
        }
    }
}

fn hash_text(kind: &[u8], text: &str, hasher: &mut blake3::Hasher) {
    hasher.update(kind).update(&text.len().to_le_bytes()).update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use toml::de::DeValue;

    use super::Fingerprint;

    fn of(text: &str) -> Fingerprint {
        let value = DeValue::parse(text).unwrap();
        Fingerprint::of_toml(value.get_ref())
    }

    #[test]
    fn only_the_values_count() {
        assert_eq!(of("{ a = 1, b = ['x', true] }"), of("{ b = [ \"x\",true],   a = 1 }"));
        for other in ["{ a = 2, b = ['x', true] }", "{ a = 1 }", "{ a = '1', b = ['x', true] }"] {
            assert_ne!(of("{ a = 1, b = ['x', true] }"), of(other), "{other}");
        }
        assert_ne!(of("['ab', 'c']"), of("['a', 'bc']"));
        assert_ne!(of("[[], []]"), of("[[[]]]"));
    }
}
