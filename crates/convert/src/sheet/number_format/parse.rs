//! The parser of number formats.

use super::super::serial_date::DateParts;
use super::{FormatCondition, FormatSection, FormatToken, NumberFormat};

/// The longest format that is parsed; a longer one is taken as none.
const MAX_CODE: usize = 1_024;

impl NumberFormat {
    /// Parses the code of a format.
    pub(crate) fn parse(code: &str) -> Self {
        if code.len() > MAX_CODE {
            return Self::default();
        }
        let mut sections = vec![SectionBuilder::default()];
        let mut letters = code.chars().peekable();
        while let Some(letter) = letters.next() {
            let Some(section) = sections.last_mut() else { break };
            match letter {
                ';' => sections.push(SectionBuilder::default()),
                '"' => {
                    let text = letters.by_ref().take_while(|letter| *letter != '"').collect();
                    section.tokens.push(FormatToken::Literal(text));
                }
                '\\' | '!' => {
                    section.tokens.extend(letters.next().map(literal));
                }
                '_' => {
                    letters.next();
                    section.tokens.push(literal(' '));
                }
                '*' => {
                    letters.next();
                }
                '[' => {
                    let inside: String = letters.by_ref().take_while(|one| *one != ']').collect();
                    section.bracket(&inside);
                }
                'E' | 'e' if matches!(letters.peek(), Some('+' | '-')) && section.has_place() => {
                    section.tokens.push(FormatToken::Exponent(letters.next() == Some('+')));
                }
                other => section.letter(other, &mut letters),
            }
        }
        Self { sections: sections.into_iter().map(SectionBuilder::finish).collect() }
    }
}

fn literal(letter: char) -> FormatToken {
    FormatToken::Literal(letter.to_string())
}

/// A section while it is parsed.
#[derive(Default)]
struct SectionBuilder {
    condition: Option<FormatCondition>,
    tokens: Vec<FormatToken>,
    date: DateParts,
    /// An `m` is a month or a minute: told by what stands around it.
    has_month_or_minute: bool,
}

impl SectionBuilder {
    fn has_place(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token, FormatToken::Digit(_)))
    }

    /// What stands in brackets: a currency, a condition, a duration; colours and languages are
    /// nothing to a reader.
    fn bracket(&mut self, inside: &str) {
        if let Some(currency) = inside.strip_prefix('$') {
            let sign = currency.split('-').next().unwrap_or(currency);
            self.tokens.push(FormatToken::Literal(sign.to_owned()));
        } else if let Some(condition) = condition(inside) {
            self.condition = Some(condition);
        } else if !inside.is_empty() && inside.chars().all(|one| "hHmMsS".contains(one)) {
            self.date.has_time = true;
            self.date.is_elapsed = true;
        }
    }

    fn letter(&mut self, letter: char, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        match letter {
            '0' | '#' | '?' => {
                if self.date.has_time && self.tokens.last() == Some(&FormatToken::Point) {
                    self.date.has_millis = true;
                }
                self.tokens.push(FormatToken::Digit(letter));
            }
            '.' => self.tokens.push(FormatToken::Point),
            ',' => self.tokens.push(FormatToken::Comma),
            '%' => self.tokens.push(FormatToken::Percent),
            '/' => self.tokens.push(FormatToken::Slash),
            '@' => self.tokens.push(FormatToken::Text),
            'G' | 'g' if is_next(rest, "eneral") => {
                rest.by_ref().take(6).for_each(drop);
                self.tokens.push(FormatToken::General);
            }
            'A' | 'a' if is_next(rest, "m/pm") => {
                rest.by_ref().take(4).for_each(drop);
                self.date.has_time = true;
            }
            'A' | 'a' if is_next(rest, "/p") => {
                rest.by_ref().take(2).for_each(drop);
                self.date.has_time = true;
            }
            'y' | 'Y' | 'd' | 'D' | 'g' | 'G' | 'e' | 'E' | 'b' | 'B' | 'a' | 'A' | 'r' => {
                self.date.has_date = true;
            }
            'h' | 'H' | 's' | 'S' => self.date.has_time = true,
            'm' | 'M' => self.has_month_or_minute = true,
            other => self.tokens.push(literal(other)),
        }
    }

    fn finish(mut self) -> FormatSection {
        if self.has_month_or_minute && !self.date.has_time {
            self.date.has_date = true;
        }
        let is_date = self.date.has_date || self.date.has_time;
        let date = is_date.then_some(self.date);
        FormatSection { condition: self.condition, tokens: self.tokens, date }
    }
}

fn is_next(rest: &std::iter::Peekable<std::str::Chars<'_>>, wanted: &str) -> bool {
    let mut rest = rest.clone();
    wanted.chars().all(|one| rest.next().is_some_and(|next| next.eq_ignore_ascii_case(&one)))
}

fn condition(inside: &str) -> Option<FormatCondition> {
    let operators = [
        ("<=", [true, true, false]),
        (">=", [false, true, true]),
        ("<>", [true, false, true]),
        ("<", [true, false, false]),
        (">", [false, false, true]),
        ("=", [false, true, false]),
    ];
    let (operator, takes) = operators.iter().find(|row| inside.starts_with(row.0))?;
    let bound = inside[operator.len()..].trim().parse().ok()?;
    Some(FormatCondition { takes: *takes, bound })
}
