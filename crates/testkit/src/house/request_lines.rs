//! Lint of the lines that requests follow: each function that ARCHITECTURE.md names there exists.

use super::Violation;
use super::maps::MAP;
use super::placement::contains_word;
use super::sources::SourceFile;

/// The section that follows requests through the code.
const HEADING: &str = "## Five straight lines";

/// The violations in `map`, the text of ARCHITECTURE.md. In the section, `Type::function`,
/// `function()` and a plain `function` beside a path name functions; a plain name may also be that of
/// a module.
pub fn check(sources: &[SourceFile], map: &str) -> Vec<Violation> {
    let violation = |line, rule| Violation { path: MAP.to_owned(), line, rule };
    let from = map.lines().take_while(|line| *line != HEADING).count();
    let section = map.lines().enumerate().skip(from + 1);
    let section: Vec<_> = section.take_while(|(_, line)| !line.starts_with("## ")).collect();
    if section.is_empty() {
        return vec![violation(1, format!("there is no section {HEADING:?}"))];
    }
    let mut violations = Vec::new();
    for (at, line) in section {
        for name in line.split('`').skip(1).step_by(2) {
            if names_function(name) && !exists(sources, name) {
                violations.push(violation(at + 1, format!("there is no function {name}")));
            }
        }
    }
    violations
}

/// Whether a quoted text has the form of a function's name.
fn names_function(name: &str) -> bool {
    let name = name.trim_end_matches("()");
    let last = name.rsplit("::").next().unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    name.chars().all(is_word) && last.starts_with(|c: char| c.is_ascii_lowercase())
}

fn exists(sources: &[SourceFile], name: &str) -> bool {
    let plain = name.trim_end_matches("()");
    let (owner, function) = plain.rsplit_once("::").unwrap_or(("", plain));
    let owner = owner.rsplit("::").next().unwrap_or_default();
    let definition = format!("fn {function}");
    let is_defined = |source: &SourceFile| {
        let has_owner = owner.is_empty() || contains_word(&source.text, owner);
        has_owner && source.program_lines().any(|(_, line)| contains_word(line, &definition))
    };
    let is_module = |source: &SourceFile| {
        source.path.trim_end_matches(".rs").split('/').any(|part| part == function)
    };
    let in_crates = || sources.iter().filter(|source| source.is_under("crates"));
    in_crates().any(is_defined) || plain == name && owner.is_empty() && in_crates().any(is_module)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::house::sources::SourceFile;

    #[test]
    fn a_function_that_is_not_there_is_found() {
        let sources = [
            SourceFile::new(
                "crates/a/src/cache.rs",
                "//! A.\nimpl Desk {\n    pub fn read(&self) {}\n}\n",
            ),
            SourceFile::new("crates/b/src/b.rs", "//! B.\npub(crate) async fn list<T>() {}\n"),
        ];
        let map = "# How\n\n`gone()`\n\n## Five straight lines\n\n\
            | 1 | `a/cache` `Desk::read` | `Reading` | `list`, `list()`, `cache` |\n\
            | 2 | `Desk::gone`, `Other::read` | `reads`, `cache()` | `Change::Updated(uri)`, `_meta` |\n\n\
            ## Next\n\n`gone()`\n";
        let rules: Vec<_> =
            check(&sources, map).into_iter().map(|one| (one.line, one.rule)).collect();
        let gone = |name| (8, format!("there is no function {name}"));
        assert_eq!(rules, ["Desk::gone", "Other::read", "reads", "cache()"].map(gone));
        assert_eq!(check(&sources, "# How\n").len(), 1, "the section is looked for");
    }
}
