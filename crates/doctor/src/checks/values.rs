//! Forms of values: MIME types, dates, base64 and URI templates.

/// Whether a text is a MIME type: a type, a subtype, and perhaps parameters.
pub(super) fn is_mime(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let is_name = |name: &str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c);
        !name.is_empty() && name.len() <= 127 && name.chars().all(is_letter)
    };
    essence.split_once('/').is_some_and(|(kind, sub)| is_name(kind) && is_name(sub))
}

/// The type and subtype of a MIME type, in small letters.
pub(super) fn essence(text: &str) -> String {
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a text is an ISO 8601 date, alone or with a time.
pub(super) fn is_date_time(text: &str) -> bool {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let number = |text: &str, digits: usize, range: std::ops::RangeInclusive<u32>| {
        text.len() == digits && text.parse().is_ok_and(|value| range.contains(&value))
    };
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let is_date = number(year, 4, 0..=9999) && number(month, 2, 1..=12) && number(day, 2, 1..=31);
    is_date && time.is_none_or(is_time)
}

fn is_time(text: &str) -> bool {
    let end = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
    let (clock, zone) = text.split_at(end);
    let is_pair = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = clock.split(':');
    let (Some(hour), Some(minute)) = (parts.next(), parts.next()) else { return false };
    let is_second = |text: &str| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        is_pair(whole) && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_clock = is_pair(hour)
        && is_pair(minute)
        && parts.next().is_none_or(is_second)
        && parts.next().is_none();
    let digits = zone.trim_start_matches(['+', '-']).replace(':', "");
    let is_zone = zone.is_empty()
        || zone.eq_ignore_ascii_case("z")
        || matches!(digits.len(), 2 | 4) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_clock && is_zone
}

/// How many bytes a text of standard base64 with padding stands for; `None` if it is none.
pub(super) fn base64_len(text: &str) -> Option<usize> {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let is_right = text.len().is_multiple_of(4) && padding <= 2 && body.bytes().all(is_letter);
    is_right.then(|| text.len() / 4 * 3 - padding)
}

/// The names of the variables of an RFC 6570 template, or what is wrong with it.
pub(super) fn template_variables(text: &str) -> Result<Vec<&str>, &'static str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let Some(inside) = rest[at..].strip_prefix('{') else {
            return Err("a } has no matching {");
        };
        let end = inside.find('}').ok_or("a { has no matching }")?;
        let expression = inside[..end].trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
        if inside[..end].len() - expression.len() > 1 {
            return Err("an expression has two operators");
        }
        for variable in expression.split(',') {
            names.push(variable_name(variable)?);
        }
        rest = &inside[end + 1..];
    }
    Ok(names)
}

fn variable_name(variable: &str) -> Result<&str, &'static str> {
    let name = match variable.split_once(':') {
        Some((name, digits)) => {
            let is_length =
                (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
            if !is_length {
                return Err("the length of a prefix is no number");
            }
            name
        }
        None => variable.strip_suffix('*').unwrap_or(variable),
    };
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_.%".contains(c);
    match !name.is_empty() && name.chars().all(is_letter) {
        true => Ok(name),
        false => Err("an expression holds no name of a variable"),
    }
}

#[cfg(test)]
mod tests {
    use super::{base64_len, is_date_time, is_mime, template_variables};

    #[test]
    fn forms_are_told_apart() {
        for text in ["text/plain", "text/html; charset=utf-8", "image/svg+xml"] {
            assert!(is_mime(text), "{text}");
        }
        for text in ["", "text", "text/", "/plain", "text/pl ain", "a/b/c"] {
            assert!(!is_mime(text), "{text}");
        }
        for text in [
            "2025-01-12T15:00:58Z",
            "2025-01-12",
            "2025-01-12T15:00:58.123+09:00",
            "2025-01-12T15:00-0500",
        ] {
            assert!(is_date_time(text), "{text}");
        }
        for text in ["", "yesterday", "2025-13-01", "12.1.2025", "2025-01-12T", "2025-01-12Tnoon"] {
            assert!(!is_date_time(text), "{text}");
        }
    }

    #[test]
    fn base64_has_one_alphabet_and_padding() {
        assert_eq!(base64_len(""), Some(0));
        assert_eq!(base64_len("YQ=="), Some(1));
        assert_eq!(base64_len("YWI="), Some(2));
        assert_eq!(base64_len("YWJj"), Some(3));
        for text in ["YQ", "YQ=", "Y===", "_-8=", "YW\nJj", "=", "YQ==YQ=="] {
            assert_eq!(base64_len(text), None, "{text}");
        }
    }

    #[test]
    fn templates_are_those_of_rfc_6570() {
        assert_eq!(
            template_variables("a://{x}/{+y}{?q,l*}{z:3}"),
            Ok(vec!["x", "y", "q", "l", "z"])
        );
        assert_eq!(template_variables("a://b"), Ok(vec![]));
        for text in ["a://{x", "a://x}", "a://{}", "a://{{x}}", "a://{x y}", "a://{x:}", "{++x}"] {
            assert!(template_variables(text).is_err(), "{text}");
        }
    }
}
