//! Headers and footers of printed sheets of Excel.

/// The text of a header or footer without its codes: `&LReport&C&"Arial,Bold"&14 2025&R&P` is
/// `Report 2025`.
pub(super) fn header_text(code: &str) -> String {
    let mut text = String::new();
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '&' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('&') => text.push('&'),
            // Left, centre and right.
            Some('L' | 'C' | 'R') => text.push(' '),
            // A font.
            Some('"') => {
                letters.by_ref().find(|letter| *letter == '"');
            }
            // A colour: six digits, or one of a theme with its shade.
            Some('K') => letters.by_ref().take(6).for_each(drop),
            // A size.
            Some('0'..='9') => while letters.next_if(char::is_ascii_digit).is_some() {},
            // Numbers of pages, dates, file names, styles.
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::header_text;

    #[test]
    fn codes_are_left_out() {
        assert_eq!(header_text("&LReport&C&\"Arial,Bold\"&14 2025&R&P / &N"), "Report 2025 /");
        assert_eq!(header_text("&C&KFF0000社外秘 A&&B"), "社外秘 A&B");
        assert_eq!(header_text("&L&D&C&F&R&G"), "");
        assert_eq!(header_text("&\"never ends"), "");
        assert_eq!(header_text("&"), "");
    }
}
