//! Change events, and the interests that subscribe to them.

use std::sync::Arc;

use crate::extra::Extra;
use crate::relay::Offer;
use crate::uri::Uri;

/// What a subscription covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Interest {
    /// One resource and, if it is a collection, its direct members.
    Resource(Uri),
    /// The set of resources and templates.
    Listing,
    /// The set of tools or of prompts.
    Offers(Offer),
    /// All changes.
    Everything,
}

/// One change event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change {
    /// The content of this resource changed.
    Updated(Uri),
    /// This resource was removed.
    Removed(Uri),
    /// Resources or templates were added or removed.
    Listing,
    /// Tools or prompts were added or removed.
    Offers(Offer),
    /// One of the other variants, with unknown members that the source sent along.
    Worded(Box<Self>, Arc<Extra>),
}

impl Change {
    /// Attaches unknown members, replacing earlier ones. Without any, the change stays as it is.
    #[must_use]
    pub fn worded(self, words: Option<Arc<Extra>>) -> Self {
        match words.filter(|words| !words.is_empty()) {
            Some(words) => Self::Worded(Box::new(self.parts().0), words),
            None => self,
        }
    }

    /// Splits the change from its unknown members.
    pub fn parts(self) -> (Self, Option<Arc<Extra>>) {
        match self {
            Self::Worded(change, words) => (*change, Some(words)),
            change => (change, None),
        }
    }

    /// The change without its unknown members.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Worded(change, _) => change,
            change => change,
        }
    }
}
