//! Tests of the names of folders on the command line.

use std::fs;

use serde_json::Value;

use crate::program::{HttpProgram, output_text, project, run};

#[test]
fn a_folder_can_be_named_and_folders_in_any_script_get_readable_names() {
    let folder = project();
    for name in ["資料", "Документы", "a=b"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let served = ["code=project", "資料", "Документы", "a=b", "--json"];
    let running = HttpProgram::start(folder.path(), &served);
    let told: Value = serde_json::from_str(&running.banner).unwrap();
    let names: Vec<&str> = told["mounts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mount| mount["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a-b", "code", "dokumenty", "zi-liao"]);
}

#[test]
fn a_name_that_cannot_be_one_or_is_taken_is_an_error() {
    let folder = project();
    for (arguments, words) in [
        (["serve", "資料=project"], "`資料` is not a valid mount name; try `zi-liao`"),
        (["serve", "code=nowhere"], "cannot serve the folder nowhere"),
    ] {
        let told = output_text(&run(folder.path(), &arguments));
        assert!(told.contains(words), "{told}");
    }
    let told = output_text(&run(folder.path(), &["serve", "a=project", "a=project/src"]));
    assert!(told.contains("the mount name `a` is already in use"), "{told}");
}

#[test]
fn a_host_serves_a_named_folder_under_its_name() {
    let folder = project();
    let output = run(folder.path(), &["host-config", "generic", "code=project"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let last = json["mcpServers"]["refdesk"]["args"][2].as_str().unwrap();
    assert!(last.starts_with("code=/") && last.ends_with("/project"), "{last}");
}
