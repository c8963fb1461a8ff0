//! Accuracy tests of the token estimate, against the real `o200k_base` table.
//!
//! The costs are fitted to other texts of the same kinds (manuals in four languages, programs of
//! other projects) and to half of the English texts and programs used here, but to none of the
//! Japanese.

use std::fs;
use std::path::{Path, PathBuf};

use resource::tokens::{estimate, prefix_len};
use tiktoken_rs::o200k_base_singleton;

/// The maximum error of the estimate, in percent.
const OFF: u64 = 15;

const JAPANESE: &str = include_str!("japanese.md");

/// The texts below `folder`, relative to the repository, whose names end in one of `endings`.
fn texts(folder: &str, endings: &[&str]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let (mut folders, mut files) = (vec![root], Vec::<PathBuf>::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && !["target", "node_modules"].contains(&name.as_str()) {
                folders.push(path);
            } else if path.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                files.push(path);
            }
        }
    }
    files.sort();
    files.into_iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

fn english() -> Vec<String> {
    texts("docs", &[".md"])
}

fn programs() -> Vec<String> {
    // A sample of the folders, because counting tokens is slow.
    let rust = ["crates/resource/src", "crates/catalog/src", "crates/server/src", "bench/src"];
    let mut all: Vec<String> = rust.iter().flat_map(|room| texts(room, &[".rs"])).collect();
    all.extend(texts("interop", &[".py", ".mjs"]));
    all.extend(texts("crates/server/tests/it/conversations", &[".jsonl"]));
    all
}

/// The real and the estimated token count of all texts together.
fn counted(texts: &[String]) -> (u64, u64) {
    let table = o200k_base_singleton();
    let real: usize = texts.iter().map(|text| table.encode_ordinary(text).len()).sum();
    (real as u64, texts.iter().map(|text| estimate(text)).sum())
}

fn assert_near(what: &str, (real, told): (u64, u64)) {
    let off = real.abs_diff(told) * 100;
    assert!(off <= real * OFF, "{what}: {told} estimated, {real} counted");
}

#[test]
fn english_japanese_and_programs_are_near_each_and_together() {
    let parts = [
        ("English", counted(&english())),
        ("Japanese", counted(&[JAPANESE.to_owned()])),
        ("programs", counted(&programs())),
    ];
    for (what, counts) in parts {
        assert!(counts.0 > 1000, "{what}: the sample is too small");
        assert_near(what, counts);
    }
    let sum = |of: fn((u64, u64)) -> u64| parts.iter().map(|(_, counts)| of(*counts)).sum();
    assert_near("all", (sum(|counts| counts.0), sum(|counts| counts.1)));
}

#[test]
fn a_budget_is_nearly_used_up_and_hardly_overrun() {
    let table = o200k_base_singleton();
    let texts = [english().concat(), JAPANESE.to_owned(), programs().concat()];
    for text in &texts {
        let end = prefix_len(text, 1000);
        let real = table.encode_ordinary(&text[..end]).len();
        assert!((800..=1250).contains(&real), "{real} tokens for a budget of 1000");
    }
}
