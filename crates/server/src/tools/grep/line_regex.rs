//! Line-based regular expression of `resources_grep`.
//!
//! No match spans a line break, so many lines are searched at once instead of line by line. The
//! pattern's text, its nesting, its compiled form and the caches of a search are bounded, and
//! `held_bytes` counts them.

use std::ops::Range;

use parking_lot::Mutex;
use regex_automata::Input;
use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
    Repetition,
};
use resource::{Error, Result};

/// Maximum length of a pattern. Its parsed form may be 3,000 times as long: `\w` has 770 ranges.
const MAX_PATTERN_BYTES: usize = 4 << 10;
const MAX_NESTING: u32 = 100;
/// Maximum size of the compiled pattern, of which the search library makes several forms.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// How many bytes of states one lazy automaton remembers: so many times the size of its pattern,
/// between these bounds.
const CACHE_FACTOR: usize = 32;
const MIN_CACHE_BYTES: usize = 128 << 10;
const MAX_CACHE_BYTES: usize = 2 << 20;
/// How many lazy automata the search library makes of one pattern: forward, and two in reverse.
const SEARCH_AUTOMATA: usize = 3;
/// How many steps of the automaton one search may take at worst, a step being one state at one
/// byte: in a slice, and where it cannot be cut into slices.
const MAX_SLICE_STEPS: usize = 1 << 23;
const MAX_UNCUT_STEPS: usize = 1 << 28;

/// A compiled pattern.
pub(super) struct LineRegex {
    regex: Regex,
    /// The only cache of `regex`, whose own pool makes one for each thread. One call searches one
    /// slice at a time.
    cache: Mutex<meta::Cache>,
    /// The same for a line that is too long for one slice.
    lazy_dfa: DFA,
    states: usize,
    held_bytes: usize,
}

impl LineRegex {
    /// Compiles `pattern`; an error message names the position.
    pub(super) fn new(pattern: &str, ignore_case: bool) -> Result<Self> {
        let length = pattern.len();
        if length > MAX_PATTERN_BYTES {
            return Err(Error::invalid(format!(
                "pattern: {length} bytes are over the limit of {MAX_PATTERN_BYTES}; \
                 search for a part of it"
            )));
        }
        let mut parser = ParserBuilder::new()
            .case_insensitive(ignore_case)
            .multi_line(true)
            .crlf(true)
            .nest_limit(MAX_NESTING)
            .build();
        let hir = parser
            .parse(pattern)
            .map_err(|flaw| Error::invalid(syntax_error_message(pattern, &flaw)))?;
        let hir = exclude_line_breaks(hir)?;
        // Compiled first: the other forms are made only of what is within the bound.
        let config = thompson::Config::new()
            .nfa_size_limit(Some(MAX_COMPILED_BYTES))
            .which_captures(WhichCaptures::None);
        let nfa = thompson::Compiler::new().configure(config).build_from_hir(&hir);
        let nfa = nfa.map_err(too_large)?;
        let states = nfa.states().len();
        let nfa_bytes = nfa.memory_usage();
        let cache_bytes = (nfa_bytes * CACHE_FACTOR).clamp(MIN_CACHE_BYTES, MAX_CACHE_BYTES);
        let config = lazy_dfa_config(cache_bytes);
        let least = config.get_minimum_cache_capacity(&nfa).map_err(too_large)?;
        let lazy_dfa = dfa::Builder::new().configure(config).build_from_nfa(nfa);
        let lazy_dfa = lazy_dfa.map_err(too_large)?;
        let config = meta::Config::new()
            .nfa_size_limit(Some(MAX_COMPILED_BYTES))
            .hybrid_cache_capacity(cache_bytes)
            .which_captures(WhichCaptures::Implicit);
        let regex = meta::Builder::new().configure(config).build_from_hir(&hir);
        let regex = regex.map_err(too_large)?;
        let cache = regex.create_cache();
        let held_bytes = regex.memory_usage()
            + cache.memory_usage()
            + SEARCH_AUTOMATA * cache_bytes
            + nfa_bytes
            + cache_bytes.max(least);
        Ok(Self { regex, cache: Mutex::new(cache), lazy_dfa, states, held_bytes })
    }

    /// How many bytes the compiled forms hold, and their caches once they are full.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// How many bytes one slice may search, so that it is short whatever the text.
    pub(super) fn slice_bytes(&self) -> usize {
        (MAX_SLICE_STEPS / self.states).max(1)
    }

    /// How many bytes may be searched where the search cannot be cut into slices.
    pub(super) fn uncut_bytes(&self) -> usize {
        MAX_UNCUT_STEPS / self.states
    }

    /// The automaton for a line that is too long for one slice.
    pub(super) fn lazy_dfa(&self) -> &DFA {
        &self.lazy_dfa
    }

    /// The end of the first match in `range` of `text`.
    pub(super) fn first_match_end(&self, text: &[u8], range: Range<usize>) -> Option<usize> {
        let input = Input::new(text).range(range).earliest(true);
        let found = self.regex.search_half_with(&mut self.cache.lock(), &input);
        found.map(|half| half.offset())
    }

    /// The start of the first match in `range` of `text`.
    pub(super) fn first_match_start(&self, text: &[u8], range: Range<usize>) -> Option<usize> {
        let found = self.regex.search_with(&mut self.cache.lock(), &Input::new(text).range(range));
        found.map(|found| found.start())
    }
}

