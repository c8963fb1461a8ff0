//! Times as ISO 8601 text.

use std::fmt;
use std::time::SystemTime;

use serde::{Serialize, Serializer};

/// A time as ISO 8601 text in UTC, with a precision of one second.
pub(crate) struct IsoDate(SystemTime);

impl IsoDate {
    /// `None` before 1970 and after 9999, so that the year has four digits; clocks may be wrong.
    pub(crate) fn from_time(time: SystemTime) -> Option<Self> {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        (since.as_secs() < 253_402_300_800).then_some(Self(time))
    }
}

impl fmt::Display for IsoDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&humantime::format_rfc3339_seconds(self.0), f)
    }
}

impl Serialize for IsoDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
