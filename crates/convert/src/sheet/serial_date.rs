//! Dates of workbooks, which are numbers of days, as ISO 8601.

/// What a date shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DateParts {
    /// Year, month or day.
    pub(crate) has_date: bool,
    /// Hour, minute or second.
    pub(crate) has_time: bool,
    /// Hours, minutes or seconds over a day: a duration.
    pub(crate) is_elapsed: bool,
    /// Parts of a second.
    pub(crate) has_millis: bool,
}

/// The day 1970-01-01, in days since 1899-12-30.
const UNIX_DAY: i64 = 25_569;

/// The days from the epoch of 1900 to that of 1904.
const DAYS_TO_1904: f64 = 1_462.0;

/// The serial of 9999-12-31.
const LAST_SERIAL: f64 = 2_958_466.0;

/// A serial date as ISO 8601; `None` if it is no date.
pub(crate) fn iso_of_serial(serial: f64, is_1904: bool, parts: DateParts) -> Option<String> {
    if !serial.is_finite() {
        return None;
    }
    if parts.is_elapsed {
        return (serial.abs() < LAST_SERIAL).then(|| elapsed(serial, parts));
    }
    let serial = if is_1904 { serial + DAYS_TO_1904 } else { serial };
    if !(0.0..LAST_SERIAL).contains(&serial) {
        return None;
    }
    // Truncation is exact: the value is below 10^12.
    let millis = (serial * 86_400_000.0).round() as i64;
    let (mut days, millis) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    let time = clock(millis, parts);
    if !parts.has_date || (days == 0 && parts.has_time) {
        return Some(time);
    }
    // Day 60 is 29 February 1900, which never was.
    if days < 60 && !is_1904 {
        days += 1;
    }
    let date = iso_of_days(days - UNIX_DAY);
    Some(if parts.has_time { format!("{date}T{time}") } else { date })
}

fn elapsed(serial: f64, parts: DateParts) -> String {
    let sign = if serial < 0.0 { "-" } else { "" };
    let millis = (serial.abs() * 86_400_000.0).round() as i64;
    let hours = millis / 3_600_000;
    let rest = clock(millis % 3_600_000, parts);
    format!("{sign}{hours}{}", &rest[2..])
}

fn clock(millis: i64, parts: DateParts) -> String {
    let millis = if parts.has_millis { millis } else { (millis + 500) / 1_000 * 1_000 };
    let (seconds, rest) = (millis / 1_000, millis % 1_000);
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if parts.has_millis { format!("{clock}.{rest:03}") } else { clock }
}

/// A day, counted from 1970-01-01, as ISO 8601 in the Gregorian calendar.
pub(crate) fn iso_of_days(days: i64) -> String {
    // Years are counted from March, so that a leap day is the last day of a year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::{DateParts, iso_of_serial};

    const DATE: DateParts =
        DateParts { has_date: true, has_time: false, is_elapsed: false, has_millis: false };
    const TIME: DateParts =
        DateParts { has_date: false, has_time: true, is_elapsed: false, has_millis: false };
    const BOTH: DateParts =
        DateParts { has_date: true, has_time: true, is_elapsed: false, has_millis: false };

    #[test]
    fn a_serial_date_becomes_iso() {
        assert_eq!(iso_of_serial(45_352.0, false, DATE).as_deref(), Some("2024-03-01"));
        assert_eq!(iso_of_serial(45_352.573, false, BOTH).as_deref(), Some("2024-03-01T13:45:07"));
        assert_eq!(iso_of_serial(0.5, false, TIME).as_deref(), Some("12:00:00"));
        assert_eq!(iso_of_serial(1.0, false, DATE).as_deref(), Some("1900-01-01"));
        assert_eq!(iso_of_serial(59.0, false, DATE).as_deref(), Some("1900-02-28"));
        assert_eq!(iso_of_serial(61.0, false, DATE).as_deref(), Some("1900-03-01"));
    }

    #[test]
    fn the_epoch_of_1904_is_four_years_later() {
        assert_eq!(iso_of_serial(43_890.0, true, DATE).as_deref(), Some("2024-03-01"));
        assert_eq!(iso_of_serial(0.0, true, DATE).as_deref(), Some("1904-01-01"));
    }

    #[test]
    fn a_duration_counts_hours_over_a_day() {
        let parts = DateParts { is_elapsed: true, ..TIME };
        assert_eq!(iso_of_serial(1.104_166_666_7, false, parts).as_deref(), Some("26:30:00"));
    }

    #[test]
    fn a_number_that_is_no_date_gives_nothing() {
        for serial in [-1.0, 3e6, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(iso_of_serial(serial, false, DATE), None);
        }
    }
}
