//! The tokenizer of a model, with bounds: on its file, on a text, and on what it may do to a text.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
use tokenizers::{NormalizedString, Normalizer as _, NormalizerWrapper, Tokenizer};

use super::files::{MAX_TOKENIZER_BYTES, ModelFiles, file_name, read_bounded};
use crate::embedder::truncate;
use crate::error::EmbedError;

/// How many tokens of a text count.
pub(super) const MAX_TOKENS: usize = 2_048;
/// How many bytes of a text the tokenizer sees.
pub(super) const MAX_TEXT_BYTES: usize = 16 << 10;
/// How much longer normalization may make a text.
const MAX_GROWTH: usize = 64;
/// Longest text that a normalizer may insert.
const MAX_INSERTED_BYTES: usize = 256;

/// A tokenizer that gets bounded texts, and whose panics are errors.
pub(super) struct BoundedTokenizer {
    tokenizer: Tokenizer,
    /// The token for what the vocabulary lacks; it has no meaning and does not count.
    unknown: Option<u32>,
}

/// The part of `tokenizer.json` that names the unknown token.
#[derive(Deserialize)]
struct TokenizerOutline {
    model: TokenizerModelOutline,
}

#[derive(Deserialize)]
struct TokenizerModelOutline {
    unk_token: Option<String>,
    unk_id: Option<u32>,
}

impl BoundedTokenizer {
    pub(super) fn load(
        files: &ModelFiles,
        hasher: &mut blake3::Hasher,
    ) -> Result<Self, EmbedError> {
        let name = file_name(&files.tokenizer);
        let bytes = read_bounded(&files.tokenizer, MAX_TOKENIZER_BYTES)?;
        hasher.update(&bytes);
        let broken = |why: String| EmbedError::broken(&name, why);
        // Read first: its messages on broken JSON have a line and a column.
        let outline: TokenizerOutline =
            serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        let loaded = catch_unwind(AssertUnwindSafe(|| Tokenizer::from_bytes(&bytes)));
        let mut tokenizer = loaded
            .map_err(|_| broken("it cannot be loaded".to_owned()))?
            .map_err(|error| broken(error.to_string()))?;
        // A model's file may carry settings of its training; padding would count as content.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| broken(error.to_string()))?;
        if let Some(normalizer) = tokenizer.get_normalizer() {
            check_growth(normalizer).map_err(broken)?;
        }
        let named = outline.model.unk_token.and_then(|token| tokenizer.token_to_id(&token));
        Ok(Self { tokenizer, unknown: named.or(outline.model.unk_id) })
    }

    /// The largest token id, if there are tokens.
    pub(super) fn max_id(&self) -> Option<u32> {
        self.tokenizer.get_vocab(true).into_values().max()
    }

    /// The known tokens of a text's start.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let text = truncate(text, MAX_TEXT_BYTES);
        let encoded = catch_unwind(AssertUnwindSafe(|| self.tokenizer.encode_fast(text, false)));
        let encoding = match encoded {
            Ok(Ok(encoding)) => encoding,
            Ok(Err(error)) => return Err(EmbedError::Tokenizer(error.to_string())),
            Err(_) => return Err(EmbedError::Tokenizer("it panics on a text".to_owned())),
        };
        let known = encoding.get_ids().iter().filter(|id| Some(**id) != self.unknown);
        Ok(known.take(MAX_TOKENS).copied().collect())
    }
}

/// Refuses a normalizer that makes texts very long: it would take all memory.
///
/// Runs each step over a sample, so that a chain of doublings ends at the first that is too long.
fn check_growth(normalizer: &NormalizerWrapper) -> Result<(), String> {
    let mut steps = Vec::new();
    flatten(normalizer, &mut steps);
    let sample: String = ('\u{1}'..='\u{ff}').chain("あア漢한я\u{2581}\u{3000}".chars()).collect();
    let limit = sample.len() * MAX_GROWTH;
    let mut text = NormalizedString::from(sample);
    for step in steps {
        let inserted = match step {
            NormalizerWrapper::Replace(replace) => replace.content.len(),
            NormalizerWrapper::Prepend(prepend) => prepend.prepend.len(),
            _ => 0,
        };
        if inserted > MAX_INSERTED_BYTES {
            return Err("its normalizer inserts a long text".to_owned());
        }
        match catch_unwind(AssertUnwindSafe(|| step.normalize(&mut text))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(error.to_string()),
            Err(_) => return Err("its normalizer panics".to_owned()),
        }
        if text.get().len() > limit {
            return Err(format!("its normalizer makes texts more than {MAX_GROWTH} times longer"));
        }
    }
    Ok(())
}

fn flatten<'a>(normalizer: &'a NormalizerWrapper, steps: &mut Vec<&'a NormalizerWrapper>) {
    match normalizer {
        // The JSON parser bounds how deep sequences nest.
        NormalizerWrapper::Sequence(sequence) => {
            sequence.as_ref().iter().for_each(|step| flatten(step, steps));
        }
        step => steps.push(step),
    }
}
