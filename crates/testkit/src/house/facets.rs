//! Facets lint: each layer of the catalog names every facet, and passes or withholds it knowingly.

use super::Violation;
use super::sources::SourceFile;

const RULE: &str = "a layer names each facet: no `..` in its `Facets`";

/// The violations in one file, if it is a layer.
pub fn check(source: &SourceFile) -> Vec<Violation> {
    if !source.is_under("crates/catalog/src/layers") {
        return Vec::new();
    }
    let mut violations = Vec::new();
    // How deep the brackets are, counted from those of `Facets`, and what came last outside of others.
    let mut open: Option<(usize, char)> = None;
    for (number, line) in source.program_lines() {
        let mut rest = line;
        while !rest.is_empty() {
            let Some((depth, last)) = &mut open else {
                let Some((_, behind)) = rest.split_once("Facets {") else { break };
                (open, rest) = (Some((1, '{')), behind);
                continue;
            };
            if *depth == 1 && matches!(last, '{' | ',') && rest.starts_with("..") {
                violations.push(source.violation(number, RULE));
            }
            let letter = rest.chars().next().unwrap_or_default();
            match letter {
                '{' | '(' | '[' => *depth += 1,
                '}' | ')' | ']' => *depth -= 1,
                _ => {}
            }
            if !letter.is_whitespace() {
                *last = if *depth == 1 && letter == ',' { ',' } else { ' ' };
            }
            let is_over = *depth == 0;
            rest = &rest[letter.len_utf8()..];
            if is_over {
                open = None;
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::house::sources::SourceFile;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&SourceFile::new(path, text)).into_iter().map(|one| one.line).collect()
    }

    #[test]
    fn facets_that_a_layer_does_not_name_are_seen() {
        let path = "crates/catalog/src/layers/timed.rs";
        for (text, found) in [
            ("//! A.\nFacets { watch: None, ..Facets::none() }\n", vec![2]),
            ("//! A.\nFacets {\n    watch: seen(|a| &a[..]),\n    ..inner\n}\n", vec![4]),
            ("//! A.\nlet Facets { watch, .. } = f();\nFacets { .. }\n", vec![2, 3]),
            (
                "//! A.\nFacets {\n    watch: a.map(|b| C { d, ..b }),\n    page: &e[1..],\n}\nf(0..2)\n",
                vec![],
            ),
            ("//! A.\nlet Facets { watch, health } = inner;\nlet Other { a, .. } = b;\n", vec![]),
        ] {
            assert_eq!(lines(path, text), found, "{text}");
        }
        let text = "//! A.\nFacets { ..Facets::none() }\n";
        assert_eq!(lines("crates/providers/src/fs/mod.rs", text), Vec::<usize>::new());
    }
}
