//! Runs the repository lints on this repository.

use std::path::Path;

use testkit::house;

#[test]
fn every_line_stands_in_its_room() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let violations = house::check(&root).unwrap();
    let told: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(told.is_empty(), "{} violations:\n{}", told.len(), told.join("\n"));
}

#[test]
fn the_rules_are_applied_to_the_whole_house() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let packages = house::dependencies::packages(&root).unwrap();
    for row in
        ["resource", "protocol", "catalog", "subscriptions", "providers", "server", "refdesk"]
    {
        assert!(packages.iter().any(|package| package.name == row), "{row} is not checked");
    }
    let sources = house::sources::read_all(&root).unwrap();
    for path in ["crates/resource/src/lib.rs", "crates/testkit/tests/house.rs"] {
        assert!(sources.iter().any(|source| source.path == path), "{path} is not checked");
    }
}
