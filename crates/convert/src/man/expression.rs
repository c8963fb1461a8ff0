//! Expressions of roff: numbers with units, and the conditions of `.if`.

/// How deep parentheses are followed.
const MAX_DEPTH: usize = 32;

/// What a condition asks of the page.
pub(super) trait RoffNames {
    /// Whether a string or macro with this name is defined.
    fn has_macro(&self, name: &str) -> bool;
    /// Whether a register with this name is defined.
    fn has_register(&self, name: &str) -> bool;
}

/// Evaluates the condition at the start of `text`, as a terminal would; returns what is behind it.
pub(super) fn condition<'t>(text: &'t str, names: &impl RoffNames) -> (bool, &'t str) {
    let mut rest = text.trim_start();
    let mut is_negated = false;
    while let Some(after) = rest.strip_prefix('!') {
        is_negated = !is_negated;
        rest = after.trim_start();
    }
    let Some(first) = rest.chars().next() else { return (is_negated, rest) };
    let (is_true, rest) = match first {
        'n' | 'o' => (true, &rest[1..]),
        't' | 'e' | 'v' => (false, &rest[1..]),
        'd' | 'r' | 'm' | 'c' | 'F' | 'S' => {
            let name = rest[1..].trim_start();
            let end = name.find([' ', '\t']).unwrap_or(name.len());
            let is_true = match first {
                'd' => names.has_macro(&name[..end]),
                'r' => names.has_register(&name[..end]),
                // Glyphs, fonts and colours: all that a page asks for is there.
                _ => true,
            };
            (is_true, &name[end..])
        }
        digit if digit.is_ascii_digit() || "+-(.|\\".contains(digit) => {
            let (value, rest) = number(rest);
            (value > 0, rest)
        }
        quote => same_texts(&rest[quote.len_utf8()..], quote),
    };
    (is_true != is_negated, rest)
}

/// Compares two texts that a delimiter ends, as in `'a'b'`.
fn same_texts(text: &str, quote: char) -> (bool, &str) {
    let Some((left, rest)) = text.split_once(quote) else { return (false, "") };
    match rest.split_once(quote) {
        Some((right, rest)) => (left == right, rest),
        None => (left == rest, ""),
    }
}

/// Evaluates the number at the start of `text`, from left to right as roff does; returns what is
/// behind it.
pub(super) fn number(text: &str) -> (i64, &str) {
    let mut reader = NumberReader { rest: text };
    let value = reader.sum(0);
    (value, reader.rest)
}

struct NumberReader<'t> {
    rest: &'t str,
}

impl NumberReader<'_> {
    fn sum(&mut self, depth: usize) -> i64 {
        let mut value = self.term(depth);
        loop {
            let Some(operator) = self.operator() else { return value };
            let right = self.term(depth);
            value = match operator {
                "+" => value.saturating_add(right),
                "-" => value.saturating_sub(right),
                "*" => value.saturating_mul(right),
                "/" => value.checked_div(right).unwrap_or(0),
                "%" => value.checked_rem(right).unwrap_or(0),
                "<=" => i64::from(value <= right),
                ">=" => i64::from(value >= right),
                "<>" => i64::from(value != right),
                "==" | "=" => i64::from(value == right),
                "<?" => value.min(right),
                ">?" => value.max(right),
                "<" => i64::from(value < right),
                ">" => i64::from(value > right),
                "&" => i64::from(value > 0 && right > 0),
                _ => i64::from(value > 0 || right > 0),
            };
        }
    }

    fn operator(&mut self) -> Option<&'static str> {
        const OPERATORS: [&str; 15] =
            ["<=", ">=", "<>", "==", "<?", ">?", "+", "-", "*", "/", "%", "<", ">", "=", "&"];
        let known = OPERATORS.iter().chain(&[":"]).find(|known| self.rest.starts_with(**known))?;
        self.rest = &self.rest[known.len()..];
        Some(known)
    }

    fn term(&mut self, depth: usize) -> i64 {
        let mut is_negative = false;
        while let Some(sign) = self.rest.chars().next().filter(|sign| "+-|".contains(*sign)) {
            is_negative ^= sign == '-';
            self.rest = &self.rest[1..];
        }
        let value = match self.rest.strip_prefix('(') {
            Some(inner) if depth < MAX_DEPTH => {
                self.rest = inner;
                let value = self.sum(depth + 1);
                self.rest = self.rest.strip_prefix(')').unwrap_or(self.rest);
                value
            }
            Some(_) => {
                self.rest = "";
                0
            }
            None => self.literal(),
        };
        if is_negative { value.saturating_neg() } else { value }
    }

    fn literal(&mut self) -> i64 {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let whole: i64 = self.rest[..digits].parse().unwrap_or(0);
        self.rest = &self.rest[digits..];
        let mut tenths = 0;
        if let Some(fraction) = self.rest.strip_prefix('.') {
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            tenths = fraction.bytes().next().filter(u8::is_ascii_digit).map_or(0, |b| b - b'0');
            self.rest = &fraction[digits..];
        }
        let unit = self.rest.chars().next();
        let scale = match unit {
            Some('i') => 240,
            Some('c') => 94,
            Some('v') => 40,
            Some('P') => 40,
            Some('m' | 'n' | 'M') => 24,
            Some('p' | 'z' | 's') => 3,
            Some('u' | 'f') => 1,
            _ => return whole,
        };
        self.rest = &self.rest[1..];
        whole.saturating_mul(scale).saturating_add(i64::from(tenths) * scale / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::{RoffNames, condition, number};

    struct Fixture;

    impl RoffNames for Fixture {
        fn has_macro(&self, name: &str) -> bool {
            name == "Sp"
        }

        fn has_register(&self, name: &str) -> bool {
            name == "F"
        }
    }

    #[test]
    fn conditions_are_those_of_a_terminal() {
        let cases = [
            ("n x", true),
            ("t x", false),
            ("!t x", true),
            ("!!n x", true),
            ("1 x", true),
            ("0 x", false),
            ("-1 x", false),
            ("2>1 x", true),
            ("(1<0):(3=3) x", true),
            ("1&0 x", false),
            ("'a'a' x", true),
            ("\"a\"b\" x", false),
            ("!''a' x", true),
            ("dSp x", true),
            ("d No x", false),
            ("rF x", true),
            ("!rG x", true),
        ];
        for (text, wanted) in cases {
            let (is_true, rest) = condition(text, &Fixture);
            assert_eq!((is_true, rest.trim()), (wanted, "x"), "{text}");
        }
    }

    #[test]
    fn numbers_are_counted_from_left_to_right_and_never_overflow() {
        let cases =
            [("1+2*3", 9), ("(1+2)*3", 9), ("1i", 240), ("1.5n", 36), ("7%4", 3), ("1/0", 0)];
        for (text, wanted) in cases {
            assert_eq!(number(text), (wanted, ""), "{text}");
        }
        number(&"9".repeat(100));
        number(&format!("9223372036854775807{}", "*9".repeat(100)));
        number(&"(".repeat(100_000));
        number(&"-".repeat(100_001));
        condition(&"!".repeat(100_000), &Fixture);
        for text in ["", "'", "'a", "'a'b", "d", "日本", "日a日"] {
            condition(text, &Fixture);
        }
    }
}
