//! Map lint: ARCHITECTURE.md has a row for every module, and documents name files that exist.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::Violation;
use super::dependencies::{DEPENDENCY_TABLE, DependencyRule};
use super::sources::SourceFile;

/// The document with the tables of modules, and the lines that requests follow.
pub const MAP: &str = "ARCHITECTURE.md";
/// The documents that name files, and the folders of such documents.
const DOCUMENTS: [&str; 7] = [
    MAP,
    "README.md",
    "CONTRIBUTING.md",
    "docs",
    "docs/decisions",
    "docs/providers",
    "interop/README.md",
];
/// What the path of a file in the repository begins with.
const ROOTS: [&str; 6] = ["crates/", "interop/", "bench/", "explorer/", "fuzz/", "docs/"];

/// A table of modules: the crate, and the names in its rows with their lines.
struct ModuleTable<'t> {
    name: &'t str,
    line: usize,
    rows: Vec<(usize, Vec<&'t str>)>,
}

/// The violations in the documents of the repository at `root`.
pub fn check(root: &Path) -> io::Result<Vec<Violation>> {
    let map = fs::read_to_string(root.join(MAP))?;
    let mut violations = Vec::new();
    for table in module_tables(&map) {
        let folder = root.join("crates").join(table.name).join("src");
        if folder.is_dir() {
            violations.extend(check_table(&folder, &table)?);
        }
    }
    violations.extend(check_imports(&map, DEPENDENCY_TABLE));
    for document in documents(root)? {
        violations.extend(missing_files(root, &document.path, &document.text));
    }
    Ok(violations)
}

/// The documents of the repository at `root`.
pub fn documents(root: &Path) -> io::Result<Vec<SourceFile>> {
    let mut documents = Vec::new();
    for path in DOCUMENTS {
        for path in markdown_files(root, path)? {
            let text = fs::read_to_string(root.join(&path))?;
            documents.push(SourceFile { path, text });
        }
    }
    Ok(documents)
}

fn markdown_files(root: &Path, path: &str) -> io::Result<Vec<String>> {
    if !root.join(path).is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let names = fs::read_dir(root.join(path))?
        .map(|entry| entry.map(|entry| format!("{path}/{}", entry.file_name().to_string_lossy())));
    let names: Vec<String> = names.collect::<io::Result<_>>()?;
    Ok(names.into_iter().filter(|name| name.ends_with(".md")).collect())
}

/// The tables under headings that name a crate.
fn module_tables(map: &str) -> Vec<ModuleTable<'_>> {
    let mut tables: Vec<ModuleTable<'_>> = Vec::new();
    let mut is_open = false;
    for (at, line) in map.lines().enumerate() {
        if line.starts_with('#') {
            let name = line.strip_prefix("### `").and_then(|rest| rest.strip_suffix('`'));
            is_open = name.is_some();
            let table = |name| ModuleTable { name, line: at + 1, rows: Vec::new() };
            tables.extend(name.map(table));
        } else if is_open
            && line.starts_with("| `")
            && let Some(table) = tables.last_mut()
        {
            let cell = line.trim_start_matches("| ").split(" | ").next().unwrap_or_default();
            table.rows.push((at + 1, quoted(cell).collect()));
        }
    }
    tables
}

/// The texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn check_table(folder: &Path, table: &ModuleTable<'_>) -> io::Result<Vec<Violation>> {
    let violation = |line, rule| Violation { path: MAP.to_owned(), line, rule };
    let mut violations = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (line, names) in &table.rows {
        let first = names.first().copied().unwrap_or_default();
        let parent = first.rsplit_once('/').map_or("", |(parent, _)| parent);
        for name in names {
            known.insert(name.trim_end_matches('/'));
            let beside = format!("{parent}/{name}");
            if ![*name, &beside].into_iter().any(|name| is_module(folder, name)) {
                violations.push(violation(*line, format!("{} has no module {name}", table.name)));
            }
        }
    }
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let module = name.trim_end_matches(".rs");
        let is_root = ["lib", "main", "tests", "bin"].contains(&module);
        let has_rows =
            |module: &str| known.iter().any(|name| name.split('/').next() == Some(module));
        if !is_root && !has_rows(module) {
            let rule = format!("the module {module} of {} has no row", table.name);
            violations.push(violation(table.line, rule));
        }
    }
    violations.sort_by(|a, b| (a.line, &a.rule).cmp(&(b.line, &b.rule)));
    violations.dedup();
    Ok(violations)
}

