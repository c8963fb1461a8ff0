//! Tests of change notifications: every change is reported, and nothing else.

mod files;
mod folders;
pub(in crate::fs) mod limits;
mod rules;
mod shortage;

use std::collections::HashSet;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt as _;
use resource::{Change, Error, Interest, Uri, Watch as _};

use super::{ServedFs, TESTED_FILE_API, uri};
use crate::fs::FileApi;

/// A stream of changes, read with a timeout.
pub(in crate::fs) struct ChangeReader(pub(in crate::fs) Pin<Box<dyn Stream<Item = Change> + Send>>);

impl ServedFs {
    /// Asserts that inotify watches so many folders; none where changes are found by polling.
    fn assert_watched(&self, folders: usize) {
        let expected = if TESTED_FILE_API == FileApi::Native { folders } else { 0 };
        let inotify = self.0.root.rescan_loop.open_inotify();
        assert_eq!(inotify.map_or(0, |inotify| inotify.watch_count()), expected);
    }

    async fn try_subscribe(&self, interest: Interest) -> Result<ChangeReader, Error> {
        Ok(ChangeReader(self.0.watch(&testkit::local_context(), interest).await?))
    }

    pub(in crate::fs) async fn subscribe(&self, interest: Interest) -> ChangeReader {
        self.try_subscribe(interest).await.unwrap()
    }

    pub(in crate::fs) async fn subscribe_to(&self, text: &str) -> ChangeReader {
        self.subscribe(Interest::Resource(uri(text))).await
    }
}

impl ChangeReader {
    pub(in crate::fs) async fn next(&mut self) -> Change {
        let next = tokio::time::timeout(Duration::from_secs(10), self.0.next());
        next.await.expect("no change within ten seconds").expect("the stream ended")
    }

    /// Collects the changes up to and including `last`.
    pub(in crate::fs) async fn until(&mut self, last: &Change) -> Vec<Change> {
        let mut heard = Vec::new();
        loop {
            let change = self.next().await;
            let is_last = change == *last;
            heard.push(change);
            if is_last {
                return heard;
            }
        }
    }

    /// Waits until all of `changes` were reported, in any order.
    pub(in crate::fs) async fn all_of(&mut self, changes: impl IntoIterator<Item = Change>) {
        let mut missing: HashSet<Change> = changes.into_iter().collect();
        while !missing.is_empty() {
            missing.remove(&self.next().await);
        }
    }
}

pub(in crate::fs) fn updated(text: &str) -> Change {
    Change::Updated(uri(text))
}

pub(in crate::fs) fn removed(text: &str) -> Change {
    Change::Removed(uri(text))
}

fn about(change: &Change) -> Option<&Uri> {
    match change {
        Change::Updated(uri) | Change::Removed(uri) => Some(uri),
        Change::Listing | Change::Components(_) | Change::WithExtra(..) => None,
    }
}
