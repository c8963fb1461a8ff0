//! Targets of links and fences of code that their content cannot end.

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
    use super::{fence, link_target};

    #[test]
    fn targets_and_fences_cannot_be_broken_out_of() {
        assert_eq!(link_target("a (b).html"), r"a%20\(b\).html");
        assert_eq!(fence("a ``` b", 3), "````");
        assert_eq!(fence("a", 1), "`");
    }
}
