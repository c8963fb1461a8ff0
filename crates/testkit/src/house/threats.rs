//! Threat table lint: every test that `docs/security.md` names exists.

use super::Violation;
use super::sources::SourceFile;

/// Where the table stands.
const PATH: &str = "docs/security.md";

/// The violations in `text`, the text of `docs/security.md`. The last column of its threat table
/// names tests as `module::name`, or all of a module as `module::*`.
pub fn check(sources: &[SourceFile], text: &str) -> Vec<Violation> {
    let from = text.lines().take_while(|line| !line.starts_with("## Threats")).count();
    let rows = text.lines().enumerate().skip(from).filter(|(_, line)| line.starts_with("| "));
    let mut violations = Vec::new();
    for (at, row) in rows.skip(2) {
        let cell = row.trim_end_matches(['|', ' ']).rsplit(" | ").next().unwrap_or_default();
        let named: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        let missing = named.iter().filter(|name| !exists(sources, name));
        let rule = |name: &str| format!("there is no test {name}");
        let mut rules: Vec<String> = missing.map(|name| rule(name)).collect();
        if named.is_empty() {
            rules.push("a threat names the test behind it".to_owned());
        }
        let violation = |rule| Violation { path: PATH.to_owned(), line: at + 1, rule };
        violations.extend(rules.into_iter().map(violation));
    }
    violations
}

fn exists(sources: &[SourceFile], name: &str) -> bool {
    let mut parts = name.rsplit("::").filter(|part| *part != "tests");
    let (last, module) = (parts.next().unwrap_or_default(), parts.next());
    let is_module = |source: &SourceFile| {
        let file = module.map(|module| format!("/{module}"));
        file.is_none_or(|file| {
            let path = source.path.trim_end_matches(".rs");
            path.ends_with(&file) || path.contains(&format!("{file}/"))
        })
    };
    let is_defined = |source: &SourceFile| match last {
        "*" => source.text.contains("test]\n") || source.text.contains("::test("),
        last => source.text.contains(&format!("fn {last}(")),
    };
    sources.iter().any(|source| is_module(source) && is_defined(source))
}

#[cfg(test)]
mod tests {
    use super::{SourceFile, check};

    #[test]
    fn a_test_that_is_not_there_is_found() {
        let path = "crates/x/tests/it/shares.rs".to_owned();
        let text = "#[test]\nfn nobody_is_out() {}\n".to_owned();
        let sources = [SourceFile { path, text }];
        let table = "# S\n\n| a | b |\n\n## Threats\n\n| threat | now | test |\n| --- | --- | --- |\n\
            | one | x | `shares::nobody_is_out` |\n| two | x | `shares::*`, `shares::gone` |\n\
            | three | x | `other::nobody_is_out` |\n| four | x | none |\n";
        let rules: Vec<_> =
            check(&sources, table).into_iter().map(|one| (one.line, one.rule)).collect();
        let expected = [
            (10, "there is no test shares::gone"),
            (11, "there is no test other::nobody_is_out"),
            (12, "a threat names the test behind it"),
        ];
        assert_eq!(rules, expected.map(|(line, rule)| (line, rule.to_owned())));
    }
}
