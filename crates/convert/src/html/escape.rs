//! Escapes of Markdown, only where a character would be taken as a mark: text stays readable.

/// Appends running text to `line`. In the text of a link, brackets are escaped too.
pub(super) fn push_escaped(line: &mut String, text: &str, is_in_link: bool) {
    let mut before = line.chars().next_back();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map(|(_, letter)| *letter);
        if is_mark(letter, (before, after), &text[at..], is_in_link) {
            line.push('\\');
        }
        line.push(letter);
        before = Some(letter);
    }
}

fn is_mark(
    letter: char,
    (before, after): (Option<char>, Option<char>),
    rest: &str,
    is_in_link: bool,
) -> bool {
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let is_space = |letter: Option<char>| letter.is_none_or(char::is_whitespace);
    match letter {
        '`' => true,
        '\\' => after.is_some_and(|after| after.is_ascii_punctuation()),
        '*' => !(is_space(before) && is_space(after)),
        '_' => !((is_word(before) && is_word(after)) || (is_space(before) && is_space(after))),
        '~' => after == Some('~') || before == Some('~'),
        '[' => is_in_link || after == Some('^'),
        ']' => is_in_link || matches!(after, Some('(' | '[' | ':')),
        '<' => after.is_some_and(|after| after.is_ascii_alphabetic() || "/!?".contains(after)),
        '&' => is_entity(rest),
        _ => false,
    }
}

/// Whether Markdown would read the start of `rest` as a character reference.
fn is_entity(rest: &str) -> bool {
    let name = rest[1..].bytes().take(32);
    let length = name.take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    length > 0 && rest[1 + length..].starts_with(';')
}

/// Appends a line, whose first characters must not make it a heading, a list, a quote or a rule.
pub(super) fn push_line(out: &mut String, line: &str) {
    if starts_as_mark(line) {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        out.push_str(&line[..digits]);
        out.push('\\');
        out.push_str(&line[digits..]);
    } else {
        out.push_str(line);
    }
}

fn starts_as_mark(line: &str) -> bool {
    let Some(first) = line.chars().next() else { return false };
    let ends = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t']);
    match first {
        '#' => {
            let level = line.bytes().take_while(|byte| *byte == b'#').count();
            level <= 6 && ends(&line[level..])
        }
        '-' | '+' | '=' => {
            ends(&line[1..]) || line.bytes().all(|byte| byte == line.as_bytes()[0] || byte == b' ')
        }
        '>' | '|' => true,
        ':' => ends(&line[1..]),
        '~' => line.starts_with("~~~"),
        '0'..='9' => {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let rest = &line[digits..];
            digits <= 9 && rest.starts_with(['.', ')']) && ends(&rest[1..])
        }
        _ => false,
    }
}

/// A URL as the target of a link.
pub(super) fn link_target(url: &str) -> String {
    let mut target = String::with_capacity(url.len());
    for letter in url.chars() {
        match letter {
            ' ' => target.push_str("%20"),
            '(' | ')' | '<' | '>' | '\\' => {
                target.push('\\');
                target.push(letter);
            }
            letter if letter.is_control() => {}
            letter => target.push(letter),
        }
    }
    target
}

/// A fence of code that no run of backticks in `code` ends.
pub(super) fn fence(code: &str, least: usize) -> String {
    let mut longest = 0;
    let mut run = 0;
    for byte in code.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(if longest == 0 { least } else { least.max(longest + 1) })
}

#[cfg(test)]
mod tests {
    use super::{fence, link_target, push_escaped, push_line};

    fn escaped(text: &str) -> String {
        let mut line = String::new();
        push_escaped(&mut line, text, false);
        let mut out = String::new();
        push_line(&mut out, &line);
        out
    }

    #[test]
    fn only_what_would_be_a_mark_is_escaped() {
        for same in ["snake_case_name", "2 * 3", "a[0] = b", "1 < 2 > 0", "AT&T & R", "-5", "#tag"]
        {
            assert_eq!(escaped(same), same);
        }
        assert_eq!(escaped("*a* `b`"), r"\*a\* \`b\`");
        assert_eq!(escaped("[a](b)"), r"[a\](b)");
        assert_eq!(escaped("<b> &lt; _x_"), r"\<b> \&lt; \_x\_");
        assert_eq!(escaped("# a"), r"\# a");
        assert_eq!(escaped("12. a"), r"12\. a");
        assert_eq!(escaped("---"), r"\---");
        assert_eq!(escaped(r"C:\dir \* x"), r"C:\dir \\\* x");
    }

    #[test]
    fn targets_and_fences_cannot_be_broken_out_of() {
        assert_eq!(link_target("a (b).html"), r"a%20\(b\).html");
        assert_eq!(fence("a ``` b", 3), "````");
        assert_eq!(fence("a", 1), "`");
    }
}
