//! Options of the remote embedder.

use std::fmt;
use std::time::Duration;

use machinery::Backoff;

use super::cost::CostBound;
use crate::error::EmbedError;
use crate::model::MAX_DIMENSIONS;

/// How to reach an embeddings server, and how much to ask of it.
#[derive(Clone)]
pub struct RemoteOptions {
    /// The server's address, such as `http://127.0.0.1:11434`; `/v1/embeddings` follows it.
    pub url: String,
    /// The name of the model at the server.
    pub model: String,
    /// Headers of every request, such as `authorization`. No message or log shows their values.
    pub headers: Vec<(String, String)>,
    /// How many numbers a vector has; the embedder asks the server if this is not given.
    pub dimensions: Option<usize>,
    /// What stands before every question, for models that were trained so.
    pub query_prefix: String,
    /// What stands before every passage.
    pub passage_prefix: String,
    /// Most texts of a request.
    pub batch_items: usize,
    /// Most bytes of the texts of a request; a single longer text is a request of its own.
    pub batch_bytes: usize,
    /// Where a longer text is cut off.
    pub max_text_bytes: usize,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How often a request is sent before it fails.
    pub max_attempts: u32,
    /// The waits between attempts, where the server asks for none.
    pub backoff: Backoff,
    /// How much may be sent.
    pub cost_bound: Option<CostBound>,
}

impl RemoteOptions {
    /// Options for a model at an address, with usual values for the rest.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            model: model.into(),
            headers: Vec::new(),
            dimensions: None,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            batch_items: 64,
            batch_bytes: 128 << 10,
            max_text_bytes: 16 << 10,
            timeout: Duration::from_secs(60),
            max_attempts: 5,
            backoff: Backoff { first: Duration::from_millis(500), max: Duration::from_secs(30) },
            cost_bound: None,
        }
    }

    pub(super) fn check(&self) -> Result<(), EmbedError> {
        let invalid = |why: &str| Err(EmbedError::Invalid(why.to_owned()));
        if self.model.is_empty() {
            return invalid("the embeddings model has no name");
        }
        if self.dimensions.is_some_and(|dimensions| !(1..=MAX_DIMENSIONS).contains(&dimensions)) {
            return invalid("the dimensions are not between 1 and 8192");
        }
        let least = [self.batch_items, self.batch_bytes, self.max_text_bytes];
        if least.contains(&0) || self.max_attempts == 0 || self.timeout.is_zero() {
            return invalid("a limit of the embeddings server is 0");
        }
        Ok(())
    }

    /// Identifies what the vectors of passages depend on.
    pub(super) fn fingerprint(&self, dimensions: usize) -> String {
        let dimensions = dimensions.to_string();
        let parts = [&self.url, &self.model, &self.passage_prefix, &dimensions];
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            // Lengths keep apart what stands in two neighbouring parts.
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        format!("remote-{}", &hasher.finalize().to_hex()[..32])
    }
}

impl fmt::Debug for RemoteOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("RemoteOptions")
            .field("url", &self.url)
            .field("model", &self.model)
            .field("headers", &names)
            .field("dimensions", &self.dimensions)
            .finish_non_exhaustive()
    }
}
