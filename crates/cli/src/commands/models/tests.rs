//! Tests of `refdesk models`, with a model of two words.

use std::fs;
use std::path::{Path, PathBuf};

use embedding::ModelInstallProgress;
use serde_json::{Value, json};

use super::{ProgressLine, run_in};
use crate::args::{AddModelArgs, ListModelsArgs, ModelsCommand, RemoveModelArgs};

/// A model of two words and two dimensions.
fn write_model(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let header = r#"{"embeddings":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
    let mut weights = (header.len() as u64).to_le_bytes().to_vec();
    weights.extend(header.as_bytes());
    weights.extend([1.0_f32, 0.0, 0.0, 1.0].iter().flat_map(|number| number.to_le_bytes()));
    fs::write(folder.join("model.safetensors"), weights).unwrap();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "pre_tokenizer": { "type": "Whitespace" }, "post_processor": null,
        "decoder": null,
        "model": { "type": "WordLevel", "vocab": { "[UNK]": 0, "cat": 1 }, "unk_token": "[UNK]" }
    });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

fn add(root: &Path, folder: PathBuf, name: Option<&str>) -> anyhow::Result<String> {
    let name = name.map(str::to_owned);
    run_in(root, &ModelsCommand::Add(AddModelArgs { folder, name, json: false }))
}

fn remove(root: &Path, name: &str) -> anyhow::Result<String> {
    run_in(root, &ModelsCommand::Remove(RemoveModelArgs { name: name.to_owned(), json: false }))
}

fn list(root: &Path) -> String {
    run_in(root, &ModelsCommand::List(ListModelsArgs { json: false })).unwrap()
}

#[test]
fn a_model_is_added_listed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (root, source) = (folder.path().join("models"), folder.path().join("Tiny"));
    write_model(&source);
    assert!(list(&root).starts_with("no models"));
    let added = add(&root, source.clone(), None).unwrap();
    assert!(added.starts_with("added tiny: 2 dimensions, 2 tokens, "), "{added}");
    add(&root, source.clone(), Some("other")).unwrap();
    let again = format!("{:#}", add(&root, source, Some("other")).unwrap_err());
    assert!(again.contains("remove it first"), "{again}");
    let listed = list(&root);
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["other", "tiny"]);
    assert_eq!(remove(&root, "tiny").unwrap(), "removed tiny\n");
    let missing = remove(&root, "tiny").unwrap_err().to_string();
    assert!(missing.contains("installed: other"), "{missing}");
    assert!(!list(&root).contains("tiny"));
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
}

#[test]
fn a_broken_model_is_not_added_and_one_that_broke_later_is_listed_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (root, source) = (folder.path().join("models"), folder.path().join("tiny"));
    write_model(&source);
    add(&root, source.clone(), None).unwrap();
    fs::write(root.join("tiny/tokenizer.json"), "{").unwrap();
    let listed = list(&root);
    assert!(listed.contains("tiny: not usable: ") && listed.contains("tokenizer.json"), "{listed}");
    fs::remove_file(source.join("tokenizer.json")).unwrap();
    let refused = format!("{:#}", add(&root, source, Some("second")).unwrap_err());
    assert!(refused.contains("no file tokenizer.json"), "{refused}");
    let absent = add(&root, folder.path().join("absent"), None).unwrap_err().to_string();
    assert!(absent.contains("cannot find"), "{absent}");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
}

#[test]
fn for_programs_each_command_prints_one_line_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let (root, source) = (folder.path().join("models"), folder.path().join("tiny"));
    write_model(&source);
    let run = |command: ModelsCommand| -> Value {
        serde_json::from_str(&run_in(&root, &command).unwrap()).unwrap()
    };
    let list = || run(ModelsCommand::List(ListModelsArgs { json: true }));
    assert_eq!(list(), json!({ "models": [] }));
    let added = run(ModelsCommand::Add(AddModelArgs { folder: source, name: None, json: true }));
    assert_eq!(
        (&added["added"]["name"], &added["added"]["dimensions"]),
        (&json!("tiny"), &json!(2))
    );
    assert_eq!(list()["models"][0], added["added"]);
    fs::write(root.join("tiny/tokenizer.json"), "{").unwrap();
    assert!(list()["models"][0]["error"].as_str().unwrap().contains("tokenizer.json"));
    let remove = RemoveModelArgs { name: "tiny".to_owned(), json: true };
    assert_eq!(run(ModelsCommand::Remove(remove)), json!({ "removed": "tiny" }));
}

#[test]
fn a_name_cannot_leave_the_folder_of_models() {
    let folder = tempfile::tempdir().unwrap();
    let (root, source) = (folder.path().join("models"), folder.path().join("tiny"));
    write_model(&source);
    for name in ["", ".", "..", ".hidden", "a/b", "../tiny", "/etc", "a b", "ä", &"x".repeat(65)] {
        assert!(add(&root, source.clone(), Some(name)).is_err(), "{name:?}");
        assert!(remove(&root, name).is_err(), "{name:?}");
    }
    assert!(source.join("model.safetensors").exists());
    // A link is removed, not what it points to.
    fs::create_dir_all(&root).unwrap();
    std::os::unix::fs::symlink(&source, root.join("link")).unwrap();
    remove(&root, "link").unwrap();
    assert!(source.join("model.safetensors").exists() && !root.join("link").exists());
}

#[test]
fn progress_is_shown_on_a_terminal_alone_and_once_for_each_percent() {
    let step = |copied| ModelInstallProgress { copied, total: 1_000 };
    let mut line = ProgressLine::new(true);
    let texts: Vec<String> =
        [1, 5, 500, 504, 1_000].into_iter().filter_map(|n| line.text(step(n))).collect();
    assert_eq!(texts.len(), 3);
    assert!(texts[1].contains("[##########          ]  50 %"), "{:?}", texts[1]);
    assert_eq!(ProgressLine::new(false).text(step(500)), None);
    assert!(ProgressLine::new(true).text(ModelInstallProgress { copied: 5, total: 0 }).is_some());
}
