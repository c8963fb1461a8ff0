//! Filters and sort orders of a list, applied here so that they work with any server.

use std::time::{Duration, SystemTime};

use resource::{Resource, Role};

use crate::args::{FilterArgs, RowOrder};
use crate::error::CommandError;
use crate::listing::Row;

/// Conditions that a resource meets.
#[derive(Debug, Default)]
pub(crate) struct RowFilter {
    name: Option<NamePattern>,
    mime: Option<String>,
    audience: Option<Role>,
    min_priority: Option<f64>,
    since: Option<SystemTime>,
}

/// A text that a name contains, or a glob that it matches; without regard to case.
#[derive(Debug, Clone)]
pub(crate) struct NamePattern(String);

impl NamePattern {
    pub(crate) fn new(pattern: &str) -> Self {
        Self(pattern.to_lowercase())
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        match self.0.contains(['*', '?']) {
            true => glob_matches(&self.0, &name),
            false => name.contains(&self.0),
        }
    }
}

/// Whether `text` matches a glob of `*` and `?`, in time linear in their product.
fn glob_matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Where the last star is, and how much it has taken.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match &mut star {
                Some((place, taken)) => {
                    *taken += 1;
                    (at, read) = (*place + 1, *taken);
                }
                None => return false,
            },
        }
    }
    glob[at..].iter().all(|letter| *letter == '*')
}

impl RowFilter {
    pub(crate) fn parse(args: &FilterArgs) -> Result<Self, CommandError> {
        let audience = match args.audience.as_deref() {
            None => None,
            Some("user") => Some(Role::User),
            Some("assistant") => Some(Role::Assistant),
            Some(other) => {
                let words = format!("--audience {other}: write user or assistant");
                return Err(CommandError::Usage(words));
            }
        };
        let since = args.since.as_deref().map(parse_since).transpose()?;
        Ok(Self {
            name: args.name.as_deref().map(NamePattern::new),
            mime: args.mime.as_ref().map(|mime| mime.to_lowercase()),
            audience,
            min_priority: args.min_priority,
            since,
        })
    }

    /// Whether it lets everything pass.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { name, mime, audience, min_priority, since } = self;
        name.is_none()
            && mime.is_none()
            && audience.is_none()
            && min_priority.is_none()
            && since.is_none()
    }

    pub(crate) fn matches(&self, resource: &Resource) -> bool {
        let named = |pattern: &NamePattern| {
            pattern.matches(&resource.name)
                || resource.title.as_deref().is_some_and(|title| pattern.matches(title))
        };
        let typed = |wanted: &String| {
            resource.mime_types().any(|mime| match wanted.ends_with('/') {
                true => mime.to_lowercase().starts_with(wanted.as_str()),
                false => mime.split(';').next().unwrap_or(mime).eq_ignore_ascii_case(wanted),
            })
        };
        let annotations = &resource.annotations;
        let for_them =
            |role: Role| annotations.audience.is_empty() || annotations.audience.contains(&role);
        self.name.as_ref().is_none_or(named)
            && self.mime.as_ref().is_none_or(typed)
            && self.audience.is_none_or(for_them)
            && self
                .min_priority
                .is_none_or(|least| annotations.priority.is_some_and(|own| own >= least))
            && self.since.is_none_or(|since| annotations.modified.is_some_and(|own| own >= since))
    }
}

/// A date, a time, or how long ago.
fn parse_since(when: &str) -> Result<SystemTime, CommandError> {
    let wrong = || {
        CommandError::Usage(format!("--since {when}: write a date such as 2026-01-31, or 7d, 12h"))
    };
    if let Ok(ago) = humantime::parse_duration(when) {
        let now = SystemTime::now();
        return Ok(now.checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH));
    }
    let full = if when.len() == 10 { format!("{when}T00:00:00Z") } else { when.to_owned() };
    humantime::parse_rfc3339_weak(&full).map_err(|_| wrong())
}

/// Sorts rows; those without the value come last, in the order that they have.
pub(crate) fn sort_rows(rows: &mut [Row], order: RowOrder) {
    let modified = |row: &Row| {
        let modified = row.resource.annotations.modified;
        modified.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok())
    };
    match order {
        RowOrder::Name => rows.sort_by_cached_key(|row| row.resource.name.to_lowercase()),
        RowOrder::Size => rows.sort_by_key(|row| std::cmp::Reverse(row.resource.size)),
        RowOrder::Age => {
            rows.sort_by_key(|row| std::cmp::Reverse(modified(row).unwrap_or(Duration::ZERO)))
        }
        RowOrder::Priority => rows.sort_by(|one, other| {
            let priority = |row: &Row| row.resource.annotations.priority.unwrap_or(-1.0);
            priority(other).total_cmp(&priority(one))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{NamePattern, parse_since};

    #[test]
    fn a_name_matches_a_text_or_a_glob_without_regard_to_case() {
        let matches = |pattern: &str, name: &str| NamePattern::new(pattern).matches(name);
        assert!(matches("read", "README.md") && matches("*.MD", "readme.md"));
        assert!(matches("資*.m?", "資料.md") && matches("*a*b*", "xaxxbx"));
        assert!(!matches("*.md", "readme.md.txt") && !matches("x", "abc") && !matches("?", "ab"));
        let hostile = NamePattern::new(&"*a".repeat(200));
        assert!(!hostile.matches(&"a".repeat(199)));
    }

    #[test]
    fn a_time_is_a_date_or_an_age() {
        assert!(parse_since("2026-01-31").is_ok() && parse_since("7d").is_ok());
        assert!(parse_since("2026-01-31T10:00:00Z").is_ok());
        assert_eq!(parse_since("yesterday").unwrap_err().exit_status(), 2);
    }
}
