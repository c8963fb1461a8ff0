//! What may happen to a resource after it was listed?

use std::sync::Arc;

use crate::extra::Extra;
use crate::relay::Offer;
use crate::uri::Uri;

/// What somebody wants to hear of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Interest {
    /// One resource, or what lies in it if it is a collection.
    Resource(Uri),
    /// Resources and templates that come and go.
    Listing,
    /// Tools or prompts that come and go.
    Offers(Offer),
    /// All of it.
    Everything,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change {
    /// The content of this resource is another one now.
    Updated(Uri),
    /// This resource is gone.
    Removed(Uri),
    /// Resources or templates came or went.
    Listing,
    /// Tools or prompts came or went.
    Offers(Offer),
    /// One of the others, and what else was said of it.
    Worded(Box<Self>, Arc<Extra>),
}

impl Change {
    /// The same, with what else was said of it; nothing said costs nothing.
    #[must_use]
    pub fn worded(self, words: Option<Arc<Extra>>) -> Self {
        match words.filter(|words| !words.is_empty()) {
            Some(words) => Self::Worded(Box::new(self.parts().0), words),
            None => self,
        }
    }

    /// What happened, and what else was said of it.
    pub fn parts(self) -> (Self, Option<Arc<Extra>>) {
        match self {
            Self::Worded(change, words) => (*change, Some(words)),
            change => (change, None),
        }
    }

    /// What happened, whatever was said of it.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Worded(change, _) => change,
            change => change,
        }
    }
}
