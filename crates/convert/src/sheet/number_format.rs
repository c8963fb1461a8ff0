//! Number formats of workbooks: what a number looks like in its cell.

mod digits;
mod parse;

pub(crate) use digits::general;
use digits::{decimal_digits, fraction, scientific};

use super::serial_date::{DateParts, iso_of_serial};

/// A number format, with one section for each sign or condition.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct NumberFormat {
    sections: Vec<FormatSection>,
}

/// One section of a number format.
#[derive(Debug, Clone, PartialEq)]
struct FormatSection {
    condition: Option<FormatCondition>,
    tokens: Vec<FormatToken>,
    /// What a date shows, if the section formats dates.
    date: Option<DateParts>,
}

/// Which numbers a section is for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FormatCondition {
    /// Whether it takes numbers below the bound, the bound, and numbers above it.
    takes: [bool; 3],
    bound: f64,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
enum FormatToken {
    /// Text as it stands.
    Literal(String),
    /// A place of a digit: `0`, `#` or `?`.
    Digit(char),
    /// A decimal point.
    Point,
    /// A comma: thousands, or a scale.
    Comma,
    /// A percent sign.
    Percent,
    /// An exponent; whether a plus sign is shown.
    Exponent(bool),
    /// The line of a fraction.
    Slash,
    /// The text of the cell.
    Text,
    /// As many digits as the number has.
    General,
}

/// The formats that workbooks name by number.
const BUILT_IN: &[(u32, &str)] = &[
    (1, "0"),
    (2, "0.00"),
    (3, "#,##0"),
    (4, "#,##0.00"),
    (5, "$#,##0;-$#,##0"),
    (6, "$#,##0;-$#,##0"),
    (7, "$#,##0.00;-$#,##0.00"),
    (8, "$#,##0.00;-$#,##0.00"),
    (9, "0%"),
    (10, "0.00%"),
    (11, "0.00E+00"),
    (12, "# ?/?"),
    (13, "# ??/??"),
    (18, "h:mm"),
    (19, "h:mm"),
    (20, "h:mm"),
    (21, "h:mm:ss"),
    (22, "yyyy-m-d h:mm"),
    (32, "h:mm"),
    (33, "h:mm:ss"),
    (37, "#,##0;(#,##0)"),
    (38, "#,##0;(#,##0)"),
    (39, "#,##0.00;(#,##0.00)"),
    (40, "#,##0.00;(#,##0.00)"),
    (41, "#,##0;-#,##0;\"-\""),
    (42, "$#,##0;-$#,##0;$\"-\""),
    (43, "#,##0.00;-#,##0.00;\"-\""),
    (44, "$#,##0.00;-$#,##0.00;$\"-\""),
    (45, "mm:ss"),
    (46, "[h]:mm:ss"),
    (47, "mm:ss.0"),
    (48, "##0.0E+0"),
    (49, "@"),
];

impl NumberFormat {
    /// The format that workbooks know by this number, in any language.
    pub(crate) fn built_in(id: u32) -> Self {
        let is_date = matches!(id, 14..=17 | 27..=31 | 34..=36 | 50..=58);
        let code = BUILT_IN.iter().find(|row| row.0 == id).map(|row| row.1);
        Self::parse(if is_date { "yyyy-mm-dd" } else { code.unwrap_or("General") })
    }

    /// A number as its cell shows it; a date as ISO 8601.
    pub(crate) fn show_number(&self, value: f64, is_1904: bool) -> String {
        let Some((section, is_negated)) = self.section_of(value) else { return general(value) };
        if let Some(parts) = section.date {
            return iso_of_serial(value, is_1904, parts).unwrap_or_else(|| general(value));
        }
        let shown = section.show(if is_negated { value.abs() } else { value });
        shown.trim().to_owned()
    }

    /// A text as its cell shows it; `None` if the format adds nothing to it.
    pub(crate) fn show_text(&self, text: &str) -> Option<String> {
        let section = match self.sections.as_slice() {
            [section] => section,
            [_, _, _, section] => section,
            _ => return None,
        };
        if !section.tokens.contains(&FormatToken::Text) || section.tokens.len() == 1 {
            return None;
        }
        let pieces = section.tokens.iter().map(|token| match token {
            FormatToken::Text => text,
            FormatToken::Literal(literal) => literal,
            _ => "",
        });
        Some(pieces.collect::<String>().trim().to_owned())
    }

    /// Whether a number in this format is a date or a time.
    pub(crate) fn is_date(&self) -> bool {
        self.sections.first().is_some_and(|section| section.date.is_some())
    }

    /// The section for a number, and whether the section stands for its sign.
    fn section_of(&self, value: f64) -> Option<(&FormatSection, bool)> {
        let sections = &self.sections[..self.sections.len().min(3)];
        if sections.iter().any(|section| section.condition.is_some()) {
            let takes = |section: &&FormatSection| {
                section.condition.is_none_or(|condition| condition.takes_number(value))
            };
            let found = sections.iter().find(takes).or_else(|| sections.last())?;
            return Some((found, false));
        }
        match sections {
            [] => None,
            [only] => Some((only, false)),
            [_, negative, ..] if value < 0.0 => Some((negative, true)),
            [_, _, zero] if value == 0.0 => Some((zero, false)),
            [first, ..] => Some((first, false)),
        }
    }
}

