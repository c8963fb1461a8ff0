//! Line-based regular expression of `resources_grep`.
//!
//! No match spans a line break, so many lines are searched at once instead of line by line. The
//! pattern's text, its nesting, its compiled form and the caches of a search are bounded.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
    Repetition,
};
use resource::{Error, Result};

/// Maximum length of a pattern. Its parsed form may be 3,000 times as long: `\w` has 770 ranges.
const MAX_PATTERN_BYTES: usize = 4 << 10;
const MAX_NESTING: u32 = 100;
/// Maximum size of the compiled pattern, and of the states that a search remembers.
const MAX_COMPILED_BYTES: usize = 1 << 20;
const MAX_CACHE_BYTES: usize = 2 << 20;
/// How many steps of the automaton one search may take at worst, a step being one state at one
/// byte: in a slice, and where it cannot be cut into slices.
const MAX_SLICE_STEPS: usize = 1 << 23;
const MAX_UNCUT_STEPS: usize = 1 << 28;

/// A compiled pattern.
pub(super) struct LineRegex {
    regex: Regex,
    /// The same for a line that is too long for one slice.
    lazy_dfa: DFA,
    states: usize,
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
        let lazy_dfa = build_lazy_dfa(nfa).map_err(too_large)?;
        let config = meta::Config::new()
            .nfa_size_limit(Some(MAX_COMPILED_BYTES))
            .hybrid_cache_capacity(MAX_CACHE_BYTES)
            .which_captures(WhichCaptures::Implicit);
        let regex = meta::Builder::new().configure(config).build_from_hir(&hir);
        Ok(Self { regex: regex.map_err(too_large)?, lazy_dfa, states })
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
        self.regex.search_half(&input).map(|half| half.offset())
    }

    /// The start of the first match in `range` of `text`.
    pub(super) fn first_match_start(&self, text: &[u8], range: Range<usize>) -> Option<usize> {
        self.regex.find(Input::new(text).range(range)).map(|found| found.start())
    }
}

fn build_lazy_dfa(nfa: NFA) -> std::result::Result<DFA, Box<dyn std::error::Error + Send + Sync>> {
    let config = dfa::Config::new()
        .unicode_word_boundary(true)
        .cache_capacity(MAX_CACHE_BYTES)
        .skip_cache_capacity_check(true);
    Ok(dfa::Builder::new().configure(config).build_from_nfa(nfa)?)
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
    use super::LineRegex;

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
