//! How is the server?

use client::State as Reached;
use resource::{Condition, Health, State};

use super::Upstream;

impl Health for Upstream {
    fn health(&self) -> Condition {
        let standing = self.inner.standing.borrow().clone();
        match standing.state {
            Reached::Starting => Condition { state: State::Starting, words: None },
            Reached::Ready(_) => self.served(),
            Reached::Failed(why) => {
                // What stands behind the colon may be a command, an address or a stranger's words.
                let words = why.split(':').next().unwrap_or_default().trim().to_owned();
                Condition { state: State::Failed, words: Some(words) }
            }
        }
    }
}

impl Upstream {
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
