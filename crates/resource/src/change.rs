//! What may happen to a resource after it was listed?

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
}
