//! What waits for one subscriber?
//!
//! A set, not a queue: a notice is a hint to read again, so ten changes of one resource are one
//! notice, and a subscriber that does not read costs at most one entry for each resource it
//! asked for. Whoever posts never waits.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use resource::{Change, Uri};
use tokio::sync::Notify;

/// A subscriber's end: what has changed since it last looked.
#[derive(Clone, Default)]
pub struct Mailbox {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    post: Mutex<Post>,
    arrived: Notify,
}

/// What has changed, each thing once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Post {
    /// Resources to read again.
    pub resources: BTreeSet<Uri>,
    /// Whether lists are to be fetched again.
    pub listing: bool,
}

impl Mailbox {
    /// Puts a change in.
    pub fn put(&self, change: Change) {
        let mut post = self.shared.post.lock().unwrap_or_else(PoisonError::into_inner);
        match change {
            Change::Updated(uri) | Change::Removed(uri) => drop(post.resources.insert(uri)),
            Change::Listing => post.listing = true,
        }
        drop(post);
        self.shared.arrived.notify_one();
    }

    /// Everything that has come since the last look; waits until there is something.
    pub async fn empty(&self) -> Post {
        loop {
            let arrived = self.shared.arrived.notified();
            let post = self.take();
            if post != Post::default() {
                return post;
            }
            arrived.await;
        }
    }

    fn take(&self) -> Post {
        std::mem::take(&mut *self.shared.post.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use resource::{Change, Uri};

    use super::Mailbox;

    fn uri(text: &str) -> Uri {
        Uri::parse(text).unwrap()
    }

    #[tokio::test]
    async fn many_changes_of_one_resource_are_one_notice() {
        let mailbox = Mailbox::default();
        for _ in 0..10_000 {
            mailbox.put(Change::Updated(uri("a:1")));
            mailbox.put(Change::Removed(uri("a:2")));
            mailbox.put(Change::Listing);
        }
        let post = mailbox.empty().await;
        assert_eq!(post.resources.into_iter().collect::<Vec<_>>(), [uri("a:1"), uri("a:2")]);
        assert!(post.listing);
    }

    #[tokio::test]
    async fn whoever_waits_is_woken_by_the_next_change() {
        let mailbox = Mailbox::default();
        let reader = mailbox.clone();
        let waiting = tokio::spawn(async move { reader.empty().await });
        tokio::task::yield_now().await;
        mailbox.put(Change::Updated(uri("a:1")));
        assert!(waiting.await.unwrap().resources.contains(&uri("a:1")));
    }
}
