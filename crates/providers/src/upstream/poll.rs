//! Polling of watched resources whose server sends no notifications.
//!
//! Polls have jitter, so that they do not synchronize, and back off while the server fails (K-09).

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Weak};
use std::time::Duration;

use resource::{Change, ErrorKind, Result, Uri};
use tokio::task::AbortHandle;
use tokio::time;

use super::Inner;
use super::fault::fault_of;

/// Failures double the wait at most this many times.
const DOUBLED: u32 = 5;

/// The hash of the current content; `None` if the resource does not exist.
type Mark = Option<blake3::Hash>;

/// Reads the resource once, then starts a task that polls it about every `every`.
pub(super) async fn begin(inner: &Arc<Inner>, uri: &Uri, every: Duration) -> Result<AbortHandle> {
    inner.stat(uri).await?;
    let mark = look(inner, uri).await?;
    let watch = Watched { inner: Arc::downgrade(inner), uri: uri.clone(), every, mark };
    Ok(tokio::spawn(watch.watch()).abort_handle())
}

struct Watched {
    inner: Weak<Inner>,
    uri: Uri,
    every: Duration,
    mark: Mark,
}

impl Watched {
    async fn watch(mut self) {
        let mut failures = 0;
        loop {
            time::sleep(jittered(self.every.saturating_mul(1 << failures))).await;
            let Some(inner) = self.inner.upgrade() else { return };
            let Ok(_turn) = inner.looking.acquire().await else { return };
            let mark = match look(&inner, &self.uri).await {
                Ok(mark) => mark,
                Err(error) => {
                    tracing::debug!(cause = ?error, "polling a resource failed");
                    failures = (failures + 1).min(DOUBLED);
                    continue;
                }
            };
            failures = 0;
            if mark != self.mark {
                self.mark = mark;
                let uri = self.uri.clone();
                let gone = mark.is_none();
                inner.changed(&if gone { Change::Removed(uri) } else { Change::Updated(uri) });
            }
        }
    }
}

/// The hash of the current content of `uri`, bypassing the caches.
async fn look(inner: &Arc<Inner>, uri: &Uri) -> Result<Mark> {
    if inner.abilities().describes {
        match inner.client.metadata(uri).await {
            // A description without an etag does not show whether the content changed.
            Ok((resource, _)) if resource.etag.is_some() => {
                return Ok(resource.etag.map(|etag| blake3::hash(etag.as_bytes())));
            }
            Ok(_) => {}
            Err(failure) if failure.is_about_method() => {}
            Err(failure) if failure.is_about_missing() => return Ok(None),
            Err(failure) => return Err(fault_of(failure, uri)),
        }
    }
    match inner.reopen(uri).await {
        Ok(copy) => Ok(Some(copy.mark())),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Adds jitter: between 75 % and 125 % of `wait`.
fn jittered(wait: Duration) -> Duration {
    let luck = RandomState::new().hash_one(0) % 1024;
    wait.mul_f64(0.75 + luck as f64 / 2048.0)
}
