//! How is the server?

use std::error::Error as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use client::State as Reached;
use resource::{Condition, Error, ErrorKind, Health, State};
use tokio::time::Instant;

use super::Upstream;

/// What went wrong since the server answered last, and since when it had been as it was then.
#[derive(Default)]
pub(super) struct Trouble(Mutex<Option<(Instant, String)>>);

impl Trouble {
    fn lock(&self) -> MutexGuard<'_, Option<(Instant, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It answered as it should.
    pub(super) fn is_over(&self) {
        *self.lock() = None;
    }

    /// It did not, if that is what `error` says. What we refuse ourselves has no cause.
    fn begins(&self, error: &Error, standing: Instant) {
        let is_its_own = match error.kind {
            ErrorKind::Unavailable => true,
            ErrorKind::TooLarge => error.source().is_some(),
            _ => false,
        };
        if is_its_own {
            *self.lock() = Some((standing, format!("the last answer failed: {error}")));
        }
    }

    /// What is wrong, unless the server was reached anew.
    fn words(&self, standing: Instant) -> Option<String> {
        self.lock().as_ref().filter(|(then, _)| *then == standing).map(|(_, words)| words.clone())
    }
}

impl Health for Upstream {
    fn health(&self) -> Condition {
        let standing = self.inner.standing.borrow().clone();
        match standing.state {
            Reached::Starting => Condition { state: State::Starting, words: None },
            Reached::Ready(_) => match self.inner.trouble.words(standing.since) {
                Some(words) => Condition::degraded(words),
                None => self.served(),
            },
            Reached::Failed(why) => {
                // What stands behind the colon may be a command, an address or a stranger's words.
                let words = why.split(':').next().unwrap_or_default().trim().to_owned();
                Condition { state: State::Failed, words: Some(words) }
            }
        }
    }
}

impl Upstream {
    /// Remembers that the server failed to answer, if that is what `error` says.
    pub(super) fn failed(&self, error: &Error) {
        let since = self.inner.standing.borrow().since;
        self.inner.trouble.begins(error, since);
    }

    fn served(&self) -> Condition {
        let abilities = self.inner.abilities();
        if !abilities.has_resources {
            return Condition::degraded("the server says that it has no resources");
        }
        match self.inner.poll {
            Some(every) if !abilities.subscribes => Condition::degraded(format!(
                "changes are found by polling every {every:?}: the server does not tell of them"
            )),
            _ => Condition::ready(),
        }
    }
}
