//! Runs of scripts without spaces: collected as normalized characters, then folded in place.

use unicode_normalization::UnicodeNormalization;

use super::kanji_forms::new_form;
use super::letters::is_ignorable;

/// The most characters of one run. A longer run is divided.
const MAX_RUN: usize = 1024;
/// The most bytes of indentation after a line break inside of a run.
const MAX_INDENT: usize = 80;
const LONG_VOWEL: char = 'ー';

/// A character of a run, with the bytes of the original text that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunChar {
    pub(crate) ch: char,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The script in the original text.
    pub(crate) script: Script,
}

/// The scripts whose words no spaces divide, and Hangul, whose particles follow without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    Han,
    Hiragana,
    Katakana,
    Hangul,
    /// Thai, Lao, Khmer, Burmese.
    SouthEastAsian,
}

/// What a line break means to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineBreaks {
    /// It ends the run.
    End,
    /// It is left out: a wrapped text has line breaks within words.
    Join,
}

/// The script of a character, `None` if words of its script stand between spaces.
pub(crate) fn script_of(c: char) -> Option<Script> {
    match c {
        '\0'..='\u{DFF}' => None,
        '\u{4E00}'..='\u{9FFF}' => Some(Script::Han),
        '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' => Some(Script::Hiragana),
        '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' => Some(Script::Katakana),
        '\u{AC00}'..='\u{D7FF}' => Some(Script::Hangul),
        '\u{E01}'..='\u{E3A}'
        | '\u{E40}'..='\u{E4E}'
        | '\u{E81}'..='\u{ECD}'
        | '\u{EDC}'..='\u{EDF}'
        | '\u{1000}'..='\u{103F}'
        | '\u{1050}'..='\u{108F}'
        | '\u{1780}'..='\u{17D3}' => Some(Script::SouthEastAsian),
        '\u{3005}'..='\u{3007}'
        | '\u{303B}'
        | '\u{2E80}'..='\u{2FDF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}'
        | '\u{3105}'..='\u{312F}'
        | '\u{337B}'..='\u{337F}' => Some(Script::Han),
        '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9D}' | '\u{3300}'..='\u{3357}' => {
            Some(Script::Katakana)
        }
        '\u{1100}'..='\u{11FF}'
        | '\u{3131}'..='\u{318E}'
        | '\u{A960}'..='\u{A97C}'
        | '\u{FFA1}'..='\u{FFDC}' => Some(Script::Hangul),
        _ => None,
    }
}

/// Collects the run that starts at `at` and returns its end.
pub(crate) fn collect_run(
    text: &str,
    at: usize,
    line_breaks: LineBreaks,
    run: &mut Vec<RunChar>,
) -> usize {
    let mut at = at;
    while run.len() < MAX_RUN
        && let Some(c) = text[at..].chars().next()
    {
        if let Some(script) = script_of(c) {
            at = push_cluster(text, at, script, run);
            continue;
        }
        let rest = &text[at + c.len_utf8()..];
        let gap = match c {
            '・' | '･' if followed_by(rest, Script::Katakana) => c.len_utf8(),
            '\n' | '\r' | ' ' if line_breaks == LineBreaks::Join => match wrapped_line(text, at) {
                Some(gap) if run.last().is_some_and(|last| last.script != Script::Hangul) => gap,
                _ => break,
            },
            c if is_ignorable(c) => c.len_utf8(),
            _ => break,
        };
        at += gap;
    }
    at
}

fn followed_by(rest: &str, script: Script) -> bool {
    rest.chars().next().and_then(script_of) == Some(script)
}

/// The bytes between two lines of a wrapped run: one line break with white space around it.
fn wrapped_line(text: &str, at: usize) -> Option<usize> {
    let (mut line_breaks, mut length) = (0, 0);
    for byte in text.as_bytes()[at..].iter().take(MAX_INDENT) {
        match byte {
            b'\n' => line_breaks += 1,
            b' ' | b'\t' | b'\r' => {}
            _ => break,
        }
        length += 1;
    }
    let next = text.get(at + length..)?.chars().next().and_then(script_of)?;
    (line_breaks == 1 && next != Script::Hangul).then_some(length)
}

/// Appends the NFKC form of the character at `at` with the marks and jamo that belong to it.
fn push_cluster(text: &str, at: usize, script: Script, run: &mut Vec<RunChar>) -> usize {
    let mut chars = text[at..].chars();
    let Some(first) = chars.next() else { return at };
    let mut end = at + first.len_utf8();
    let mut last = first;
    for c in chars.take(4) {
        if !joins(last, c) {
            break;
        }
        end += c.len_utf8();
        last = c;
    }
    let mut push = |ch: char| {
        let script = match script_of(ch) {
            Some(Script::Katakana) if ch == LONG_VOWEL => match run.last() {
                Some(previous) if previous.script == Script::Hiragana => Script::Hiragana,
                _ => Script::Katakana,
            },
            Some(script) => script,
            None => return,
        };
        run.push(RunChar { ch, start: at, end, script });
    };
    if last == first && end == at + first.len_utf8() && !is_compatibility(first) {
        if first == LONG_VOWEL {
            push(first);
        } else {
            run.push(RunChar { ch: first, start: at, end, script });
        }
    } else {
        text[at..end].nfkc().for_each(&mut push);
    }
    end
}

