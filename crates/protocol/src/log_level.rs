//! Log levels, named as in syslog.

use resource::Json;
use serde::Deserialize;

const NAMES: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The severity of a log message. Orders from `debug` to `emergency`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogLevel(u8);

impl LogLevel {
    /// The level called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        let at = NAMES.iter().position(|known| *known == name)?;
        u8::try_from(at).ok().map(Self)
    }

    /// The level of a log message; `None` if it names no known level.
    pub fn of_message(message: &Json) -> Option<Self> {
        #[derive(Deserialize)]
        struct LeveledMessage<'a> {
            level: std::borrow::Cow<'a, str>,
        }
        let message: LeveledMessage<'_> = serde_json::from_str(message.as_str()).ok()?;
        Self::from_name(&message.level)
    }

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        NAMES[usize::from(self.0)]
    }

    /// All names, least severe first, separated by commas.
    pub fn all_names() -> String {
        NAMES.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{LogLevel, NAMES};

    #[test]
    fn levels_are_found_by_name_and_grow_in_importance() {
        let all: Vec<LogLevel> =
            NAMES.iter().filter_map(|name| LogLevel::from_name(name)).collect();
        assert!(all.is_sorted() && all.len() == 8);
        assert_eq!(all[3].as_str(), "warning");
        assert_eq!(LogLevel::from_name("loud"), None);
        assert_eq!(
            LogLevel::of_message(&r#"{"level":"alert","data":1}"#.into()),
            LogLevel::from_name("alert")
        );
        assert_eq!(LogLevel::of_message(&r#"{"level":5}"#.into()), None);
    }
}
