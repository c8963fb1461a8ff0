//! Repository lints: dependency rules, file rules, names, and where which code may be.
//!
//! The ten checks of the house and its file rules, each a function from text to violations.

pub mod clauses;
pub mod dependencies;
pub mod facets;
pub mod files;
pub mod maps;
pub mod names;
pub mod placement;
pub mod request_lines;
pub mod sources;
pub mod threats;

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use sources::SourceFile;

/// A line that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The file, relative to the repository.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The rule, as a sentence.
    pub rule: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.rule)
    }
}

/// Finds every violation in the repository at `root`, sorted by file and line.
pub fn check(root: &Path) -> io::Result<Vec<Violation>> {
    let sources = sources::read_all(root)?;
    let packages = dependencies::packages(root)?;
    let mut violations = dependencies::check(&packages);
    for source in &sources {
        violations.extend(files::check(source));
        violations.extend(placement::check(source));
        violations.extend(facets::check(source));
    }
    violations.extend(files::check_named(&sources));
    violations.extend(names::check(&sources));
    let clauses = fs::read_to_string(root.join(clauses::PATH))?;
    violations.extend(clauses::check(&sources, &maps::documents(root)?, &clauses));
    let map = fs::read_to_string(root.join(maps::MAP))?;
    violations.extend(request_lines::check(&sources, &map));
    let security = fs::read_to_string(root.join("docs/security.md"))?;
    violations.extend(threats::check(&sources, &security));
    violations.extend(maps::check(root)?);
    violations.sort_by(|a, b| (&a.path, a.line, &a.rule).cmp(&(&b.path, b.line, &b.rule)));
    Ok(violations)
}

impl SourceFile {
    fn violation(&self, line: usize, rule: impl Into<String>) -> Violation {
        Violation { path: self.path.clone(), line, rule: rule.into() }
    }
}
