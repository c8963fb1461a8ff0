//! Prints the corpus of the redaction tests as JSON, with what the redactor makes of each text.
//! `interop/redaction.py` compares that with another scanner.

#[path = "../tests/it/corpus/mod.rs"]
mod corpus;

use corpus::look_alikes::look_alikes;
use corpus::{CorpusText, NEIGHBOURS, secrets};
use redaction::{Redactor, Syntax};
use serde_json::{Value, json};

#[expect(clippy::print_stdout, reason = "the corpus is the output")]
fn main() {
    let secrets = secrets().into_iter().map(|text| row(&text, true));
    let others = look_alikes().into_iter().map(|text| row(&text, false));
    let texts: Vec<Value> = secrets.chain(others).collect();
    println!("{}", json!({ "texts": texts, "neighbours": NEIGHBOURS }));
}

fn row(text: &CorpusText, is_secret: bool) -> Value {
    let masked = Redactor::default().mask(&text.text, Syntax::of_path(text.file));
    json!({
        "kind": text.kind,
        "file": text.file,
        "text": text.text,
        "values": text.values,
        "is_secret": is_secret,
        "is_hidden": text.values.iter().all(|value| !masked.contains(value.as_str())),
        "is_changed": masked != text.text,
    })
}