/// True if `c` belongs to the character before it.
fn joins(before: char, c: char) -> bool {
    match c {
        '\u{3099}' | '\u{309A}' | '\u{FF9E}' | '\u{FF9F}' => true,
        '\u{1160}'..='\u{11A7}' => ('\u{1100}'..='\u{115F}').contains(&before),
        '\u{11A8}'..='\u{11FF}' => {
            ('\u{1160}'..='\u{11A7}').contains(&before)
                || ('\u{AC00}'..='\u{D7A3}').contains(&before)
        }
        _ => false,
    }
}

/// True for characters that NFKC changes.
fn is_compatibility(c: char) -> bool {
    matches!(c, '\u{E33}' | '\u{EB3}' | '\u{EDC}' | '\u{EDD}' | '\u{2E80}'..='\u{2FDF}'
        | '\u{309F}' | '\u{30FF}' | '\u{3131}'..='\u{318E}' | '\u{3300}'..='\u{337F}'
        | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FFDC}' | '\u{2F800}'..='\u{2FA1F}')
}

/// Resolves iteration marks and replaces old kanji forms. Kana stay as they are.
pub(crate) fn resolve_marks(run: &mut [RunChar]) {
    let mut at = 0;
    while at < run.len() {
        match run[at].ch {
            '々' | '〻' => {
                let count = run[at..].iter().take_while(|c| matches!(c.ch, '々' | '〻')).count();
                for mark in at..at + count {
                    let source = mark.checked_sub(count).map(|source| run[source]);
                    if let Some(source) = source.filter(|c| c.script == Script::Han) {
                        run[mark].ch = source.ch;
                    }
                }
                at += count;
                continue;
            }
            'ゝ' | 'ヽ' | 'ゞ' | 'ヾ' if at > 0 => {
                let is_voiced = matches!(run[at].ch, 'ゞ' | 'ヾ');
                let source = run[at - 1];
                if matches!(source.script, Script::Hiragana | Script::Katakana) {
                    run[at].ch = if is_voiced { voiced(source.ch) } else { source.ch };
                }
            }
            c if run[at].script == Script::Han => run[at].ch = new_form(c),
            _ => {}
        }
        at += 1;
    }
}

fn voiced(c: char) -> char {
    [c, '\u{3099}'].into_iter().nfc().next().unwrap_or(c)
}

/// Folds a run in place: marks and old forms, hiragana, spellings of loan words, long vowels.
pub(crate) fn fold_run(run: &mut Vec<RunChar>) {
    resolve_marks(run);
    fold_kana(run);
}

/// Folds the kana of a run whose marks are resolved.
pub(crate) fn fold_kana(run: &mut Vec<RunChar>) {
    let (mut written, mut word) = (0usize, 0);
    for at in 0..run.len() {
        let mut c = run[at];
        let before = written.checked_sub(1).map(|last| run[last]);
        if before.is_none_or(|before| before.script != c.script) {
            written = drop_long_vowel(run, word, written);
            word = written;
        }
        if !matches!(c.script, Script::Hiragana | Script::Katakana) {
            run[written] = c;
            written += 1;
            continue;
        }
        c.ch = match c.ch {
            hiragana @ '\u{3041}'..='\u{3096}' => {
                char::from_u32(u32::from(hiragana) + 0x60).unwrap_or(hiragana)
            }
            other => other,
        };
        let previous = if written > word { Some(run[written - 1].ch) } else { None };
        match (previous, c.ch) {
            (Some('ヴ'), 'ァ' | 'ィ' | 'ェ' | 'ォ') => {
                let voiced = match c.ch {
                    'ァ' => 'バ',
                    'ィ' => 'ビ',
                    'ェ' => 'ベ',
                    _ => 'ボ',
                };
                run[written - 1].ch = voiced;
                run[written - 1].end = c.end;
                continue;
            }
            (Some('ウ'), 'ィ') => c.ch = 'イ',
            (Some('ウ'), 'ェ') => c.ch = 'エ',
            (Some('ウ'), 'ォ') => c.ch = 'オ',
            (Some('ェ'), 'イ') => c.ch = LONG_VOWEL,
            (_, 'ヂ') => c.ch = 'ジ',
            (_, 'ヅ') => c.ch = 'ズ',
            _ => {}
        }
        // Left over from a pair that did not come.
        if let Some('ヴ') = previous {
            run[written - 1].ch = 'ブ';
        }
        run[written] = c;
        written += 1;
    }
    written = drop_long_vowel(run, word, written);
    run.truncate(written);
    run.iter_mut().filter(|c| c.ch == 'ヴ').for_each(|c| c.ch = 'ブ');
}

/// Drops the long vowels at the end of the kana word `word..end`, and returns its new end.
///
/// Two kana must stay before them: キー is no キ.
fn drop_long_vowel(run: &mut [RunChar], word: usize, end: usize) -> usize {
    let vowels = run[word..end].iter().rev().take_while(|c| c.ch == LONG_VOWEL).count();
    let stays = end - vowels;
    if vowels == 0 || stays - word < 2 {
        return end;
    }
    run[stays - 1].end = run[end - 1].end;
    stays
}
