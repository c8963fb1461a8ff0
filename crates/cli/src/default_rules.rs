//! Built-in default priorities of well-known files.
//!
//! The rules of the settings come after these and override them. `docs/providers/fs.md` repeats
//! the table for users.

use catalog::{MetadataRule, RuleEffect};

const PRIORITIES: &[(f64, &[&str])] = &[
    (1.0, &["README.md", "README", "README.txt", "README.rst", "readme.md", "README.ja.md"]),
    (0.9, &["ARCHITECTURE.md", "CLAUDE.md", "AGENTS.md", "CONTRIBUTING.md"]),
    (0.7, &["Cargo.toml", "package.json", "pyproject.toml", "go.mod", "pom.xml", "Makefile"]),
    (0.7, &["Dockerfile", "justfile", "CMakeLists.txt", "build.gradle", "CHANGELOG.md"]),
    (0.2, &["LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING", "NOTICE"]),
    (0.1, &["Cargo.lock", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock"]),
    (0.1, &["uv.lock", "go.sum", "Gemfile.lock", "composer.lock", "flake.lock", "*.lock"]),
    (0.1, &["*.map", "*.snap", "*.svg", "*.ico", "*.woff2"]),
];

/// The default rules of every folder mount.
pub(crate) fn built_in() -> impl Iterator<Item = MetadataRule> {
    PRIORITIES.iter().flat_map(|(priority, globs)| {
        globs.iter().map(|glob| MetadataRule {
            glob: (*glob).to_owned(),
            effect: RuleEffect { priority: Some(*priority), ..RuleEffect::default() },
        })
    })
}
