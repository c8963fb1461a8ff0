//! Resumable search through one long line, a few bytes at a time.
//!
//! It steps through a lazy DFA by hand, because a search of the regex library cannot be
//! interrupted. Each byte costs a step in a table or, at worst, a look at every state.

use std::ops::Range;

use machinery::WorkSignal;
use regex_automata::Input;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};

/// How many bytes are searched between two looks at the signal.
const STEP_BYTES: usize = 256;

/// A search in progress.
pub(super) struct LongLineSearch {
    cache: Box<Cache>,
    state: LazyStateID,
    at: usize,
    /// The line without its line break.
    pub(super) line: Range<usize>,
    /// The start of the next line.
    pub(super) next_line: usize,
}

/// How far a search came.
pub(super) enum LongLineStep {
    /// A match ends here.
    Found(usize),
    NotFound,
    /// The slice is over; the search goes on where it stopped.
    Paused,
    /// The DFA cannot decide: a Unicode word boundary in text that is not ASCII.
    Undecided,
}

impl LongLineSearch {
    /// Starts a search in `line` of `text`; `None` if the DFA cannot decide there.
    pub(super) fn new(
        dfa: &DFA,
        text: &[u8],
        line: Range<usize>,
        next_line: usize,
    ) -> Option<Self> {
        let mut cache = Box::new(dfa.create_cache());
        let input = Input::new(text).range(line.clone());
        let state = dfa.start_state_forward(&mut cache, &input).ok()?;
        Some(Self { cache, state, at: line.start, line, next_line })
    }

    /// Searches on until the slice is over.
    pub(super) fn resume(&mut self, dfa: &DFA, text: &[u8], signal: &WorkSignal) -> LongLineStep {
        loop {
            for _ in 0..STEP_BYTES {
                let is_end = self.at >= self.line.end;
                // A match is known one byte late, so the byte behind the line is looked at too.
                let next = match text.get(self.at) {
                    Some(byte) => dfa.next_state(&mut self.cache, self.state, *byte),
                    None => dfa.next_eoi_state(&mut self.cache, self.state),
                };
                let Ok(state) = next else { return LongLineStep::Undecided };
                if state.is_match() {
                    return LongLineStep::Found(self.at);
                }
                if state.is_quit() || state.is_unknown() {
                    return LongLineStep::Undecided;
                }
                if is_end || state.is_dead() {
                    return LongLineStep::NotFound;
                }
                self.state = state;
                self.at += 1;
            }
            if signal.is_over() {
                return LongLineStep::Paused;
            }
        }
    }
}
