//! Single flight for folder scans.
//!
//! When several requests need the same large folder, the first one scans it. The others wait
//! without a thread and then find its names in the cache.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Semaphore;

use super::path::LocalPath;

/// The scans in progress, by path.
#[derive(Default)]
pub(super) struct ScanFlights(Mutex<HashMap<Vec<u8>, Arc<Semaphore>>>);

/// A scan in progress. Dropping it wakes those that wait.
pub(super) struct ScanInProgress<'a> {
    flights: &'a ScanFlights,
    path: Vec<u8>,
}

/// A wait for another request's scan.
pub(super) struct ScanWaiter(Arc<Semaphore>);

impl ScanFlights {
    /// Starts the scan of the folder at `path`; an error if another request is scanning it.
    pub(super) fn start(&self, path: &LocalPath) -> Result<ScanInProgress<'_>, ScanWaiter> {
        let mut turns = self.lock();
        if let Some(others) = turns.get(path.as_bytes()) {
            return Err(ScanWaiter(others.clone()));
        }
        let path = path.as_bytes().to_vec();
        turns.insert(path.clone(), Arc::new(Semaphore::new(0)));
        Ok(ScanInProgress { flights: self, path })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Arc<Semaphore>>> {
        self.0.lock()
    }
}

impl Drop for ScanInProgress<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.flights.lock().remove(&self.path) {
            waiting.close();
        }
    }
}

impl ScanWaiter {
    /// Waits until the scan ends.
    pub(super) async fn wait(self) {
        // The semaphore has no permits; `acquire` returns when the scan closes it.
        let _closed = self.0.acquire().await;
    }
}
