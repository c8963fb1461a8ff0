//! House rules about names: one type a name, and a heading that states.

use std::collections::BTreeMap;

use super::Violation;
use super::sources::SourceFile;

/// Type names that every module may have.
const ANY_MODULE: [&str; 6] = ["Error", "Result", "Options", "Inner", "State", "Kind"];

const QUESTION: &str = "line 1 of a heading states what the file is; a question may follow it";

/// The violations in all files together.
pub fn check(sources: &[SourceFile]) -> Vec<Violation> {
    let mut violations = shared_types(sources);
    violations.extend(sources.iter().filter_map(question_heading));
    violations
}

/// Definitions of a type whose name another production type of the workspace has too.
fn shared_types(sources: &[SourceFile]) -> Vec<Violation> {
    let mut definitions: BTreeMap<&str, Vec<(&SourceFile, usize)>> = BTreeMap::new();
    for source in sources.iter().filter(|source| is_production(source)) {
        for (number, line) in source.program_lines() {
            if let Some(name) = defined_type(line) {
                definitions.entry(name).or_default().push((source, number));
            }
        }
    }
    definitions.retain(|name, places| places.len() > 1 && !ANY_MODULE.contains(name));
    let shared = definitions.into_iter();
    let told = |(name, places): (&str, Vec<(&SourceFile, usize)>)| {
        let count = places.len();
        let rule = format!("one name, one type: {count} types are called {name}");
        let told = places.into_iter().map(|(source, line)| source.violation(line, rule.clone()));
        told.collect::<Vec<_>>()
    };
    shared.flat_map(told).collect()
}

fn is_production(source: &SourceFile) -> bool {
    source.is_under("crates/*/src") && !source.is_under("crates/testkit")
}

/// The type that a line at the top level of a file defines.
fn defined_type(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let keywords = ["struct ", "enum ", "trait ", "type "];
    let rest = keywords.iter().find_map(|keyword| line.strip_prefix(keyword))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

fn question_heading(source: &SourceFile) -> Option<Violation> {
    let heading = source.text.lines().next()?.strip_prefix("//!")?;
    heading.trim_end().ends_with('?').then(|| source.violation(1, QUESTION))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::house::sources::SourceFile;

    fn rules(files: &[(&str, &str)]) -> Vec<(String, usize, String)> {
        let sources: Vec<SourceFile> =
            files.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect();
        let seen = check(&sources);
        seen.into_iter().map(|seen| (seen.path, seen.line, seen.rule)).collect()
    }

    #[test]
    fn two_types_of_one_name_are_seen_wherever_they_stand() {
        let seen = rules(&[
            ("crates/a/src/lib.rs", "//! A.\npub struct Place;\n"),
            ("crates/b/src/b.rs", "//! B.\npub(crate) enum Place<T> {}\nstruct Other;\n"),
        ]);
        let places: Vec<(&str, usize)> =
            seen.iter().map(|(path, line, _)| (&**path, *line)).collect();
        assert_eq!(places, [("crates/a/src/lib.rs", 2), ("crates/b/src/b.rs", 2)]);
    }

    #[test]
    fn tests_the_test_kit_and_a_few_names_are_free() {
        let text = "//! A.\npub type Result<T> = T;\nstruct Error;\n\n#[cfg(test)]\nmod tests {\nstruct One;\n}\n";
        assert_eq!(
            rules(&[
                ("crates/a/src/lib.rs", text),
                ("crates/b/src/lib.rs", text),
                ("crates/b/src/tests.rs", "//! T.\nstruct Shown;\n"),
                ("crates/c/src/c.rs", "//! C.\nstruct Shown;\n"),
                ("crates/testkit/src/d.rs", "//! D.\nstruct Shown;\n"),
            ]),
            []
        );
    }

    #[test]
    fn a_heading_that_only_asks_is_seen() {
        let seen = rules(&[
            ("crates/a/src/a.rs", "//! Who asks?\n"),
            ("b.rs", "//! A cache.\n//! Why?\n"),
        ]);
        assert_eq!(seen.len(), 1);
        assert_eq!((seen[0].0.as_str(), seen[0].1), ("crates/a/src/a.rs", 1));
    }
}