/// The configuration of the automaton for long lines.
fn lazy_dfa_config(cache_bytes: usize) -> dfa::Config {
    dfa::Config::new()
        .unicode_word_boundary(true)
        .cache_capacity(cache_bytes)
        .skip_cache_capacity_check(true)
}

fn too_large(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let words = format!(
        "pattern: too large when compiled, over the limit of {MAX_COMPILED_BYTES} bytes; \
         use fewer repetitions, or (?-u:…) for ASCII classes"
    );
    Error::invalid(words).caused_by(cause)
}

/// The message for a syntax error, with its position in characters.
fn syntax_error_message(pattern: &str, flaw: &regex_syntax::Error) -> String {
    let (why, span) = match flaw {
        regex_syntax::Error::Parse(flaw) => (flaw.kind().to_string(), flaw.span()),
        regex_syntax::Error::Translate(flaw) => (flaw.kind().to_string(), flaw.span()),
        _ => return format!("pattern: {flaw}"),
    };
    let before = pattern.get(..span.start.offset).unwrap_or_default().chars().count();
    let at = match pattern.get(span.start.offset..span.end.offset) {
        Some(part) if !part.is_empty() => format!("at character {} ({part:?})", before + 1),
        _ => format!("at character {}", before + 1),
    };
    format!("pattern: {why}, {at}")
}

/// Rewrites the pattern so that no part of it matches a line break.
fn exclude_line_breaks(hir: Hir) -> Result<Hir> {
    let all =
        |each: Vec<Hir>| each.into_iter().map(exclude_line_breaks).collect::<Result<Vec<Hir>>>();
    Ok(match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => {
            let words = "pattern: matches are single lines, so \\n cannot match; use ^ and $";
            return Err(Error::invalid(words));
        }
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(Look::Start) => Hir::look(Look::StartCRLF),
        HirKind::Look(Look::End) => Hir::look(Look::EndCRLF),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
            let sub = Box::new(exclude_line_breaks(*sub)?);
            Hir::repetition(Repetition { min, max, greedy, sub })
        }
        HirKind::Capture(capture) => exclude_line_breaks(*capture.sub)?,
        HirKind::Concat(each) => Hir::concat(all(each)?),
        HirKind::Alternation(each) => Hir::alternation(all(each)?),
    })
}

#[cfg(test)]
mod tests {
    use super::{LineRegex, MAX_CACHE_BYTES};

    fn flaw(pattern: &str) -> String {
        LineRegex::new(pattern, false).err().expect("it is refused").message.into_owned()
    }

    #[test]
    fn what_is_wrong_with_a_pattern_is_said_with_its_place() {
        for (pattern, words) in [
            ("日本(", "pattern: unclosed group, at character 3"),
            ("a**{", "at character 4"),
            ("[z-a]", "at character 2 (\"z-a\")"),
            (r"(a)\1", "backreferences are not supported"),
            ("(?=a)", "look-around"),
            (r"a\nb", "matches are single lines"),
            ("a\nb", "matches are single lines"),
            (r"(?-u:\xff)", "UTF-8"),
            (r"(\w{500}){500}", "too large"),
            (&*r"\w".repeat(200_000), "limit of 4096"),
            (&*r"\w".repeat(2_000), "too large"),
        ] {
            let told = flaw(pattern);
            assert!(told.starts_with("pattern: ") && told.contains(words), "{pattern}: {told}");
        }
        assert!(flaw(&"(".repeat(5_000)).len() < 200);
        let deep = format!("{}a{}", "(".repeat(200), ")".repeat(200));
        assert!(flaw(&deep).contains("nest"), "{}", flaw(&deep));
    }

    /// The library's own figures, after a search that fills the caches.
    #[test]
    fn what_a_pattern_holds_is_counted_with_its_full_caches() {
        let letter = |number: u64| b'a' + (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as u8;
        let text: Vec<u8> = (0..200_000).map(letter).collect();
        let held: Vec<usize> = ["a line", r"(?i)fo+.*bar", "(?-u:[a-m][a-y]{4000}[l-z])"]
            .map(|pattern| {
                let expression = LineRegex::new(pattern, false).expect("it is well");
                expression.first_match_end(&text, 0..text.len());
                expression.first_match_start(&text, 0..text.len());
                let real = expression.regex.memory_usage() + expression.cache.lock().memory_usage();
                assert!(real <= expression.held_bytes(), "{pattern}: {real}");
                expression.held_bytes()
            })
            .into();
        assert!(held[0] < 1 << 20 && held[1] < 1 << 20, "small patterns stay cheap: {held:?}");
        assert!(held[2] > 4 * MAX_CACHE_BYTES && held[2] < 16 << 20, "{held:?}");
    }

    #[test]
    fn no_match_reaches_over_the_end_of_a_line() {
        for pattern in [r"a\s+b", "a[^x]b", "(?s)a.b", r"a\W*b", r"(?-u:a[\x00-w]b)"] {
            let expression = LineRegex::new(pattern, false).expect("it is well");
            assert_eq!(expression.first_match_end(b"a\nb", 0..3), None, "{pattern}");
        }
        let edges = LineRegex::new(r"\Ab\z", false).expect("it is well");
        assert_eq!(edges.first_match_end(b"a\nb\r\nc", 0..6), Some(3));
    }
}
