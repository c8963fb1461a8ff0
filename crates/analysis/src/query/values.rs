//! Values of query fields: comparisons, numbers, dates and audiences.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use super::{Audience, Comparison, Condition, QueryError};

const PRIORITY_ACCEPTS: &str = "a number from 0 to 1, after <, <=, >, >= or =, as in priority:>0.5";
const MODIFIED_ACCEPTS: &str = "a year, month, day or UTC time, after <, <=, >, >= or =, \
                                as in modified:>2026-01-31 or modified:>=2026-01-31T12:00:00Z";
const AUDIENCE_ACCEPTS: &str = "user or assistant";
const DAY: u64 = 86_400;

/// Reads the value of `audience:`.
pub(super) fn audience(value: &str) -> Result<Condition, QueryError> {
    match value.to_lowercase().as_str() {
        "user" => Ok(Condition::Audience(Audience::User)),
        "assistant" => Ok(Condition::Audience(Audience::Assistant)),
        _ => Err(bad("audience", value, AUDIENCE_ACCEPTS)),
    }
}

/// Reads the value of `priority:`.
pub(super) fn priority(value: &str) -> Result<Condition, QueryError> {
    let (comparison, number) = comparison(value);
    let number: Option<f64> = number.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    let number = number.ok_or_else(|| bad("priority", value, PRIORITY_ACCEPTS))?;
    Ok(Condition::Priority(comparison, number))
}

/// Reads the value of `modified:`. A comparison with a day, month or year is one with its start
/// or its end.
pub(super) fn modified(value: &str) -> Result<Condition, QueryError> {
    let (comparison, time) = comparison(value);
    let Some(Range { start, end }) = period(time) else {
        return Err(bad("modified", value, MODIFIED_ACCEPTS));
    };
    Ok(match comparison {
        Comparison::Less => Condition::Modified(Comparison::Less, start),
        Comparison::LessOrEqual => Condition::Modified(Comparison::Less, end),
        Comparison::Equal => Condition::ModifiedWithin(start..end),
        Comparison::GreaterOrEqual => Condition::Modified(Comparison::GreaterOrEqual, start),
        Comparison::Greater => Condition::Modified(Comparison::GreaterOrEqual, end),
    })
}

fn bad(field: &'static str, value: &str, accepted: &'static str) -> QueryError {
    QueryError::BadValue { field, value: value.to_owned(), accepted }
}

fn comparison(value: &str) -> (Comparison, &str) {
    let operators = [
        ("<=", Comparison::LessOrEqual),
        ("＜＝", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("＞＝", Comparison::GreaterOrEqual),
        ("≦", Comparison::LessOrEqual),
        ("≧", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        ("＜", Comparison::Less),
        (">", Comparison::Greater),
        ("＞", Comparison::Greater),
        ("=", Comparison::Equal),
        ("＝", Comparison::Equal),
    ];
    let found = operators
        .iter()
        .find_map(|(sign, comparison)| value.strip_prefix(sign).map(|rest| (*comparison, rest)));
    found.unwrap_or((Comparison::Equal, value))
}

/// The time from the start to the end of a year, month, day, minute or second.
fn period(text: &str) -> Option<Range<SystemTime>> {
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut numbers = date.split('-');
    let year = number(numbers.next()?, 4)?;
    let month = numbers.next().map(|month| number(month, 2)).map_or(Some(None), |m| m.map(Some))?;
    let day = numbers.next().map(|day| number(day, 2)).map_or(Some(None), |d| d.map(Some))?;
    if numbers.next().is_some() || year < 1970 {
        return None;
    }
    let (start, end) = match (month, day) {
        (None, _) => (days(year, 1, 1)?, days(year + 1, 1, 1)?),
        (Some(12), None) => (days(year, 12, 1)?, days(year + 1, 1, 1)?),
        (Some(month), None) => (days(year, month, 1)?, days(year, month + 1, 1)?),
        (Some(month), Some(day)) => {
            let start = days(year, month, day)?;
            (start, start + 1)
        }
    };
    let Some(time) = time else { return Some(at(start * DAY)?..at(end * DAY)?) };
    day?;
    let (seconds, length) = clock(time)?;
    let start = start * DAY + seconds;
    Some(at(start)?..at(start + length)?)
}

/// The seconds since midnight of `12:00` or `12:00:30`, and how many seconds it stands for.
fn clock(time: &str) -> Option<(u64, u64)> {
    let mut numbers = time.trim_end_matches(['Z', 'z']).split(':').map(|part| number(part, 2));
    let (hour, minute) = (numbers.next()??, numbers.next()??);
    let second = numbers.next();
    if numbers.next().is_some() || hour > 23 || minute > 59 {
        return None;
    }
    let start = hour * 3600 + minute * 60;
    match second {
        None => Some((start, 60)),
        Some(second) => second.filter(|second| *second < 60).map(|second| (start + second, 1)),
    }
}

fn number(text: &str, digits: usize) -> Option<u64> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn at(seconds: u64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// The days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let lengths = [31, if is_leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let at = usize::try_from(month).ok()?.checked_sub(1)?;
    let length = *lengths.get(at)?;
    if day == 0 || day > length {
        return None;
    }
    let leap_days = |year: u64| year / 4 - year / 100 + year / 400;
    let before = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    Some(before + lengths[..at].iter().sum::<u64>() + day - 1)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{days, period};

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2000, 3, 1), Some(11_017));
        assert_eq!(days(2026, 1, 1), Some(20_454));
        assert_eq!(days(2023, 2, 29), None);
        assert!(days(2024, 2, 29).is_some());
        assert_eq!(days(2024, 13, 1), None);
        assert_eq!(days(2024, 0, 1), None);
    }

    #[test]
    fn a_period_is_as_long_as_what_is_written() {
        let seconds = |text: &str| {
            let period = period(text)?;
            period.end.duration_since(period.start).ok().map(|length| length.as_secs())
        };
        assert_eq!(seconds("2024"), Some(366 * 86_400));
        assert_eq!(seconds("2024-12"), Some(31 * 86_400));
        assert_eq!(seconds("2024-02"), Some(29 * 86_400));
        assert_eq!(seconds("2024-02-01"), Some(86_400));
        assert_eq!(seconds("2024-02-01T12:30"), Some(60));
        assert_eq!(seconds("2024-02-01T12:30:10Z"), Some(1));
        for wrong in [
            "",
            "24",
            "2024-2",
            "2024-02-30",
            "2024T10:00",
            "yesterday",
            "2024-02-01T25:00",
            "1969",
            "9999-99-99",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        let start = period("1970-01-02T00:00:01Z").unwrap().start;
        assert_eq!(start, SystemTime::UNIX_EPOCH + Duration::from_secs(86_401));
    }
}
