//! Byte sizes and durations with units, such as `10 MiB` and `5 min`.

use std::fmt;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A number of bytes: `10 MiB`, `500 kB`, `4096`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) u64);

/// A duration: `30 s`, `5 min`, `1h 30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeSpan(pub(crate) Duration);

const UNITS: [(&str, u64); 9] = [
    ("b", 1),
    ("kb", 1000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("", 1),
    ("bytes", 1),
];

impl ByteSize {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
        let count: u64 = text[..end].replace('_', "").parse().ok()?;
        let unit = text[end..].trim().to_ascii_lowercase();
        let (_, bytes) = UNITS.iter().find(|(name, _)| *name == unit)?;
        count.checked_mul(*bytes).map(Self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sizes;
        impl Visitor<'_> for Sizes {
            type Value = ByteSize;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"10 MiB\" or \"64 kB\"")
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<ByteSize, E> {
                u64::try_from(bytes)
                    .map(ByteSize)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(bytes), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ByteSize, E> {
                ByteSize::parse(text)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Sizes)
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Spans;
        impl Visitor<'_> for Spans {
            type Value = TimeSpan;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"30 s\" or \"5 min\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<TimeSpan, E> {
                // Accept `30 s` as well as `30s`.
                let joined = text.replace(' ', "");
                humantime::parse_duration(&joined)
                    .map(TimeSpan)
                    .map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Spans)
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSize;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read = |text| ByteSize::parse(text).map(|size| size.0);
        assert_eq!(read("10 MiB"), Some(10 << 20));
        assert_eq!(read("64kB"), Some(64_000));
        assert_eq!(read("4_096"), Some(4096));
        for text in ["", "MiB", "10 MX", "-1", "1.5 MiB", "99999999999 GiB"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
