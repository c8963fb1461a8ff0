//! Clause lint: every clause that is cited is defined in `docs/clauses.md`, and the other way round.

use std::collections::BTreeSet;

use super::Violation;
use super::sources::SourceFile;

/// Where the clauses are defined.
pub const PATH: &str = "docs/clauses.md";

/// What looks like a clause and is a name of something else.
const OTHER_NAMES: [&str; 5] = ["AVX", "EUC", "ISO", "SHA", "UTF"];

/// The violations in all sources and documents together; `clauses` is the text of
/// `docs/clauses.md`.
pub fn check(sources: &[SourceFile], documents: &[SourceFile], clauses: &str) -> Vec<Violation> {
    let defined: Vec<(usize, &str)> = defined_clauses(clauses).collect();
    let known: BTreeSet<&str> = defined.iter().map(|(_, code)| *code).collect();
    let documents = documents.iter().filter(|document| document.path != PATH);
    let citations: Vec<(&SourceFile, usize, &str)> =
        sources.iter().chain(documents).flat_map(citations_in).collect();
    let unknown = citations.iter().filter(|(.., code)| !known.contains(code));
    let undefined = |(source, line, code): &(&SourceFile, usize, &str)| {
        source.violation(*line, format!("{PATH} does not define the clause {code}"))
    };
    let mut violations: Vec<Violation> = unknown.map(undefined).collect();
    // The message of an assertion cites a clause too. The house only has examples.
    let cited: BTreeSet<&str> = sources
        .iter()
        .filter(|source| !source.is_under("crates/testkit/src/house"))
        .flat_map(|source| source.lines().flat_map(|(_, line)| clause_codes(line)))
        .chain(citations.iter().map(|(.., code)| *code))
        .collect();
    let unused = defined.into_iter().filter(|(_, code)| !cited.contains(code));
    violations.extend(unused.map(|(line, code)| Violation {
        path: PATH.to_owned(),
        line,
        rule: format!("no source, test or document cites the clause {code}"),
    }));
    violations
}

/// The codes in the comments of a source, or anywhere in a document.
fn citations_in(source: &SourceFile) -> impl Iterator<Item = (&SourceFile, usize, &str)> {
    let is_document = source.path.ends_with(".md");
    let parts = source.lines().filter_map(move |(number, line)| {
        let part = if is_document { Some(line) } else { comment_of(line) };
        Some((number, part?))
    });
    parts.flat_map(move |(number, part)| clause_codes(part).map(move |code| (source, number, code)))
}

/// The comment that a line is, or ends in.
fn comment_of(line: &str) -> Option<&str> {
    let is_comment =
        ["//", "#", "*", "\"\"\""].iter().any(|mark| line.trim_start().starts_with(mark));
    if is_comment { Some(line) } else { line.rsplit_once(" // ").map(|(_, comment)| comment) }
}

/// The codes in the first column of the tables of `docs/clauses.md`, with their lines.
fn defined_clauses(clauses: &str) -> impl Iterator<Item = (usize, &str)> {
    let rows = clauses.lines().enumerate().filter_map(|(at, line)| {
        let cell = line.strip_prefix('|')?.split('|').next()?;
        Some((at + 1, cell))
    });
    rows.flat_map(|(line, cell)| clause_codes(cell).map(move |code| (line, code)))
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
    is_prefix && is_middle && is_number && !OTHER_NAMES.contains(&letters)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::house::sources::SourceFile;

    const CLAUSES: &str = "| code | clause |\n| --- | --- |\n| K-03 | private stays private |\n";

    fn rules(sources: &[(&str, &str)], documents: &[(&str, &str)]) -> Vec<(String, usize, String)> {
        let files = |files: &[(&str, &str)]| -> Vec<SourceFile> {
            files.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect()
        };
        let seen = check(&files(sources), &files(documents), CLAUSES);
        seen.into_iter().map(|seen| (seen.path, seen.line, seen.rule)).collect()
    }

    #[test]
    fn a_clause_that_nobody_defined_is_seen() {
        let text = "//! A.\n/// K-03, and S2093-26.\nlet utf = \"UTF-16 B-12\"; \n// UTF-16, 2025-11-25, X-1\n\
            call(); // \x4b-99\n// R-25A-01\n";
        let document = "# D\n\nK-03 and \x4b-98, in UTF-16.\n";
        let seen = rules(&[("crates/a/src/a.rs", text)], &[("docs/d.md", document)]);
        let codes: Vec<_> =
            seen.iter().map(|(_, line, rule)| (*line, rule.rsplit(' ').next())).collect();
        let expected =
            [(2, Some("S2093-26")), (5, Some("K-99")), (6, Some("R-25A-01")), (3, Some("K-98"))];
        assert_eq!(codes, expected);
        assert_eq!(seen[3].0, "docs/d.md");
    }

    #[test]
    fn a_clause_that_nobody_cites_is_seen() {
        let unused = vec![(
            "docs/clauses.md".to_owned(),
            3,
            "no source, test or document cites the clause K-03".to_owned(),
        )];
        assert_eq!(rules(&[], &[("docs/clauses.md", CLAUSES)]), unused);
        let in_string = "//! A.\nlet code = \"K-03\";\n";
        assert_eq!(rules(&[("crates/testkit/src/house/a.rs", in_string)], &[]), unused);
        assert_eq!(rules(&[("crates/a/tests/it/a.rs", in_string)], &[]), []);
        assert_eq!(rules(&[("crates/a/src/a.rs", "//! A: K-03.\n")], &[]), []);
        assert_eq!(rules(&[], &[("docs/d.md", "K-03\n")]), []);
    }
}
