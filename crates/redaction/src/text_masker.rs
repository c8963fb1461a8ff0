//! Masks a stream of text by shapes alone, in bounded memory.

use std::sync::Arc;

use crate::judge::Judge;
use crate::shapes::{Ending, LOOK_AHEAD, LOOK_BEHIND, ScanEvent, ScanInput, ShapeScanner};

/// How much text is gathered before it is scanned, so that small chunks are not scanned again and
/// again.
const SCAN_BYTES: usize = 4 * LOOK_AHEAD;

/// Masks chunks of text as they pass. Joined, its output is what masking the whole text gives.
#[derive(Default)]
pub struct TextMasker {
    judge: Arc<Judge>,
    /// The end of what was scanned, and all that was not.
    held: String,
    /// How much of it was scanned.
    scanned: usize,
    scanner: ShapeScanner,
    has_masked: bool,
}

impl TextMasker {
    pub(crate) fn new(judge: Arc<Judge>) -> Self {
        Self { judge, ..Self::default() }
    }

    /// Takes a chunk; returns masked text that no later chunk can change.
    pub fn push(&mut self, chunk: &str) -> String {
        self.held.push_str(chunk);
        if self.held.len() - self.scanned < SCAN_BYTES {
            return String::new();
        }
        let masked = self.scan(Ending::Open);
        let behind = self.scanned.saturating_sub(LOOK_BEHIND);
        let forgotten = self.held.floor_char_boundary(behind);
        self.held.drain(..forgotten);
        self.scanner.forget(forgotten);
        self.scanned -= forgotten;
        masked
    }

    /// Ends the text; returns the rest of it, masked.
    pub fn finish(&mut self) -> String {
        self.scan(Ending::Final)
    }

    /// Whether anything of the text so far was masked.
    pub fn has_masked(&self) -> bool {
        self.has_masked
    }

    fn scan(&mut self, ending: Ending) -> String {
        let (held, mut masked) = (&self.held, String::new());
        let mut has_masked = false;
        let emit = &mut |event: ScanEvent| match event {
            ScanEvent::Plain(range) => masked.push_str(&held[range]),
            ScanEvent::Secret(shape) => {
                has_masked = true;
                masked.push_str(&shape.mask);
            }
        };
        let input = ScanInput { text: held, from: self.scanned, ending };
        self.scanned = self.scanner.advance(&input, &self.judge.writer, emit);
        self.has_masked |= has_masked;
        masked
    }
}
