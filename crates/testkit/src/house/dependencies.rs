//! Dependency lint: which crate may import which, checked against `cargo metadata`.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Violation;

/// The allowed dependencies of one crate.
#[derive(Debug)]
pub struct DependencyRule {
    /// The package.
    pub package: &'static str,
    /// The allowed workspace crates.
    pub workspace: &'static [&'static str],
    /// The allowed external crates.
    pub external: ExternalCrates,
}

/// A set of external crates.
#[derive(Debug)]
pub enum ExternalCrates {
    /// Only these.
    Only(&'static [&'static str]),
    /// All but these.
    AllBut(&'static [&'static str]),
}

/// The dependency table. Crates import only crates of lower layers.
pub const DEPENDENCY_TABLE: &[DependencyRule] = &[
    DependencyRule {
        package: "analysis",
        workspace: &[],
        external: ExternalCrates::Only(&["icu_segmenter", "thiserror", "unicode-normalization"]),
    },
    DependencyRule {
        package: "machinery",
        workspace: &[],
        external: ExternalCrates::Only(&[
            "futures-util",
            "globset",
            "hashlink",
            "parking_lot",
            "tokio",
        ]),
    },
    DependencyRule {
        package: "redaction",
        workspace: &["machinery"],
        external: ExternalCrates::AllBut(&["hyper", "rmcp", "rustix", "tokio", "tracing"]),
    },
    DependencyRule {
        package: "detection",
        workspace: &[],
        external: ExternalCrates::Only(&[
            "chardetng",
            "encoding_rs",
            "infer",
            "mime_guess",
            "simdutf8",
        ]),
    },
    DependencyRule {
        package: "archive",
        workspace: &["convert", "detection"],
        external: ExternalCrates::Only(&[
            "bytes",
            "encoding_rs",
            "flate2",
            "lzma-rust2",
            "ruzstd",
            "thiserror",
        ]),
    },
    DependencyRule {
        package: "convert",
        workspace: &["detection", "resource"],
        external: ExternalCrates::AllBut(&["hyper", "rmcp", "rustix", "tokio", "tracing"]),
    },
    DependencyRule {
        package: "embedding",
        workspace: &["machinery"],
        external: ExternalCrates::AllBut(&["clap", "gix", "rmcp", "rustix", "toml"]),
    },
    DependencyRule {
        package: "resource",
        workspace: &[],
        external: ExternalCrates::Only(&["async-trait", "bytes", "futures-core", "thiserror"]),
    },
    DependencyRule {
        package: "protocol",
        workspace: &["machinery", "resource"],
        external: ExternalCrates::Only(&[
            "base64-simd",
            "blake3",
            "bytes",
            "fearless_simd",
            "futures-core",
            "humantime",
            "json-escape-simd",
            "memchr",
            "parking_lot",
            "serde",
            "serde_json",
            "simdutf8",
        ]),
    },
    DependencyRule {
        package: "catalog",
        workspace: &["archive", "convert", "detection", "machinery", "redaction", "resource"],
        external: ExternalCrates::Only(&[
            "async-trait",
            "bytes",
            "encoding_rs",
            "futures-core",
            "futures-util",
            "parking_lot",
            "tokio",
            "tracing",
        ]),
    },
    DependencyRule {
        package: "subscriptions",
        workspace: &["machinery", "resource"],
        external: ExternalCrates::Only(&[
            "futures-core",
            "futures-util",
            "hashlink",
            "parking_lot",
            "tokio",
        ]),
    },
    DependencyRule {
        package: "search",
        workspace: &["analysis", "embedding", "machinery", "resource", "subscriptions"],
        external: ExternalCrates::AllBut(&["serde", "serde_json", "hyper"]),
    },
    DependencyRule {
        package: "client",
        workspace: &["machinery", "resource", "protocol"],
        external: ExternalCrates::AllBut(&[]),
    },
    DependencyRule {
        package: "providers",
        workspace: &["convert", "detection", "machinery", "redaction", "resource", "client"],
        external: ExternalCrates::AllBut(&["rmcp"]),
    },
    DependencyRule {
        package: "server",
        workspace: &["machinery", "resource", "protocol", "subscriptions", "search"],
        external: ExternalCrates::AllBut(&[
            "anyhow",
            "cap-std",
            "clap",
            "rmcp",
            "serde",
            "serde_json",
            "toml",
        ]),
    },
    DependencyRule {
        package: "terminal",
        workspace: &["client", "machinery", "protocol", "resource"],
        external: ExternalCrates::AllBut(&["rmcp", "tantivy", "toml"]),
    },
    DependencyRule {
        package: "doctor",
        workspace: &["resource"],
        external: ExternalCrates::AllBut(&["clap", "rmcp", "toml"]),
    },
    DependencyRule { package: "bench", workspace: &[], external: ExternalCrates::AllBut(&[]) },
    DependencyRule {
        package: "fuzz",
        workspace: &["machinery", "resource", "protocol", "catalog", "server", "testkit"],
        external: ExternalCrates::AllBut(&[]),
    },
    DependencyRule { package: "fixture", workspace: &[], external: ExternalCrates::AllBut(&[]) },
    DependencyRule {
        package: "refdesk",
        workspace: &[
            "convert",
            "embedding",
            "machinery",
            "redaction",
            "resource",
            "protocol",
            "catalog",
            "subscriptions",
            "search",
            "client",
            "providers",
            "server",
            "terminal",
            "doctor",
        ],
        external: ExternalCrates::AllBut(&["rmcp"]),
    },
    DependencyRule {
        package: "testkit",
        workspace: &["resource"],
        external: ExternalCrates::AllBut(&[]),
    },
];

