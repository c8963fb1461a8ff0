//! House rules about names: one type a name, a heading that states, citations that resolve.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use super::sources::SourceFile;

/// Type names that every module may have.
const ANY_MODULE: [&str; 6] = ["Error", "Result", "Options", "Inner", "State", "Kind"];

const QUESTION: &str = "line 1 of a heading states what the file is; a question may follow it";

/// The violations in all files together; `clauses` is the text of `docs/clauses.md`.
pub fn check(sources: &[SourceFile], clauses: &str) -> Vec<Violation> {
    let mut violations = shared_types(sources);
    violations.extend(sources.iter().filter_map(question_heading));
    let defined = defined_clauses(clauses);
    violations.extend(sources.iter().flat_map(|source| undefined_clauses(source, &defined)));
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

/// Clauses cited by a file that `docs/clauses.md` does not define.
fn undefined_clauses(source: &SourceFile, defined: &BTreeSet<&str>) -> Vec<Violation> {
    let cited = source.lines().filter_map(|(number, line)| Some((number, comment_of(line)?)));
    let unknown = cited.flat_map(|(number, line)| {
        let codes = clause_codes(line).filter(|code| !defined.contains(code));
        codes.map(move |code| (number, code)).collect::<Vec<_>>()
    });
    let told = |(number, code)| {
        source.violation(number, format!("docs/clauses.md does not define the clause {code}"))
    };
    unknown.map(told).collect()
}

/// The comment that a line is, or ends in.
fn comment_of(line: &str) -> Option<&str> {
    let is_comment =
        ["//", "#", "*", "\"\"\""].iter().any(|mark| line.trim_start().starts_with(mark));
    if is_comment { Some(line) } else { line.rsplit_once(" // ").map(|(_, comment)| comment) }
}

/// The codes in the first column of the tables of `docs/clauses.md`.
fn defined_clauses(clauses: &str) -> BTreeSet<&str> {
    let rows = clauses.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    rows.flat_map(clause_codes).collect()
}

/// Codes such as `K-03`, `S2093-26` or `R-25A-01`: capitals and digits, perhaps another such part,
/// and two or three digits, with hyphens between them.
fn clause_codes(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| is_clause(word))
}

fn is_clause(word: &str) -> bool {
    let Some((letters, number)) = word.rsplit_once('-') else { return false };
    let (letters, middle) = letters.split_once('-').unwrap_or((letters, ""));
    let is_prefix = letters.starts_with(|c: char| c.is_ascii_uppercase())
        && letters.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let is_middle = middle.len() <= 3 && middle.chars().all(|c| c.is_ascii_alphanumeric());
    let is_number = (2..=3).contains(&number.len()) && number.chars().all(|c| c.is_ascii_digit());
    is_prefix && is_middle && is_number && !STANDARDS.contains(&letters)
}

/// What looks like a clause and is the name of a standard.
const STANDARDS: [&str; 4] = ["UTF", "SHA", "EUC", "ISO"];

#[cfg(test)]
mod tests {
    use super::check;
    use crate::house::sources::SourceFile;

    const CLAUSES: &str = "| code | clause |\n| --- | --- |\n| K-03 | private stays private |\n";

    fn rules(files: &[(&str, &str)]) -> Vec<(String, usize, String)> {
        let sources: Vec<SourceFile> =
            files.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect();
        let seen = check(&sources, CLAUSES);
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

    #[test]
    fn a_clause_that_nobody_defined_is_seen() {
        let text = "//! A.\n/// K-03, and S2093-26.\nlet utf = \"UTF-16 B-12\"; \n// UTF-16, 2025-11-25, X-1\n\
            call(); // \x4b-99\n// R-25A-01\n";
        let seen = rules(&[("crates/a/src/a.rs", text)]);
        let codes: Vec<_> =
            seen.iter().map(|(_, line, rule)| (*line, rule.rsplit(' ').next())).collect();
        assert_eq!(codes, [(2, Some("S2093-26")), (5, Some("K-99")), (6, Some("R-25A-01"))]);
    }
}
