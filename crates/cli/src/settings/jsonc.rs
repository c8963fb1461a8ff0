//! JSON with comments and trailing commas (JSONC), as hosts' config files are written.

/// `text` as plain JSON. Spaces take the place of comments, of commas before a closing bracket and
/// of a byte order mark, so that a parser reports the same lines and columns.
pub(super) fn to_plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Where the last comma stands, while only spaces and comments follow it.
    let mut comma = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('"', _) => {
                comma = None;
                plain.push('"');
                let mut is_escaped = false;
                for inside in letters.by_ref() {
                    plain.push(inside);
                    if inside == '"' && !is_escaped {
                        break;
                    }
                    is_escaped = inside == '\\' && !is_escaped;
                }
            }
            ('/', Some('/')) => {
                plain.push(' ');
                while let Some(inside) = letters.next_if(|letter| *letter != '\n') {
                    blank(inside, &mut plain);
                }
            }
            ('/', Some('*')) => {
                plain.push(' ');
                letters.next();
                plain.push(' ');
                let mut last = ' ';
                for inside in letters.by_ref() {
                    blank(inside, &mut plain);
                    if last == '*' && inside == '/' {
                        break;
                    }
                    last = inside;
                }
            }
            ('\u{feff}', _) if plain.is_empty() => plain.push(' '),
            (',', _) => {
                comma = Some(plain.len());
                plain.push(',');
            }
            (bracket @ ('}' | ']'), _) => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..=at, " ");
                }
                plain.push(bracket);
            }
            (letter, _) => {
                if !letter.is_whitespace() {
                    comma = None;
                }
                plain.push(letter);
            }
        }
    }
    plain
}

fn blank(letter: char, plain: &mut String) {
    plain.push(if letter == '\n' { '\n' } else { ' ' });
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::to_plain_json;

    #[test]
    fn comments_and_trailing_commas_are_left_out_and_texts_are_not_touched() {
        let text = "\u{feff}// first\n{ \"a\": [1, 2, /* , ] */ ], // \"b\": 1,\n\
                    \"url\": \"https://h/*x*/,]\\\"//\", /* é\n*/ }";
        let read: Value = serde_json::from_str(&to_plain_json(text)).unwrap();
        assert_eq!(read, json!({ "a": [1, 2], "url": "https://h/*x*/,]\"//" }));
    }

    #[test]
    fn a_mistake_stays_where_it_is_and_an_open_comment_ends_with_the_file() {
        let plain = to_plain_json("{ /* 1\n2 */ \"a\": oops }");
        let error = serde_json::from_str::<Value>(&plain).unwrap_err();
        assert_eq!((error.line(), error.column()), (2, 11));
        for text in ["", "/", "//", "/*", "/*/", "\"", "\"\\", ",", "[1,,]", "{,}"] {
            let _ = serde_json::from_str::<Value>(&to_plain_json(text));
        }
    }
}
