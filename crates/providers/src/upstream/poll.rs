//! Polling of watched resources whose server sends no notifications.
//!
//! Polls have jitter, so that they do not synchronize, and back off while the server fails (K-09).

use std::sync::{Arc, Weak};
use std::time::Duration;

use machinery::Backoff;
use resource::{Change, ErrorKind, Result, Uri};
use tokio::task::AbortHandle;
use tokio::time;

use super::Inner;
use super::error_mapping::resource_error;

/// The longest wait after failures, in intervals.
const MAX_WAIT_INTERVALS: u32 = 32;

/// The hash of the current content; `None` if the resource does not exist.
type PolledHash = Option<blake3::Hash>;

/// Reads the resource once, then starts a task that polls it about every `every`.
pub(super) async fn start_polling(
    inner: &Arc<Inner>,
    uri: &Uri,
    every: Duration,
) -> Result<AbortHandle> {
    inner.describe(uri).await?;
    let mark = current_hash(inner, uri).await?;
    let watch = PolledResource {
        inner: Arc::downgrade(inner),
        uri: uri.clone(),
        interval: every,
        last_hash: mark,
    };
    Ok(tokio::spawn(watch.run()).abort_handle())
}

struct PolledResource {
    inner: Weak<Inner>,
    uri: Uri,
    interval: Duration,
    last_hash: PolledHash,
}

impl PolledResource {
    async fn run(mut self) {
        let max = self.interval.saturating_mul(MAX_WAIT_INTERVALS);
        let waits = Backoff { first: self.interval, max };
        let mut failures: u32 = 0;
        loop {
            time::sleep(waits.jittered_delay(failures.saturating_add(1))).await;
            let Some(inner) = self.inner.upgrade() else { return };
            let Ok(_turn) = inner.poll_permits.acquire().await else { return };
            let mark = match current_hash(&inner, &self.uri).await {
                Ok(mark) => mark,
                Err(error) => {
                    tracing::debug!("polling a resource failed: {}", error.with_causes());
                    failures = failures.saturating_add(1);
                    continue;
                }
            };
            failures = 0;
            if mark != self.last_hash {
                self.last_hash = mark;
                let uri = self.uri.clone();
                let gone = mark.is_none();
                inner.apply_change(&if gone { Change::Removed(uri) } else { Change::Updated(uri) });
            }
        }
    }
}

/// The hash of the current content of `uri`, bypassing the caches.
async fn current_hash(inner: &Arc<Inner>, uri: &Uri) -> Result<PolledHash> {
    if inner.capabilities_or_none().has_metadata {
        match inner.client.metadata(uri).await {
            // A description without an etag does not show whether the content changed.
            Ok((resource, _)) if resource.etag.is_some() => {
                return Ok(resource.etag.map(|etag| blake3::hash(etag.as_bytes())));
            }
            Ok(_) => {}
            Err(failure) if failure.is_method_not_found() => {}
            Err(failure) if failure.is_resource_not_found() => return Ok(None),
            Err(failure) => return Err(resource_error(failure, uri)),
        }
    }
    match inner.fetch_content(uri).await {
        Ok(copy) => Ok(Some(copy.content_hash())),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
