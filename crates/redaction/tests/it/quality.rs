//! Recall and precision over the corpus, and what holds for each masked text of it.

use std::collections::BTreeSet;

use granit_parser::Parser;
use redaction::{Redactor, Syntax};

use crate::corpus::look_alikes::look_alikes;
use crate::corpus::{CorpusText, NEIGHBOURS, secrets};

fn mask(text: &CorpusText) -> String {
    Redactor::default().mask(&text.text, Syntax::of_path(text.file)).into_owned()
}

fn is_hidden(text: &CorpusText) -> bool {
    let masked = mask(text);
    text.values.iter().all(|value| {
        let encoded = base64_simd::STANDARD.encode_to_string(value.as_bytes());
        let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
        [value, &encoded, &percent].into_iter().all(|form| !masked.contains(form.as_str()))
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are a part of the check's output")]
fn every_declared_secret_is_masked_and_few_look_alikes_are() {
    let (secrets, look_alikes) = (secrets(), look_alikes());
    let kinds: BTreeSet<&str> = secrets.iter().map(|text| text.kind.as_str()).collect();
    assert!(secrets.len() >= 400 && kinds.len() >= 30 && look_alikes.len() >= 400);
    let describe = |text: &&CorpusText| format!("{} in {}: {}", text.kind, text.file, mask(text));
    let missed: Vec<String> =
        secrets.iter().filter(|text| !is_hidden(text)).map(|text| describe(&text)).collect();
    let wrong: Vec<String> = look_alikes
        .iter()
        .filter(|text| mask(text) != text.text)
        .map(|text| describe(&text))
        .collect();
    let (found, total) = (secrets.len() - missed.len(), secrets.len());
    let precision = found as f64 / (found + wrong.len()) as f64;
    println!(
        "{total} secrets of {} kinds, {} look-alikes: recall {found}/{total}, precision {precision:.4}",
        kinds.len(),
        look_alikes.len()
    );
    assert_eq!(missed, [""; 0], "every secret is masked");
    assert!(precision >= 0.95, "precision {precision}: {wrong:#?}");
}

#[test]
fn a_masked_text_still_parses_and_keeps_its_other_values() {
    for text in secrets().iter().chain(&look_alikes()) {
        let masked = mask(text);
        for neighbour in NEIGHBOURS {
            assert!(masked.contains(neighbour), "{neighbour} is gone: {masked}");
        }
        assert_eq!(
            parses(&masked, text.file),
            parses(&text.text, text.file),
            "{}: {masked}",
            text.kind
        );
    }
}

/// Whether a text parses in its format; `None` if no parser is at hand.
fn parses(text: &str, file: &str) -> Option<bool> {
    match Syntax::of_path(file) {
        Syntax::Toml => Some(toml::from_str::<toml::Table>(text).is_ok()),
        Syntax::Yaml => Some(Parser::new_from_str(text).all(|event| event.is_ok())),
        Syntax::Json if !file.ends_with("json5") => {
            Some(serde_json::from_str::<serde_json::Value>(text).is_ok())
        }
        _ => None,
    }
}

#[test]
fn the_original_of_a_secret_is_in_no_finding() {
    for text in secrets() {
        for found in Redactor::default().find(&text.text, Syntax::of_path(text.file)) {
            let shown = format!("{found:?}");
            assert!(text.values.iter().all(|value| !shown.contains(value.as_str())), "{shown}");
        }
    }
}
