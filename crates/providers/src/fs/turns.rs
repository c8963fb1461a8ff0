//! Who reads which folder just now?
//!
//! Ten askers do not read one large folder ten times: the first does, the others wait, without a
//! thread, and then find its names in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

use super::path::Local;

/// The folders that are being read.
#[derive(Default)]
pub(super) struct Turns(Mutex<HashMap<Vec<u8>, Arc<Semaphore>>>);

/// The reading of one folder, over when dropped.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    path: Vec<u8>,
}

/// Somebody else who reads a folder.
pub(super) struct Others(Arc<Semaphore>);

impl Turns {
    /// The turn for the folder at `path`, unless others have it.
    pub(super) fn take(&self, path: &Local) -> Result<Turn<'_>, Others> {
        let mut turns = self.lock();
        if let Some(others) = turns.get(path.as_bytes()) {
            return Err(Others(others.clone()));
        }
        let path = path.as_bytes().to_vec();
        turns.insert(path.clone(), Arc::new(Semaphore::new(0)));
        Ok(Turn { turns: self, path })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Arc<Semaphore>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.turns.lock().remove(&self.path) {
            waiting.close();
        }
    }
}

impl Others {
    /// Waits until they are done.
    pub(super) async fn done(self) {
        // Nothing is ever to be had here; asking ends when the turn does.
        let _closed = self.0.acquire().await;
    }
}
