//! Hostile texts of growing size: masking takes time that grows with their size, not with its square.
//!
//! CPU time is compared, not the clock: that of a text with that of one four times as long. Built
//! with optimization, the texts have up to 4 MiB.

use redaction::Redactor;

use crate::properties::SYNTAXES;

/// The size of the shorter text.
const SIZE: usize = if cfg!(debug_assertions) { 24 << 10 } else { 1 << 20 };
/// How many times longer the longer text is.
const GROWTH: usize = 4;
/// The longer text may take this many times the time of the shorter one. The square takes 16 times.
const MAX_RATIO: f64 = 10.0;
/// Below this many nanoseconds the ticks of the clock are too coarse to tell.
const LEAST_TIME: u64 = 60_000_000;
/// How often a text is masked before its time counts as too long.
const TRIES: usize = 5;

/// What stands at the beginning, and what is repeated.
const SCALARS: [(&str, &str); 16] = [
    ("", "password="),
    ("", "password: "),
    ("password: ", "# a\n"),
    ("password: ", "a:\n"),
    ("password: |\n  ", "x\n"),
    ("", "a: |\n"),
    ("", "password: |\n a\n"),
    ("", "#password: |\n"),
    ("", "a = \"\"\"\n"),
    ("", "password=\""),
    ("", "A='x\n"),
    ("", "a=b\\\n"),
    ("", "<<EOF\n"),
    ("a = \"", "${\""),
    ("", "\\"),
    ("", "'"),
];
const NESTED: [(&str, &str); 14] = [
    ("", "{\"a\":"),
    ("", "{\"password\": \"x"),
    ("", "[a.b]\n"),
    ("", "a = {b = "),
    ("", "<password>x"),
    ("", "<a b=\"c\" "),
    ("", "<!-- <a> -->"),
    ("<!-- ", "<a>"),
    ("<a>", "]]>"),
    ("", "- - "),
    ("", "kind: Secret\ndata:\n  a: b\n---\n"),
    ("", "- name: x\n  value: y\n"),
    ("x: &a 1\n", "- &a *a\n"),
    ("", " a.yaml: |\n  b: c\n"),
];
const SHAPES: [(&str, &str); 12] = [
    ("", "eyJhbGciOiJIUzI1NiJ9."),
    ("", "-----BEGIN PRIVATE KEY-----\n"),
    ("-----BEGIN PRIVATE KEY-----\n", "q7Rk2Vx9Lm4Tz8Wb\n"),
    ("", "://a:b@"),
    ("", "://a:"),
    ("", "Server=x;Password=y;"),
    ("", "Authorization: Bearer "),
    ("", "ghp_a"),
    ("ghp_", "a"),
    ("", "[redacted "),
    ("", "user:pass@"),
    ("", "é"),
];

const WORDS: [(&str, &str); 7] = [
    ("", "password "),
    ("", "auth a:b "),
    ("A=1 ", "B=2 "),
    ("A=1 ", "B=\"2 "),
    ("", "a,\"b\"\"\","),
    ("name,password\n", "a,b\n"),
    ("", "\"\n"),
];

/// The CPU time of this thread, in nanoseconds.
fn cpu_time() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    let time = told.split_whitespace().next().and_then(|word| word.parse().ok());
    time.expect("the first word is a number")
}

fn text_of((start, filling): (&str, &str), size: usize) -> String {
    format!("{start}{}", filling.repeat(size / filling.len()))
}

/// Panics if `work` on the longer text takes much longer than it may, each time.
fn assert_linear(of: &str, filling: (&str, &str), work: impl Fn(&str)) {
    let (short, long) = (text_of(filling, SIZE), text_of(filling, GROWTH * SIZE));
    let time = |text: &str| {
        let began = cpu_time();
        work(text);
        cpu_time() - began
    };
    let (mut short_time, mut long_time) = (u64::MAX, u64::MAX);
    for _ in 0..TRIES {
        short_time = short_time.min(time(&short));
        long_time = long_time.min(time(&long));
        let limit = (short_time as f64 * MAX_RATIO) as u64;
        if long_time <= limit.max(LEAST_TIME) {
            return;
        }
    }
    panic!(
        "{of} of {filling:?}: {short_time} ns for {SIZE} bytes, {long_time} ns for 4 times that"
    );
}

fn assert_all_linear(fillings: &[(&str, &str)]) {
    let redactor = Redactor::default();
    for filling in fillings {
        for syntax in SYNTAXES {
            assert_linear(&format!("{syntax:?}"), *filling, |text| {
                redactor.mask(text, syntax);
            });
        }
        assert_linear("a stream", *filling, |text| {
            let mut masker = redactor.text_masker();
            // Short pieces, so that what is held back is looked at most often.
            for piece in text.as_bytes().chunks(1 << 10) {
                masker.push(&String::from_utf8_lossy(piece));
            }
            masker.finish();
        });
    }
}

#[test]
fn scalars_and_quotes_are_masked_in_linear_time() {
    assert_all_linear(&SCALARS);
}

#[test]
fn words_and_cells_are_masked_in_linear_time() {
    assert_all_linear(&WORDS);
}

#[test]
fn nested_texts_are_masked_in_linear_time() {
    assert_all_linear(&NESTED);
}

#[test]
fn shapes_are_masked_in_linear_time() {
    assert_all_linear(&SHAPES);
}
