//! Hostile texts of growing size: analysis takes time that grows with their size, not its square.
//!
//! CPU time is compared, not the clock: that of a text with that of one four times as long.

use analysis::{
    TextKind, detect_language, dictionary_words, fold, spelling_words, split_passages, tokenize,
};

/// The size of the shorter text.
const SIZE: usize = if cfg!(debug_assertions) { 24 << 10 } else { 2 << 20 };
/// How many times longer the longer text is.
const GROWTH: usize = 4;
/// The longer text may take this many times the time of the shorter one. The square takes 16 times.
const MAX_RATIO: f64 = 10.0;
/// Below this many nanoseconds the ticks of the clock are too coarse to tell.
const LEAST_TIME: u64 = 60_000_000;
/// How often a text is analysed before its time counts as too long.
const TRIES: usize = 5;

const FILLINGS: [&str; 28] = [
    "a",
    "A",
    "aB",
    "a_",
    "a-",
    "_",
    "a'",
    "1.",
    "a ",
    "\n",
    " \n",
    "\u{301}",
    "e\u{301}",
    "字",
    "々",
    "ー",
    "ア・",
    "ｶﾞ",
    "字\n ",
    "あ",
    "한",
    "ไ",
    "🚀",
    "# a\n",
    "```\n",
    "/* a\n",
    "fn a() {\n",
    "NAME\n a\n\n",
];

/// The CPU time of this thread, in nanoseconds.
fn cpu_time() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    let time = told.split_whitespace().next().and_then(|word| word.parse().ok());
    time.expect("the first word is a number")
}

fn assert_linear(what: &str, work: impl Fn(&str)) {
    for filling in FILLINGS {
        let text = |size: usize| filling.repeat(size / filling.len());
        let (short, long) = (text(SIZE), text(GROWTH * SIZE));
        let time = |text: &str| {
            let began = cpu_time();
            work(text);
            cpu_time() - began
        };
        let (mut short_time, mut long_time) = (u64::MAX, u64::MAX);
        let is_linear = (0..TRIES).any(|_| {
            short_time = short_time.min(time(&short));
            long_time = long_time.min(time(&long));
            long_time <= ((short_time as f64 * MAX_RATIO) as u64).max(LEAST_TIME)
        });
        assert!(
            is_linear,
            "{what} of {filling:?}: {short_time} ns, four times the text {long_time} ns"
        );
    }
}

#[test]
fn texts_are_divided_into_words_in_linear_time() {
    assert_linear("tokenize", |text| {
        tokenize(text);
    });
    assert_linear("dictionary_words", |text| {
        dictionary_words(text);
    });
    assert_linear("spelling_words", |text| {
        let _ = spelling_words(text).count();
    });
    assert_linear("fold", |text| {
        fold(text);
    });
    assert_linear("detect_language", |text| {
        detect_language(text);
    });
}

#[test]
fn texts_are_divided_into_passages_in_linear_time() {
    for kind in [TextKind::Markdown, TextKind::Code, TextKind::Plain] {
        assert_linear("split_passages", |text| {
            split_passages(text, kind);
        });
    }
}
