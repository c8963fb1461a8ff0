//! Change notifications for a folder, from inotify or polling.
//!
//! An event only says where to look. The reported change follows from comparing what is visible now
//! with the last snapshot.

mod gaze;
mod known;
mod memory;
mod one;

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_trait::async_trait;
use futures_core::Stream;
use resource::{
    Change, Condition, Context, Error, ErrorKind, Health, Interest, Result, State, Watch,
};

pub(super) use self::memory::Memory;

use super::effort::Effort;
use super::fault::{Fault, missing};
use super::locate::{Folder, Found};
use super::options::Watching;
use super::path::Local;
use super::site::Site;
use super::{Fs, asked};
use crate::vigil::{Desk, Feed, Heard, Left, Lookout, Party, enlist};

/// Most folders watched because a client listed them.
const MOST_LISTED: usize = 4_096;

/// The subscriptions to list changes.
#[derive(Default)]
pub(super) struct Readers(Mutex<Vec<Weak<Party<Memory>>>>);

#[async_trait]
impl Watch for Fs {
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let (memory, uri) = match &interest {
            Interest::Resource(uri) => (Memory::one(uri, asked(uri)?), Some(uri)),
            Interest::Listing => (Memory::listing(), None),
            Interest::Everything => (Memory::everything(), None),
            Interest::Offers(_) => {
                return Err(Error::new(ErrorKind::Unsupported, "a folder has no tools or prompts"));
            }
        };
        if self.site.watch == Watching::Off {
            return Err(Error::new(ErrorKind::Unsupported, "watching is off for this folder"));
        }
        // Subscribe first: events during the first scan are then checked after it.
        let (party, stories) = enlist(&self.site, memory);
        if !self.site.is_told() {
            self.site.desk.start_polling();
        }
        if interest == Interest::Listing {
            self.site.readers.add(&party);
        }
        let look = move |site: &Site, effort: &Effort| {
            effort.must_be_long()?;
            site.first_look(&party)
        };
        let done = self.labour(ctx, look).await;
        self.site.desk.wake();
        done.map_err(|fault| match (uri, fault) {
            (Some(uri), fault) => fault.about(uri),
            (None, Fault::Io(error)) => {
                Error::unavailable("the served folder cannot be read; try again later")
                    .caused_by(error)
            }
            (None, Fault::Said(error)) => error,
        })?;
        Ok(Box::pin(stories))
    }
}

impl Health for Fs {
    fn health(&self) -> Condition {
        let site = &self.site;
        if !site.is_told() {
            let words = format!("changes are found by polling every {:?}", site.desk.every());
            let looks = site.watch != Watching::Off;
            return Condition::new(State::Ready, looks.then_some(words));
        }
        let condition = match site.desk.polls() {
            Some(poll) => Condition::degraded(format!(
                "changes are found by polling every {poll:?}: inotify does not cover some folders"
            )),
            None => Condition::ready(),
        };
        Condition { since: site.desk.turned(), ..condition }
    }

    fn is_there(&self) -> bool {
        true
    }
}

impl Lookout for Site {
    type Memory = Memory;

    fn desk(&self) -> &Desk<Memory> {
        &self.desk
    }

    fn look(&self, memory: &mut Memory, heard: &Heard, feed: &Feed) -> Left {
        memory.look(self, heard, feed)
    }
}

impl Site {
    /// True if changes are detected with inotify.
    pub(super) fn is_told(&self) -> bool {
        self.watch == Watching::Auto && self.root.local
    }

    fn first_look(&self, party: &Party<Memory>) -> Result<(), Fault> {
        if party.memory().begin(self, &party.feed)? { Ok(()) } else { Err(missing().into()) }
    }

    /// Lets the subscriptions to list changes cover `folder`, which a client is about to list.
    pub(super) fn heed(&self, folder: &Folder, effort: &Effort) -> io::Result<()> {
        for party in self.readers.present() {
            let mut memory = at_hand(&party, effort)?;
            if memory.lacks(folder) {
                effort.must_be_long()?;
                if memory.heed(self, folder, &party.feed) {
                    self.desk.wake();
                }
            }
        }
        Ok(())
    }

    /// Lets the subscriptions to list changes cover everything, because a client is about to list
    /// it.
    pub(super) fn heed_all(&self, effort: &Effort) -> io::Result<()> {
        for party in self.readers.present() {
            let mut memory = at_hand(&party, effort)?;
            if memory.is_shallow() {
                effort.must_be_long()?;
                if memory.heed_all(self, &party.feed) {
                    self.desk.wake();
                }
            }
        }
        Ok(())
    }

    fn folder_at(&self, path: &Local) -> io::Result<Arc<Folder>> {
        match self.find(path)? {
            Found::Folder(folder) if folder.path == *path => Ok(folder),
            Found::Folder(_) | Found::File(_) => Err(missing()),
        }
    }
}

/// Locks the state of `party`. If it is in use, only work on a blocking thread waits for it.
fn at_hand<'a>(party: &'a Party<Memory>, effort: &Effort) -> io::Result<MutexGuard<'a, Memory>> {
    if let Ok(memory) = party.memory.try_lock() {
        return Ok(memory);
    }
    effort.must_be_long()?;
    Ok(party.memory())
}

impl Readers {
    fn add(&self, party: &Arc<Party<Memory>>) {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|party| party.strong_count() > 0);
        readers.push(Arc::downgrade(party));
    }

    fn present(&self) -> Vec<Arc<Party<Memory>>> {
        let readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readers.iter().filter_map(Weak::upgrade).collect()
    }
}
