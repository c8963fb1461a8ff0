//! Measures the throughput of text analysis over the passages of the files that its arguments name.

use std::io::{self, Write};
use std::time::Instant;

use analysis::{TextKind, dictionary_words, spelling_words, split_passages, tokenize};

fn main() -> io::Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let texts: Vec<String> =
        files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let split = |text: &String| split_passages(text, TextKind::Plain);
    let spans = texts.iter().flat_map(|text| split(text).into_iter().map(|span| &text[span.range]));
    let passages: Vec<&str> = spans.collect();
    let mut out = io::stdout();
    writeln!(out, "{} passages, {bytes} bytes", passages.len())?;
    let mut measure = |name: &str, work: &dyn Fn(&str) -> usize| -> io::Result<()> {
        let began = Instant::now();
        let count: usize = passages.iter().map(|passage| work(passage)).sum();
        let seconds = began.elapsed().as_secs_f64();
        let speed = bytes as f64 / seconds / 1e6;
        writeln!(out, "{name}: {count} items, {speed:.1} MB/s")
    };
    measure("split_passages", &|text| split_passages(text, TextKind::Plain).len())?;
    measure("tokenize", &|text| tokenize(text).len())?;
    measure("dictionary_words", &|text| dictionary_words(text).len())?;
    measure("spelling_words", &|text| spelling_words(text).count())?;
    measure("detect_language", &|text| usize::from(analysis::detect_language(text).is_some()))
}
