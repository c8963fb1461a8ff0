//! Change events, and the interests that subscribe to them.

use std::sync::Arc;

use crate::relay::ComponentKind;
use crate::unknown_members::UnknownMembers;
use crate::uri::Uri;

/// What a subscription covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Interest {
    /// One resource and, if it is a collection, its direct members.
    Resource(Uri),
    /// The set of resources and templates.
    Listing,
    /// The set of tools or of prompts.
    Components(ComponentKind),
    /// Every resource and every list. A source that cannot report all of its changes refuses it.
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
    Components(ComponentKind),
    /// One of the other variants, with unknown members that the source sent along.
    WithExtra(Box<Self>, Arc<UnknownMembers>),
}

impl Change {
    /// Attaches unknown members, replacing earlier ones. Without any, the change stays as it is.
    #[must_use]
    pub fn with_extra(self, extra: Option<Arc<UnknownMembers>>) -> Self {
        match extra.filter(|words| !words.is_empty()) {
            Some(words) => Self::WithExtra(Box::new(self.into_parts().0), words),
            None => self,
        }
    }

    /// Splits the change from its unknown members.
    pub fn into_parts(self) -> (Self, Option<Arc<UnknownMembers>>) {
        match self {
            Self::WithExtra(change, words) => (*change, Some(words)),
            change => (change, None),
        }
    }

    /// The change without its unknown members.
    pub fn without_extra(&self) -> &Self {
        match self {
            Self::WithExtra(change, _) => change,
            change => change,
        }
    }
}
