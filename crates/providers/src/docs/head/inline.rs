//! Inline markup: the plain text of a heading or paragraph.

/// The longest target of a link, and the longest tag.
const MAX_MARK_BYTES: usize = 1 << 10;

/// The text of a line without emphasis, code marks, links, images and tags.
pub(in crate::docs) fn plain_text(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        rest = match first {
            '\\' => match after.chars().next().filter(char::is_ascii_punctuation) {
                Some(literal) => {
                    text.push(literal);
                    &after[1..]
                }
                None => {
                    text.push('\\');
                    after
                }
            },
            '*' => after,
            '`' => push_code(after, &mut text),
            '&' => push_entity(after, &mut text),
            '_' => {
                // Inside of a word it is a letter: `max_read`.
                let is_inner = |letter: char| letter.is_alphanumeric() || letter == '_';
                if text.ends_with(is_inner) && after.starts_with(is_inner) {
                    text.push('_');
                }
                after
            }
            '!' if after.starts_with('[') => link_of(after).map_or_else(|| after, |(_, rest)| rest),
            '[' => match link_of(rest) {
                Some((label, rest)) => {
                    text.push_str(&plain_label(label));
                    rest
                }
                None => {
                    text.push('[');
                    after
                }
            },
            '<' => match bounded(after).find('>').filter(|end| is_tag(&after[..*end])) {
                Some(end) => &after[end + 1..],
                None => {
                    text.push('<');
                    after
                }
            },
            '{' if after.starts_with('#') && after.ends_with('}') => "",
            letter => {
                text.push(letter);
                after
            }
        };
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The label of a link at the start of `text`, and what follows the link.
fn link_of(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let close = text.char_indices().take(400).find_map(|(at, letter)| {
        depth = match letter {
            '[' => depth + 1,
            ']' => depth - 1,
            _ => depth,
        };
        (depth == 0).then_some(at)
    })?;
    let (label, rest) = (&text[1..close], &text[close + 1..]);
    let end = match rest.chars().next() {
        Some('(') => bounded(rest).find(')')?,
        Some('[') => bounded(rest).find(']')?,
        _ => return None,
    };
    Some((label, &rest[end + 1..]))
}

/// The start of a text in which a mark must end, so that none is looked for through all of it.
fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_MARK_BYTES)]
}

/// The text of a label: an image in it says nothing. A label is short, so this ends soon.
fn plain_label(label: &str) -> String {
    plain_text(label)
}

/// Pushes a code span as it is, without its marks; returns what follows it.
fn push_code<'a>(after: &'a str, text: &mut String) -> &'a str {
    let inside = after.trim_start_matches('`');
    let marks = &"`````"[..(after.len() - inside.len() + 1).min(5)];
    match bounded(inside).find(marks) {
        Some(end) => {
            text.push_str(&inside[..end]);
            &inside[end + marks.len()..]
        }
        None => inside,
    }
}

/// Pushes the character that an entity stands for, or the sign itself; returns what follows.
fn push_entity<'a>(after: &'a str, text: &mut String) -> &'a str {
    const ENTITIES: [(&str, char); 7] = [
        ("nbsp;", ' '),
        ("ensp;", ' '),
        ("emsp;", ' '),
        ("amp;", '&'),
        ("lt;", '<'),
        ("gt;", '>'),
        ("quot;", '"'),
    ];
    let found =
        ENTITIES.iter().find_map(|(name, letter)| Some((*letter, after.strip_prefix(name)?)));
    let (letter, rest) = found.unwrap_or(('&', after));
    text.push(letter);
    rest
}

fn is_tag(inside: &str) -> bool {
    let name = inside.trim_start_matches('/');
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '!')
}

#[cfg(test)]
mod tests {
    use super::plain_text;

    #[test]
    fn markup_goes_and_words_stay() {
        for (line, text) in [
            ("**bold** and `code`", "bold and code"),
            ("see [the *guide*](guide.md) now", "see the guide now"),
            ("[![build](x.svg)](http://ci) fast", "fast"),
            ("`max_read` _is_ set", "max_read is set"),
            ("a <br/> b < c", "a b < c"),
            ("使い方 {#usage}", "使い方"),
            ("a `Vec<T>` and ``a`b``", "a Vec<T> and a`b"),
            ("[<img src=x>](http://x) A&ensp;B &x", "A B &x"),
            (r"\*not\* bold", "*not* bold"),
            ("array[0] and [x]", "array[0] and [x]"),
            ("[[[[[", "[[[[["),
        ] {
            assert_eq!(plain_text(line), text);
        }
        // Linear: nothing here is looked at again and again.
        assert_eq!(plain_text(&"[".repeat(20_000)).len(), 20_000);
        assert_eq!(plain_text(&"`".repeat(20_000)), "");
    }
}
