//! Has a resource changed whose server does not tell?
//!
//! One looks now and then: never two at the same moment by agreement, and less often while the
//! server fails (K-09).

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Weak};
use std::time::Duration;

use resource::{Change, ErrorKind, Result, Uri};
use tokio::task::AbortHandle;
use tokio::time;

use super::Inner;
use super::fault::fault_of;

/// How often the wait is doubled at most.
const DOUBLED: u32 = 5;

/// What was found: a mark of the content, or that there is none.
type Mark = Option<blake3::Hash>;

/// Looks once, and from then on every now and then.
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
                    tracing::debug!(cause = ?error, "a look at a resource failed");
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

/// A mark of what `uri` is now, past all that is kept.
async fn look(inner: &Arc<Inner>, uri: &Uri) -> Result<Mark> {
    if inner.abilities().describes {
        match inner.client.metadata(uri).await {
            // A description without a mark of the content says nothing of changes.
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

/// About this long: between three quarters and five quarters of it.
fn jittered(wait: Duration) -> Duration {
    let luck = RandomState::new().hash_one(0) % 1024;
    wait.mul_f64(0.75 + luck as f64 / 2048.0)
}
