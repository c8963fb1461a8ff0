//! Digits of numbers, rounded as workbooks round them: at 15 significant digits, half up.

use super::FormatToken;

/// The significant digits of a number in a workbook.
const PRECISION: usize = 15;

/// The digits of a positive number before and after the point, with this many after it.
pub(super) fn decimal_digits(value: f64, places: usize) -> (String, String) {
    let (digits, exponent) = significant(value);
    // The index in `digits` of the first digit after the point.
    let point = exponent + 1;
    let wanted = point + places as i32;
    let digits = rounded(digits, wanted);
    let shift = digits.len() as i32 - PRECISION as i32;
    let point = point + shift.max(0);
    let digit_at = |at: i32| {
        let digit = usize::try_from(at).ok().and_then(|at| digits.get(at));
        char::from(b'0' + digit.copied().unwrap_or(0))
    };
    let whole: String = (0..point).map(digit_at).collect();
    let decimals = (point..point + places as i32).map(digit_at).collect();
    let whole = whole.trim_start_matches('0');
    (if whole.is_empty() { "0".to_owned() } else { whole.to_owned() }, decimals)
}

/// The 15 significant digits of a positive number, and the power of ten of the first.
fn significant(value: f64) -> (Vec<u8>, i32) {
    let text = format!("{:.*e}", PRECISION - 1, value);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0');
    (digits.collect(), exponent.parse().unwrap_or(0))
}

/// The first `wanted` digits, the last one rounded half up. One digit more if that carries over.
fn rounded(mut digits: Vec<u8>, wanted: i32) -> Vec<u8> {
    let Ok(wanted) = usize::try_from(wanted) else { return vec![0; digits.len()] };
    if wanted >= digits.len() {
        return digits;
    }
    let mut carry = digits[wanted] >= 5;
    digits[wanted..].fill(0);
    for digit in digits[..wanted].iter_mut().rev() {
        if !carry {
            break;
        }
        carry = *digit == 9;
        *digit = if carry { 0 } else { *digit + 1 };
    }
    if carry {
        digits.insert(0, 1);
    }
    digits
}

/// A number with as many digits as it has.
pub(crate) fn general(value: f64) -> String {
    if !value.is_finite() {
        return "#NUM!".to_owned();
    }
    let size = value.abs();
    let sign = if value < 0.0 { "-" } else { "" };
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-9..1e15).contains(&size) {
        let (digits, exponent) = significant(size);
        let text: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let rest = text[1..].trim_end_matches('0');
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{}{point}{rest}E{exponent:+03}", &text[..1]);
    }
    // The shortest text of most numbers has no more digits than are shown.
    let shortest = value.to_string();
    if shortest.len() <= PRECISION {
        return shortest;
    }
    let (whole, decimals) = decimal_digits(size, 24);
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{decimals}")
}

/// A positive number with an exponent.
pub(super) fn scientific(value: f64, tokens: &[FormatToken]) -> String {
    let at = tokens.iter().position(|token| matches!(token, FormatToken::Exponent(_)));
    let (mantissa_tokens, rest) = tokens.split_at(at.unwrap_or(tokens.len()));
    let places = |tokens: &[FormatToken]| {
        tokens.iter().filter(|token| matches!(token, FormatToken::Digit(_))).count()
    };
    let point = mantissa_tokens.iter().position(|token| *token == FormatToken::Point);
    let (whole, after) = mantissa_tokens.split_at(point.unwrap_or(mantissa_tokens.len()));
    let step = places(whole).max(1) as i32;
    let decimals = places(after);
    let mut exponent = if value == 0.0 { 0 } else { significant(value).1 };
    exponent = exponent.div_euclid(step) * step;
    let mut digits = decimal_digits(value / 10f64.powi(exponent), decimals);
    if digits.0.len() as i32 > step {
        exponent += step;
        digits = decimal_digits(value / 10f64.powi(exponent), decimals);
    }
    let sign = match rest.first() {
        _ if exponent < 0 => "-",
        Some(FormatToken::Exponent(true)) => "+",
        _ => "",
    };
    let width = places(rest);
    let point = if decimals == 0 { "" } else { "." };
    format!("{}{point}{}E{sign}{:0width$}", digits.0, digits.1, exponent.abs())
}

/// A positive number as a fraction.
pub(super) fn fraction(value: f64, tokens: &[FormatToken]) -> String {
    let slash = tokens.iter().position(|token| *token == FormatToken::Slash);
    let (above, below) = tokens.split_at(slash.unwrap_or(tokens.len()));
    let literal = |token: &FormatToken| match token {
        FormatToken::Literal(text) => Some(text.clone()),
        FormatToken::Digit(place) => Some(place.to_string()),
        _ => None,
    };
    let fixed: String = below.iter().filter_map(literal).collect();
    let fixed = fixed.trim().parse::<u32>().ok().filter(|number| *number > 0);
    let places = below.iter().filter(|token| matches!(token, FormatToken::Digit(_))).count();
    let most = 10u32.pow(places.clamp(1, 3) as u32) - 1;
    let is_mixed = above.windows(2).any(
        |pair| matches!(pair, [FormatToken::Digit(_), FormatToken::Literal(space)] if space == " "),
    );
    let whole = if is_mixed { value.floor() } else { 0.0 };
    let rest = value - whole;
    let error = |below: u32| (rest * f64::from(below)).round() / f64::from(below) - rest;
    let best = (1..=most).min_by(|a, b| error(*a).abs().total_cmp(&error(*b).abs()));
    let below = fixed.or(best).unwrap_or(1);
    let above = (rest * f64::from(below)).round();
    match (whole > 0.0, above > 0.0) {
        (_, true) if above == f64::from(below) && is_mixed => general(whole + 1.0),
        (true, true) => format!("{} {}/{below}", general(whole), general(above)),
        (false, true) => format!("{}/{below}", general(above)),
        (_, false) => general(whole),
    }
}
