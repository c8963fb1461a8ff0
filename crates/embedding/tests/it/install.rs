//! Installation: a model appears whole and checked, or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use embedding::{EmbedError, Embedder as _, StaticModel, check_model, install_model};

use crate::tiny_model::{Tensor, WORDS, safetensors, tokenizer, write_model};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let (from, models) = (root.path().join("from"), root.path().join("data/models"));
    fs::create_dir(&from).unwrap();
    write_model(&from);
    (root, from, models)
}

#[test]
fn a_model_is_copied_with_progress_and_without_other_files() {
    let (_root, from, models) = folders();
    fs::write(from.join("README.md"), "hello").unwrap();
    let mut steps = Vec::new();
    let summary = install_model(&from, &models.join("tiny"), |step| steps.push(step)).unwrap();
    assert_eq!(names(&models), ["tiny"]);
    let expected = ["config.json", "model.safetensors", "tokenizer.json"];
    assert_eq!(names(&models.join("tiny")), expected);
    assert_eq!(summary, check_model(&from).unwrap());
    assert_eq!((summary.dimensions, summary.tokens), (3, 6));
    let model = StaticModel::load(&models.join("tiny")).unwrap();
    assert_eq!(model.fingerprint(), summary.fingerprint);
    let last = steps.last().unwrap();
    assert_eq!((last.copied, last.total), (summary.bytes, summary.bytes));
    assert!(steps.is_sorted_by_key(|step| step.copied));
}

#[test]
fn a_wordllama_folder_is_installed_in_the_usual_layout_with_the_same_fingerprint() {
    let (root, _, models) = folders();
    let from = root.path().join("wordllama");
    fs::create_dir_all(from.join("weights")).unwrap();
    fs::create_dir_all(from.join("tokenizers")).unwrap();
    let weights = safetensors(&[("embedding.weight", Tensor::table())]);
    fs::write(from.join("weights/a.safetensors"), weights).unwrap();
    fs::write(from.join("tokenizers/a.json"), tokenizer(&WORDS).to_string()).unwrap();
    let summary = install_model(&from, &models.join("wl"), |_| ()).unwrap();
    assert_eq!(names(&models.join("wl")), ["model.safetensors", "tokenizer.json"]);
    assert_eq!(summary, check_model(&from).unwrap());
}

#[test]
fn a_broken_model_leaves_nothing_behind() {
    let (_root, from, models) = folders();
    fs::write(from.join("model.safetensors"), b"broken").unwrap();
    let error = install_model(&from, &models.join("tiny"), |_| ()).unwrap_err();
    assert!(matches!(error, EmbedError::ModelBroken { .. }), "{error:?}");
    assert_eq!(names(&models), [""; 0]);
}

#[test]
fn the_leftover_of_a_killed_installation_does_not_hinder_the_next() {
    let (_root, from, models) = folders();
    fs::create_dir_all(models.join(".tiny.partial")).unwrap();
    fs::write(models.join(".tiny.partial/model.safetensors"), b"half").unwrap();
    install_model(&from, &models.join("tiny"), |_| ()).unwrap();
    assert_eq!(names(&models), ["tiny"]);
}

#[test]
fn an_installed_model_is_not_replaced() {
    let (_root, from, models) = folders();
    install_model(&from, &models.join("tiny"), |_| ()).unwrap();
    let error = install_model(&from, &models.join("tiny"), |_| ()).unwrap_err();
    assert!(matches!(&error, EmbedError::ModelExists(name) if name == "tiny"), "{error:?}");
    StaticModel::load(&models.join("tiny")).unwrap();
}