/// Rows of the table of imports that name other crates than the dependency table allows.
fn check_imports(map: &str, table: &[DependencyRule]) -> Vec<Violation> {
    let from = map.lines().take_while(|line| !line.starts_with("## The dependencies")).count();
    let mut violations = Vec::new();
    for (at, line) in map.lines().enumerate().skip(from) {
        let mut cells = line.strip_prefix("| ").unwrap_or_default().split(" | ");
        let (Some(name), Some(imports)) = (cells.next(), cells.next()) else { continue };
        let Some(rule) = table.iter().find(|rule| name == format!("`{}`", rule.package)) else {
            continue;
        };
        let is_crate = |name: &&str| table.iter().any(|rule| rule.package == *name);
        let named: BTreeSet<&str> = quoted(imports).filter(is_crate).collect();
        let allowed: BTreeSet<&str> = rule.workspace.iter().copied().collect();
        if named != allowed {
            let rule = format!("{name} may import {allowed:?}, not {named:?}");
            violations.push(Violation { path: MAP.to_owned(), line: at + 1, rule });
        }
    }
    violations
}

fn is_module(folder: &Path, name: &str) -> bool {
    let name = name.trim_matches('/');
    folder.join(format!("{name}.rs")).is_file() || folder.join(name).is_dir()
}

/// The paths in a document that lead to no file of the repository.
fn missing_files(root: &Path, document: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for path in quoted(line).filter(|path| is_path(root, path)) {
            let path = path.split(':').next().unwrap_or(path);
            let exists = [root.join(path), root.join("crates").join(path)];
            if !exists.iter().any(|path| path.exists()) {
                let rule = format!("there is no file {path}");
                violations.push(Violation { path: document.to_owned(), line: at + 1, rule });
            }
        }
    }
    violations
}

/// Whether a quoted text is the path of a file in the repository, without wildcards.
fn is_path(root: &Path, text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:".contains(c);
    let is_in_crate = text
        .split_once("/src/")
        .is_some_and(|(name, _)| !name.is_empty() && root.join("crates").join(name).is_dir());
    let is_known = is_in_crate || ROOTS.iter().any(|folder| text.starts_with(folder));
    is_known && text.chars().all(is_plain) && !text.contains("://") && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{check_imports, check_table, is_path, missing_files, module_tables};
    use crate::house::dependencies::{DependencyRule, ExternalCrates};

    #[test]
    fn modules_without_rows_and_rows_without_modules_are_found() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["lib.rs", "cache.rs", "glob.rs", "pick/view.rs", "pick/list_view.rs"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let map = "# How\n\n### `x`\n\n| file | what |\n| --- | --- |\n| `cache` | A cache |\n\
            | `pick/view`, `list_view` | Views |\n| `gone/` | No |\n\n## Next\n\n| `other` | a |\n";
        let tables = module_tables(map);
        assert_eq!((tables.len(), tables[0].name), (1, "x"));
        let found = check_table(folder.path(), &tables[0]).unwrap();
        let rules: Vec<_> = found.iter().map(|one| (one.line, one.rule.as_str())).collect();
        assert_eq!(rules, [(3, "the module glob of x has no row"), (9, "x has no module gone/")]);
    }

    #[test]
    fn a_table_of_imports_that_is_untrue_is_found() {
        let rule = |package, workspace| {
            let external = ExternalCrates::AllBut(&[]);
            DependencyRule { package, workspace, external }
        };
        let table = [rule("a", &[]), rule("b", &["a"]), rule("c", &["a", "b"])];
        let map = "| `b` | x |\n## The dependencies\n\n| crate | may import |\n| --- | --- |\n\
            | `a` | bytes | x |\n| `b` | `a`, `tokio` | x |\n| `c` | `a` | `b` |\n";
        let found = check_imports(map, &table);
        assert_eq!(found.iter().map(|one| one.line).collect::<Vec<_>>(), [8], "{found:?}");
    }

    #[test]
    fn a_path_that_leads_nowhere_is_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("crates/a/src")).unwrap();
        fs::write(folder.path().join("crates/a/src/b.rs"), "").unwrap();
        let text = "`crates/a/src/b.rs`, `a/src/b.rs:12` and\n`a/src/c.rs`, `docs/*.md`, `file:///a/src/x`\n";
        let found = missing_files(folder.path(), "docs/x.md", text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].line == 2 && found[0].rule.ends_with("a/src/c.rs"), "{found:?}");
        for other in ["git://a/src/b.rs", "app/src/main.rs", "/home/a/src/b.rs", "src/main.rs"] {
            assert!(!is_path(folder.path(), other), "{other}");
        }
    }
}
