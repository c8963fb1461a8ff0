//! Dates of mail as ISO 8601.

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A date such as `Tue, 1 Jul 2025 10:52:37 +0900 (JST)` as ISO 8601; `None` if it is none.
pub(super) fn iso_date(date: &str) -> Option<String> {
    let date = date.split('(').next()?;
    let after_day = date.split_once(',').map_or(date, |(_, rest)| rest);
    let mut words = after_day.split_whitespace();
    let day: u32 = words.next()?.parse().ok()?;
    let month = words.next()?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|name| month.starts_with(name))? + 1;
    let year: u32 = words.next()?.parse().ok()?;
    let year = match year {
        0..=49 => year + 2_000,
        50..=999 => year + 1_900,
        _ => year,
    };
    let mut clock = words.next()?.split(':').map(|digits| digits.parse::<u32>().ok());
    let (hour, minute) = (clock.next()??, clock.next()??);
    let second = clock.next().unwrap_or(Some(0))?;
    let is_valid =
        (1..=31).contains(&day) && year < 10_000 && hour < 24 && minute < 60 && second < 61;
    let zone = zone(words.next());
    is_valid
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

/// The zone; nothing if the date does not say it.
fn zone(word: Option<&str>) -> String {
    let Some(word) = word else { return String::new() };
    let known = [
        ("GMT", "+0000"),
        ("UT", "+0000"),
        ("UTC", "+0000"),
        ("Z", "+0000"),
        ("EST", "-0500"),
        ("EDT", "-0400"),
        ("CST", "-0600"),
        ("CDT", "-0500"),
        ("MST", "-0700"),
        ("MDT", "-0600"),
        ("PST", "-0800"),
        ("PDT", "-0700"),
        ("JST", "+0900"),
    ];
    let offset =
        known.iter().find(|row| row.0.eq_ignore_ascii_case(word)).map_or(word, |row| row.1);
    let is_offset = offset.len() == 5
        && offset.starts_with(['+', '-'])
        && offset[1..].bytes().all(|byte| byte.is_ascii_digit());
    match offset {
        "+0000" | "-0000" => "Z".to_owned(),
        _ if is_offset => format!("{}:{}", &offset[..3], &offset[3..]),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::iso_date;

    #[test]
    fn dates_of_mail_become_iso() {
        let cases = [
            ("Tue, 1 Jul 2025 10:52:37 +0900 (JST)", Some("2025-07-01T10:52:37+09:00")),
            ("1 Jul 25 10:52 GMT", Some("2025-07-01T10:52:00Z")),
            ("Thu, 31 Dec 1998 23:59:60 -0500", Some("1998-12-31T23:59:60-05:00")),
            ("Thu, 31 Dec 1998 23:59:00", Some("1998-12-31T23:59:00")),
            ("yesterday", None),
            ("Thu, 99 Dec 1998 23:59:00", None),
            ("", None),
        ];
        for (date, expected) in cases {
            assert_eq!(iso_date(date).as_deref(), expected, "{date}");
        }
    }
}