impl FormatCondition {
    fn takes_number(self, value: f64) -> bool {
        let [below, equal, above] = self.takes;
        (below && value < self.bound)
            || (equal && value == self.bound)
            || (above && value > self.bound)
    }
}

impl FormatSection {
    /// A number in this section.
    fn show(&self, value: f64) -> String {
        let has = |wanted: &FormatToken| self.tokens.contains(wanted);
        if has(&FormatToken::General) || has(&FormatToken::Text) {
            return self.show_around(value);
        }
        let percents = self.tokens.iter().filter(|token| **token == FormatToken::Percent).count();
        let scaled = value * 100f64.powi(percents.min(4) as i32) / self.scale();
        if !scaled.is_finite() {
            return general(value);
        }
        let sign = if scaled < 0.0 { "-" } else { "" };
        let shown = if self.tokens.iter().any(|token| matches!(token, FormatToken::Exponent(_))) {
            scientific(scaled.abs(), &self.tokens)
        } else if has(&FormatToken::Slash) {
            fraction(scaled.abs(), &self.tokens)
        } else {
            self.show_decimal(scaled.abs())
        };
        // A number that rounds to zero has no sign.
        let has_digit = shown.chars().any(|letter| matches!(letter, '1'..='9'));
        let has_places = self.tokens.iter().any(|token| matches!(token, FormatToken::Digit(_)));
        if has_digit || !has_places { format!("{sign}{shown}") } else { shown }
    }

    /// A number with the literals around it.
    fn show_around(&self, value: f64) -> String {
        let pieces = self.tokens.iter().map(|token| match token {
            FormatToken::General | FormatToken::Text => general(value),
            FormatToken::Literal(literal) => literal.clone(),
            _ => String::new(),
        });
        pieces.collect()
    }

    /// What commas after the last digit divide the number by.
    fn scale(&self) -> f64 {
        let is_place =
            |token: &FormatToken| matches!(token, FormatToken::Digit(_) | FormatToken::Point);
        let Some(last) = self.tokens.iter().rposition(is_place) else { return 1.0 };
        let after = self.tokens[last + 1..].iter();
        let commas = after.take_while(|token| **token == FormatToken::Comma).count();
        1_000f64.powi(commas.min(5) as i32)
    }

    fn show_decimal(&self, value: f64) -> String {
        let point = self.tokens.iter().position(|token| *token == FormatToken::Point);
        let (whole_tokens, rest) = self.tokens.split_at(point.unwrap_or(self.tokens.len()));
        let places = rest.iter().filter(|token| matches!(token, FormatToken::Digit(_))).count();
        let (whole, decimals) = decimal_digits(value, places);
        let mut shown = show_whole(whole_tokens, &whole);
        let zeros = rest.iter().filter_map(|token| match token {
            FormatToken::Digit(place) => Some(*place),
            _ => None,
        });
        let kept = kept_decimals(&decimals, &zeros.collect::<Vec<_>>());
        let mut at = 0;
        for token in rest {
            match token {
                FormatToken::Digit(_) => {
                    if at < kept {
                        shown.push_str(&decimals[at..=at]);
                    }
                    at += 1;
                }
                FormatToken::Point if kept > 0 => shown.push('.'),
                FormatToken::Literal(literal) => shown.push_str(literal),
                FormatToken::Percent => shown.push('%'),
                _ => {}
            }
        }
        shown
    }
}

/// How many decimals are shown: zeros at the end only where the format has a `0`.
fn kept_decimals(decimals: &str, places: &[char]) -> usize {
    let last_zero = places.iter().rposition(|place| *place == '0').map_or(0, |at| at + 1);
    decimals.trim_end_matches('0').len().max(last_zero)
}

/// The digits before the point, in their places from the right; the first place takes the rest.
fn show_whole(tokens: &[FormatToken], digits: &str) -> String {
    let is_place = |token: &FormatToken| matches!(token, FormatToken::Digit(_));
    let first = tokens.iter().position(is_place);
    let last = tokens.iter().rposition(is_place);
    let has_thousands = first
        .zip(last)
        .is_some_and(|(first, last)| tokens[first..last].contains(&FormatToken::Comma));
    let mut left: Vec<char> = if digits == "0" { Vec::new() } else { digits.chars().collect() };
    let mut count = 0;
    // The text grows from its end.
    let mut reversed = String::new();
    let mut put = |digit: char, reversed: &mut String| {
        if has_thousands && count > 0 && count % 3 == 0 {
            reversed.push(',');
        }
        reversed.push(digit);
        count += 1;
    };
    for (at, token) in tokens.iter().enumerate().rev() {
        match token {
            FormatToken::Digit(place) => {
                match left.pop() {
                    Some(digit) => put(digit, &mut reversed),
                    None if *place == '0' => put('0', &mut reversed),
                    None => {}
                }
                if Some(at) == first {
                    while let Some(digit) = left.pop() {
                        put(digit, &mut reversed);
                    }
                }
            }
            FormatToken::Literal(literal) => reversed.extend(literal.chars().rev()),
            FormatToken::Percent => reversed.push('%'),
            _ => {}
        }
    }
    reversed.chars().rev().collect()
}

#[cfg(test)]
mod tests;
