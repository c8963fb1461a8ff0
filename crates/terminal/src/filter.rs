//! Filters and sort orders of a list, applied here so that they work with any server.

use std::cmp::Ordering;
use std::time::SystemTime;

use resource::{Resource, Role};

use crate::args::{FilterArgs, RowOrder};
use crate::error::CommandError;
use crate::listing::Row;

/// How many rows a sorted list collects before it drops the last ones.
const MIN_SORTED: usize = 1_000;

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

/// Compares two resources; those without the value come last, in the order that they have.
pub(crate) fn compare(one: &Resource, other: &Resource, order: RowOrder) -> Ordering {
    match order {
        RowOrder::Name => one.name.to_lowercase().cmp(&other.name.to_lowercase()),
        RowOrder::Size => other.size.cmp(&one.size),
        RowOrder::Age => other.annotations.modified.cmp(&one.annotations.modified),
        RowOrder::Priority => {
            let priority = |resource: &Resource| resource.annotations.priority.unwrap_or(-1.0);
            priority(other).total_cmp(&priority(one))
        }
    }
}

/// Collects the rows that a list shows: those that match, and of these the first in order.
///
/// It keeps few more rows than it shows, however long the list is.
pub(crate) struct RowCollector<'a> {
    filter: &'a RowFilter,
    order: Option<RowOrder>,
    limit: usize,
    rows: Vec<Row>,
    is_cut: bool,
}

impl<'a> RowCollector<'a> {
    pub(crate) fn new(filter: &'a RowFilter, order: Option<RowOrder>, limit: usize) -> Self {
        Self { filter, order, limit, rows: Vec::new(), is_cut: false }
    }

    /// Takes the next row of the list; returns whether one that comes later may be shown.
    pub(crate) fn take(&mut self, row: Row) -> bool {
        if !self.filter.matches(&row.resource) {
            return true;
        }
        self.rows.push(row);
        if self.order.is_some() {
            // Each sort is of at least as many new rows as old ones.
            if self.rows.len() > self.limit.saturating_mul(2).saturating_add(MIN_SORTED) {
                self.cut();
            }
            return true;
        }
        self.is_cut = self.rows.len() > self.limit;
        !self.is_cut
    }

    /// The rows, and whether there were more that match.
    pub(crate) fn finish(mut self) -> (Vec<Row>, bool) {
        self.cut();
        (self.rows, self.is_cut)
    }