/// A workspace crate, from `cargo metadata`.
#[derive(Debug, Clone)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// The path of its manifest, relative to the repository.
    pub manifest: String,
    /// The text of its manifest.
    pub text: String,
    /// Its dependencies, without dev-dependencies.
    pub imports: Vec<String>,
}

/// Reads the crates of the workspace at `root`.
pub fn packages(root: &Path) -> io::Result<Vec<Package>> {
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let output = Command::new(cargo).args(arguments).current_dir(root).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    packages.iter().map(|package| read(root, package)).collect()
}

fn read(root: &Path, package: &Value) -> io::Result<Package> {
    let path = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    let root = root.canonicalize()?;
    let manifest = path.strip_prefix(&root).unwrap_or(path).display().to_string();
    Ok(Package {
        name: package["name"].as_str().unwrap_or_default().to_owned(),
        manifest,
        text: fs::read_to_string(path)?,
        imports: dependency_names(package),
    })
}

/// The dependencies of a package in `cargo metadata` output, without dev-dependencies.
pub fn dependency_names(package: &Value) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
    let used = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
    used.filter_map(|dependency| dependency["name"].as_str().map(str::to_owned)).collect()
}

/// Finds dependencies that the table does not allow.
pub fn check(packages: &[Package]) -> Vec<Violation> {
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Violation> {
    let violation = |line, rule| Violation { path: package.manifest.clone(), line, rule };
    let Some(row) = DEPENDENCY_TABLE.iter().find(|row| row.package == package.name) else {
        let rule = format!("{} has no row in the dependency table", package.name);
        return vec![violation(1, rule)];
    };
    let forbidden = package.imports.iter().filter(|import| !row.allows(import));
    let violations = forbidden.map(|import| {
        let rule = format!("dependency not in the table: {} imports {import}", package.name);
        violation(line_of(&package.text, import), rule)
    });
    violations.collect()
}

impl DependencyRule {
    fn allows(&self, import: &str) -> bool {
        if DEPENDENCY_TABLE.iter().any(|row| row.package == import) {
            return self.workspace.contains(&import);
        }
        match self.external {
            ExternalCrates::Only(names) => names.contains(&import),
            ExternalCrates::AllBut(names) => !names.contains(&import),
        }
    }
}

/// Finds the line of a manifest that names `import`.
fn line_of(manifest: &str, import: &str) -> usize {
    let names = |line: &str| {
        let rest = line.trim_start().strip_prefix(import);
        rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    manifest.lines().position(names).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DEPENDENCY_TABLE, Package, check, dependency_names};

    fn package(name: &str, used: &[&str]) -> Package {
        let lines: Vec<String> =
            used.iter().map(|import| format!("{import}.workspace = true")).collect();
        Package {
            name: name.to_owned(),
            manifest: format!("crates/{name}/Cargo.toml"),
            text: format!("[dependencies]\n{}\n", lines.join("\n")),
            imports: used.iter().copied().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn an_arrow_that_is_not_in_the_table_is_seen_with_its_line() {
        let wrong = [
            ("machinery", "resource"),
            ("machinery", "serde"),
            ("embedding", "resource"),
            ("embedding", "client"),
            ("resource", "machinery"),
            ("resource", "serde"),
            ("resource", "tokio"),
            ("protocol", "tokio"),
            ("protocol", "hyper"),
            ("protocol", "cap-std"),
            ("protocol", "catalog"),
            ("catalog", "serde"),
            ("catalog", "protocol"),
            ("catalog", "subscriptions"),
            ("catalog", "server"),
            ("catalog", "providers"),
            ("subscriptions", "serde"),
            ("subscriptions", "protocol"),
            ("providers", "protocol"),
            ("providers", "catalog"),
            ("providers", "server"),
            ("server", "catalog"),
            ("server", "providers"),
            ("server", "toml"),
            ("testkit", "catalog"),
        ];
        for (name, import) in wrong {
            let seen = check(&[package(name, &["bytes", import])]);
            let seen: Vec<_> = seen.iter().filter(|seen| seen.rule.ends_with(import)).collect();
            assert_eq!(seen.len(), 1, "{name} -> {import}");
            assert_eq!(seen[0].line, 3, "{name} -> {import}");
        }
    }

    #[test]
    fn an_arrow_in_the_table_passes() {
        assert_eq!(check(&[package("resource", &["bytes", "thiserror"])]), []);
        assert_eq!(check(&[package("server", &["resource", "protocol", "hyper"])]), []);
        assert_eq!(check(&[package("refdesk", &["server", "providers", "clap"])]), []);
    }

    #[test]
    fn the_testkit_is_imported_by_tests_alone() {
        // The targets of fuzz are tests, though a program runs them.
        let is_test = |package: &str| ["testkit", "fuzz"].contains(&package);
        for row in DEPENDENCY_TABLE.iter().filter(|row| !is_test(row.package)) {
            assert_eq!(check(&[package(row.package, &["testkit"])]).len(), 1, "{}", row.package);
        }
        let told = json!({ "dependencies": [
            { "name": "testkit", "kind": "dev" },
            { "name": "bytes", "kind": null },
            { "name": "cc", "kind": "build" },
        ]});
        assert_eq!(dependency_names(&told), ["bytes", "cc"]);
    }

    #[test]
    fn a_crate_without_a_row_is_seen() {
        assert!(check(&[package("attic", &[])])[0].rule.contains("no row"));
    }
}
