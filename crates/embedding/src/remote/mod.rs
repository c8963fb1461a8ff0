//! Remote embedder: asks a server with OpenAI's embeddings API (Ollama, vLLM and others).
//!
//! Texts go in batches; overload is answered by waiting; a bound limits what may be spent.

mod batch;
mod cost;
mod http;
mod options;
mod wire;

use std::time::Duration;

use async_trait::async_trait;
use tokio::time;

use self::cost::EmbedCostMeter;
pub use self::cost::{CostBound, EmbedCost};
use self::http::{HttpEndpoint, HttpReply};
pub use self::options::RemoteOptions;
use crate::embedder::{EmbedKind, Embedder, truncate};
use crate::error::EmbedError;
use crate::model::{MAX_DIMENSIONS, normalize};

/// Longest wait that a server may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// A model behind an address.
pub struct RemoteEmbedder {
    options: RemoteOptions,
    endpoint: HttpEndpoint,
    fingerprint: String,
    dimensions: usize,
    meter: EmbedCostMeter,
}

impl RemoteEmbedder {
    /// Makes an embedder. If the options do not name the dimensions, a short request finds them.
    pub async fn connect(options: RemoteOptions) -> Result<Self, EmbedError> {
        options.check()?;
        let endpoint = HttpEndpoint::new(&options.url, &options.headers)?;
        let meter = EmbedCostMeter::new(options.cost_bound);
        let mut remote =
            Self { endpoint, fingerprint: String::new(), dimensions: 0, meter, options };
        remote.dimensions = match remote.options.dimensions {
            Some(dimensions) => dimensions,
            None => remote.find_dimensions().await?,
        };
        remote.fingerprint = remote.options.fingerprint(remote.dimensions);
        Ok(remote)
    }

    /// What the embedder has sent so far.
    pub fn cost(&self) -> EmbedCost {
        self.meter.cost()
    }

    async fn find_dimensions(&self) -> Result<usize, EmbedError> {
        let vectors = self.request(&["dimensions"], None).await?;
        Ok(vectors.first().map_or(0, Vec::len))
    }

    /// Embeds one batch, and tries again while the server is overloaded.
    async fn request(
        &self,
        texts: &[&str],
        dimensions: Option<usize>,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.meter.charge(texts)?;
        let body = wire::encode_request(&self.options.model, texts);
        let most = wire::max_answer_bytes(texts.len(), dimensions.unwrap_or(MAX_DIMENSIONS));
        let mut failures = 0;
        loop {
            let posted = time::timeout(self.options.timeout, self.endpoint.post(&body, most)).await;
            let reply = match posted {
                Ok(reply) => reply?,
                Err(_) => HttpReply::Unavailable {
                    why: format!("no answer within {:?}", self.options.timeout),
                    retry_after: None,
                },
            };
            match reply {
                HttpReply::Answer(bytes) => {
                    let answer = wire::decode_answer(&bytes, texts.len(), dimensions)?;
                    self.meter.add_tokens(answer.tokens);
                    return Ok(answer.vectors);
                }
                HttpReply::Unavailable { why, retry_after } => {
                    failures += 1;
                    let delay = retry_delay(&self.options, failures, &why, retry_after)?;
                    tracing::debug!(%why, failures, "the embeddings server is asked again");
                    time::sleep(delay).await;
                }
            }
        }
    }
}

/// How long to wait before the next attempt: as long as the server asks, or longer each time.
fn retry_delay(
    options: &RemoteOptions,
    failures: u32,
    why: &str,
    retry_after: Option<Duration>,
) -> Result<Duration, EmbedError> {
    if failures >= options.max_attempts {
        return Err(EmbedError::Unavailable(format!("{why} (tried {failures} times)")));
    }
    let delay = options.backoff.jittered_delay(failures);
    match retry_after {
        Some(wait) if wait > MAX_RETRY_AFTER => {
            let seconds = wait.as_secs();
            Err(EmbedError::Unavailable(format!("{why}; it asks to wait {seconds} s")))
        }
        Some(wait) => Ok(wait.max(delay)),
        None => Ok(delay),
    }
}

#[async_trait]
impl Embedder for RemoteEmbedder {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    async fn embed(&self, texts: &[String], kind: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        let prefix = match kind {
            EmbedKind::Query => &self.options.query_prefix,
            EmbedKind::Passage => &self.options.passage_prefix,
        };
        // Servers refuse empty texts, and they mean nothing: they stay zero.
        let mut vectors = vec![vec![0.0; self.dimensions]; texts.len()];
        let prepared = texts.iter().enumerate().filter(|(_, text)| !text.trim().is_empty());
        let prepared: Vec<(usize, String)> = prepared
            .map(|(index, text)| {
                (index, format!("{prefix}{}", truncate(text, self.options.max_text_bytes)))
            })
            .collect();
        for batch in batch::split(&prepared, &self.options) {
            let batch_texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
            let answer = self.request(&batch_texts, Some(self.dimensions)).await?;
            for ((index, _), mut vector) in batch.iter().zip(answer) {
                normalize(&mut vector);
                vectors[*index] = vector;
            }
        }
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{RemoteOptions, retry_delay};

    #[test]
    fn the_wait_is_at_least_what_the_server_asks_and_ends_at_the_last_attempt() {
        let options = RemoteOptions::new("http://localhost", "m");
        let seconds = Duration::from_secs;
        let delay = |failures, asked| retry_delay(&options, failures, "busy", asked);
        assert!(delay(1, None).unwrap() >= Duration::from_millis(375));
        assert!(delay(4, None).unwrap() >= seconds(3));
        assert_eq!(delay(1, Some(seconds(7))).unwrap(), seconds(7));
        assert!(delay(4, Some(seconds(0))).unwrap() >= seconds(3));
        let refused = delay(1, Some(seconds(3_600))).unwrap_err();
        assert!(refused.is_temporary() && refused.to_string().contains("3600 s"), "{refused}");
        let refused = delay(5, None).unwrap_err().to_string();
        assert!(refused.contains("busy") && refused.contains("5 times"), "{refused}");
    }
}
