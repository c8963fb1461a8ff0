//! What is a provider once it has a name and a place?

use std::sync::Arc;
use std::time::Duration;

use resource::Provider;

use crate::address::Address;
use crate::layers::bounded::Bounded;
use crate::layers::ruled::{Ruled, Rules};
use crate::layers::timed::Timed;
use crate::memo::Memo;

/// A provider under a name, with its layers around it.
pub struct Mount {
    /// What the settings call it.
    pub name: String,
    /// How its URIs are told from others'.
    pub address: Arc<Address>,
    /// Whether a list that lacks it is no list at all.
    pub required: bool,
    /// Whether it stands in the plain lists.
    pub(crate) listed: bool,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) published: Memo,
}

/// On what terms a provider is mounted.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Metadata by pattern.
    pub rules: Rules,
    /// More than this is given in windows only.
    pub max_read: u64,
    /// How long one call may take.
    pub timeout: Duration,
    /// Whether a list that lacks it is no list at all.
    pub required: bool,
}

impl Mount {
    /// Puts the layers around `provider`, in the one order that they have: the time limit holds
    /// for all of it, and nothing hidden is ever opened.
    pub fn new(name: &str, address: Address, provider: impl Provider, terms: Terms) -> Self {
        let bounded = Bounded::new(provider, terms.max_read);
        let provider: Arc<dyn Provider> = if terms.rules.is_empty() {
            Arc::new(Timed::new(bounded, terms.timeout))
        } else {
            Arc::new(Timed::new(Ruled::new(bounded, terms.rules), terms.timeout))
        };
        let (address, published) = (Arc::new(address), Memo::default());
        let (name, required) = (name.to_owned(), terms.required);
        Self { name, address, required, listed: true, provider, published }
    }

    /// Whether it answers for what no other mount answers for, and is therefore asked last.
    pub(crate) fn is_rest(&self) -> bool {
        matches!(*self.address, Address::Rest)
    }

    /// The same, found only by whoever knows its URIs.
    #[must_use]
    pub fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }
}
