//! File lint: heading, length, forbidden words, ignored tests, unlisted test files.

use super::Violation;
use super::placement::contains_word;
use super::sources::SourceFile;

/// The maximum number of lines per file.
pub const MAX_LINES: usize = 600;

// Split, so that this file does not contain the words that it searches for.
const FORBIDDEN_WORDS: [&str; 3] =
    [concat!("uti", "ls"), concat!("help", "ers"), concat!("TO", "DO")];

const HEADING: &str = "a file opens with //! and a line that says what it is";
const LONG: &str = "a file has at most 600 lines";
const IGNORED: &str = "a test must not be ignored";
const SLEEPS: &str = "no code sleeps a thread";
const UNNAMED: &str = "a file under tests/it must be declared as a module by its parent file";

/// Finds the violations in one file that do not depend on other files.
pub fn check(source: &SourceFile) -> Vec<Violation> {
    let mut violations = Vec::new();
    let heading = source.text.lines().next().and_then(|line| line.strip_prefix("//!"));
    if source.is_rust() && heading.is_none_or(|heading| heading.trim().is_empty()) {
        violations.push(source.violation(1, HEADING));
    }
    if source.lines().count() > MAX_LINES {
        violations.push(source.violation(MAX_LINES + 1, LONG));
    }
    violations.extend(forbidden_words(source));
    violations.extend(
        source
            .lines()
            .filter(|(_, line)| is_ignored(line))
            .map(|(number, _)| source.violation(number, IGNORED)),
    );
    let sleeps = |line: &str| contains_word(line, concat!("thread", "::sleep"));
    violations.extend(
        source
            .lines()
            .filter(|(_, line)| sleeps(line))
            .map(|(number, _)| source.violation(number, SLEEPS)),
    );
    violations
}

fn forbidden_words(source: &SourceFile) -> Vec<Violation> {
    let rule = |word| format!("the word {word} is forbidden in paths and files");
    let mut violations = Vec::new();
    for word in FORBIDDEN_WORDS {
        if contains_word(&source.path.to_lowercase(), word) {
            violations.push(source.violation(1, rule(word)));
        }
        let is_small = word.chars().all(char::is_lowercase);
        let said = |line: &str| {
            contains_word(&if is_small { line.to_lowercase() } else { line.to_owned() }, word)
        };
        let lines = source.lines().filter(|(_, line)| said(line));
        violations.extend(lines.map(|(number, _)| source.violation(number, rule(word))));
    }
    violations
}

fn is_ignored(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(concat!("#[ign", "ore]")) || line.starts_with(concat!("#[ign", "ore ="))
}

/// Finds files under `tests/it` that no parent file declares as a module.
pub fn check_named(sources: &[SourceFile]) -> Vec<Violation> {
    let unnamed = sources.iter().filter(|source| {
        source.is_under("crates/*/tests/it/*")
            && source.is_rust()
            && !source.is_under("crates/*/tests/it/main")
            && !is_named(source, sources)
    });
    unnamed.map(|source| source.violation(1, UNNAMED)).collect()
}

fn is_named(source: &SourceFile, sources: &[SourceFile]) -> bool {
    let path = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
    let Some((folder, name)) = path.rsplit_once('/') else { return false };
    let above = [format!("{folder}/main.rs"), format!("{folder}/mod.rs"), format!("{folder}.rs")];
    let names = |text: &str| {
        text.lines().any(|line| {
            let line = line.trim().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) == Some(name)
        })
    };
    sources.iter().any(|other| above.contains(&other.path) && names(&other.text))
}

#[cfg(test)]
mod tests {
    use super::{check, check_named};
    use crate::house::sources::SourceFile;

    fn rules(path: &str, text: &str) -> Vec<(usize, String)> {
        let seen = check(&SourceFile::new(path, text));
        seen.into_iter().map(|violation| (violation.line, violation.rule)).collect()
    }

    #[test]
    fn a_good_file_passes() {
        assert_eq!(rules("crates/x/src/lib.rs", "//! Why?\n\npub fn f() {}\n"), []);
        assert_eq!(rules("interop/a.py", "import os\n"), []);
    }

    #[test]
    fn a_file_without_heading_is_seen() {
        for text in ["pub fn f() {}\n", "//!\n", "", "// Why?\n"] {
            let seen = rules("crates/x/src/lib.rs", text);
            assert!(seen.iter().any(|(line, rule)| *line == 1 && rule.contains("//!")), "{text:?}");
        }
    }

    #[test]
    fn a_file_over_600_lines_is_seen_and_one_of_600_is_not() {
        let text = |lines: usize| format!("//! Why?\n{}", "x\n".repeat(lines - 1));
        assert_eq!(rules("a.rs", &text(600)), []);
        for path in ["a.rs", "a.py", "a.js"] {
            assert!(rules(path, &text(601)).iter().any(|(line, _)| *line == 601), "{path}");
        }
    }

    #[test]
    fn words_that_are_never_said_are_seen_in_text_and_path() {
        for word in ["UTI LS", "uti ls", "Help ers", "TO DO"] {
            let word = word.replace(' ', "");
            let seen = rules("a.rs", &format!("//! Why?\n// {word}: later\n"));
            assert_eq!(seen.len(), 1, "{word}");
            assert_eq!(seen[0].0, 2);
        }
        assert_eq!(rules(&["crates/x/src/uti", "ls.rs"].concat(), "//! Why?\n").len(), 1);
        assert_eq!(rules("a.rs", "//! Why? futures_util helps, todo\n"), []);
    }

    #[test]
    fn an_ignored_test_and_a_sleep_are_seen() {
        let ignored = ["//! Why?\n    #[ign", "ore]\n"].concat();
        assert_eq!(rules("crates/x/src/tests.rs", &ignored)[0].0, 2);
        let reasoned = ["//! Why?\n#[ign", "ore = \"slow\"]\n"].concat();
        assert_eq!(rules("crates/x/src/tests.rs", &reasoned)[0].0, 2);
        let sleeping = ["//! Why?\nthread", "::sleep(a);\n"].concat();
        assert_eq!(rules("crates/x/tests/it/main.rs", &sleeping)[0].0, 2);
    }

    #[test]
    fn a_file_under_tests_it_that_nobody_names_is_seen() {
        let file =
            |path: &str, text: &str| SourceFile::new(format!("crates/x/tests/it/{path}"), text);
        let mut sources = vec![
            file("main.rs", "//! Why?\nmod named;\nmod folder;\n"),
            file("named.rs", ""),
            file("folder/mod.rs", "pub mod inner;\n"),
            file("folder/inner.rs", ""),
        ];
        assert_eq!(check_named(&sources), []);
        sources.push(file("lost.rs", ""));
        sources.push(file("folder/lost.rs", ""));
        sources.push(file("adrift/mod.rs", ""));
        let seen: Vec<String> = check_named(&sources).into_iter().map(|seen| seen.path).collect();
        assert_eq!(seen.len(), 3, "{seen:?}");
    }
}