    fn cut(&mut self) {
        if let Some(order) = self.order {
            self.rows.sort_by(|one, other| compare(&one.resource, &other.resource, order));
        }
        self.is_cut |= self.rows.len() > self.limit;
        self.rows.truncate(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use resource::{Resource, Role, Uri};
    use serde_json::Value;

    use super::{MIN_SORTED, NamePattern, RowCollector, RowFilter, parse_since};
    use crate::args::{FilterArgs, RowOrder};
    use crate::listing::Row;

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

    fn row(name: &str, describe: impl FnOnce(&mut Resource)) -> Row {
        let mut resource = Resource::new(Uri::parse(&format!("a:///{name}")).unwrap(), name);
        describe(&mut resource);
        Row { resource, json: Value::Null, is_implied: false }
    }

    /// Four resources: each has a value that the next has less of, and the last has none.
    fn rows() -> Vec<Row> {
        let at = |days: u64| Some(SystemTime::now() - Duration::from_secs(days * 86_400));
        vec![
            row("d-plain", |_| {}),
            row("a-new", |resource| {
                resource.size = Some(5);
                resource.annotations.modified = at(1);
                resource.annotations.priority = Some(0.1);
                resource.annotations.audience = vec![Role::User];
            }),
            row("C-large", |resource| {
                resource.size = Some(9);
                resource.annotations.modified = at(9);
                resource.annotations.priority = Some(0.5);
                resource.annotations.audience = vec![Role::Assistant];
            }),
            row("b-first", |resource| {
                resource.size = Some(0);
                resource.annotations.modified = at(5);
                resource.annotations.priority = Some(1.0);
                resource.annotations.audience = vec![Role::User, Role::Assistant];
            }),
        ]
    }

    fn collected(args: &FilterArgs, order: Option<RowOrder>, limit: usize) -> (Vec<String>, bool) {
        let filter = RowFilter::parse(args).unwrap();
        let mut collector = RowCollector::new(&filter, order, limit);
        for row in rows() {
            if !collector.take(row) {
                break;
            }
        }
        let (rows, is_cut) = collector.finish();
        (rows.into_iter().map(|row| row.resource.name).collect(), is_cut)
    }

    #[test]
    fn each_filter_keeps_the_rows_that_meet_it() {
        let names = |args: FilterArgs| collected(&args, None, 9).0;
        let audience =
            |who: &str| FilterArgs { audience: Some(who.to_owned()), ..FilterArgs::default() };
        // A resource without an audience is for everyone.
        assert_eq!(names(audience("user")), ["d-plain", "a-new", "b-first"]);
        assert_eq!(names(audience("assistant")), ["d-plain", "C-large", "b-first"]);
        let least = |least| FilterArgs { min_priority: Some(least), ..FilterArgs::default() };
        assert_eq!(names(least(0.5)), ["C-large", "b-first"]);
        assert_eq!(names(least(0.0)), ["a-new", "C-large", "b-first"]);
        let since =
            |when: &str| FilterArgs { since: Some(when.to_owned()), ..FilterArgs::default() };
        assert_eq!(names(since("6d")), ["a-new", "b-first"]);
        assert_eq!(names(since("2001-01-01")), ["a-new", "C-large", "b-first"]);
        let wrong = RowFilter::parse(&audience("nobody")).unwrap_err();
        assert_eq!(wrong.exit_status(), 2);
    }

    #[test]
    fn each_order_puts_rows_without_the_value_last() {
        let names = |order| collected(&FilterArgs::default(), Some(order), 9).0;
        assert_eq!(names(RowOrder::Name), ["a-new", "b-first", "C-large", "d-plain"]);
        assert_eq!(names(RowOrder::Size), ["C-large", "a-new", "b-first", "d-plain"]);
        assert_eq!(names(RowOrder::Age), ["a-new", "b-first", "C-large", "d-plain"]);
        assert_eq!(names(RowOrder::Priority), ["b-first", "C-large", "a-new", "d-plain"]);
    }

    #[test]
    fn a_limit_counts_the_rows_that_match_and_cuts_them_in_order() {
        let named =
            |name: &str| FilterArgs { name: Some(name.to_owned()), ..FilterArgs::default() };
        let largest = collected(&FilterArgs::default(), Some(RowOrder::Size), 2);
        assert_eq!(largest, (vec!["C-large".to_owned(), "a-new".to_owned()], true));
        assert_eq!(collected(&named("first"), None, 1), (vec!["b-first".to_owned()], false));
        assert_eq!(collected(&named("-"), None, 1), (vec!["d-plain".to_owned()], true));
        assert!(!collected(&named("-"), None, 4).1);
    }

    #[test]
    fn a_sorted_list_is_held_in_part_alone() {
        let filter = RowFilter::default();
        let mut collector = RowCollector::new(&filter, Some(RowOrder::Size), 3);
        for number in 0..10_000_u64 {
            let size = number * 7_919 % 10_000;
            assert!(collector.take(row("x", |resource| resource.size = Some(size))));
            assert!(collector.rows.len() <= MIN_SORTED + 7);
        }
        let (rows, is_cut) = collector.finish();
        let sizes: Vec<_> = rows.iter().map(|row| row.resource.size).collect();
        assert_eq!((sizes, is_cut), (vec![Some(9_999), Some(9_998), Some(9_997)], true));
    }
}
