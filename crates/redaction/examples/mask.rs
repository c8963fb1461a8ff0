//! Masks texts: reads a JSON list of `{file, text}` and prints the list of the masked texts.
//! `interop/masked_documents.py` has other parsers read them.

use redaction::{Redactor, Syntax};
use serde_json::Value;

#[expect(clippy::print_stdout, reason = "the masked texts are the output")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let texts: Vec<Value> = serde_json::from_reader(std::io::stdin())?;
    let redactor = Redactor::default();
    let masked = texts.iter().map(|text| {
        let [file, text] = ["file", "text"].map(|name| text[name].as_str().unwrap_or_default());
        Value::from(redactor.mask(text, Syntax::of_path(file)))
    });
    println!("{}", Value::from_iter(masked));
    Ok(())
}
