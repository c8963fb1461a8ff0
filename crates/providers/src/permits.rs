//! Permits for work on blocking threads: a bound for one root or repository, and a share for each
//! principal.

use std::sync::Arc;
use std::time::Duration;

use machinery::{FairSemaphore, SharePermit};
use resource::{Error, Result};
use tokio::time::Instant;

/// How many jobs of one principal may wait.
const MAX_QUEUED: usize = 1024;

/// How long a job may wait. The time limit of the mount is shorter.
const MAX_WAIT: Duration = Duration::from_secs(3600);

/// Permits for `places` threads, of which one principal gets three quarters.
pub(crate) fn blocking_permits(places: usize) -> Arc<FairSemaphore> {
    Arc::new(FairSemaphore::new(places, places * 3 / 4, MAX_QUEUED))
}

/// The share of one principal.
#[derive(Clone)]
pub(crate) struct PrincipalPermits {
    pub(crate) all: Arc<FairSemaphore>,
    pub(crate) principal: Arc<str>,
}

impl PrincipalPermits {
    /// Waits for a permit.
    pub(crate) async fn acquire(&self) -> Result<SharePermit> {
        let permit = self.all.acquire(&self.principal, Instant::now() + MAX_WAIT).await;
        permit.map_err(|_| Error::unavailable("too much work waits for this disk; try again later"))
    }
}
