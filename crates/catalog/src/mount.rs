//! A mount: a provider under a name and an address, wrapped in its layers.

use std::sync::Arc;
use std::time::Duration;

use resource::Provider;

use crate::address::Address;
use crate::layers::bounded::Bounded;
use crate::layers::ruled::{MetadataRules, Ruled};
use crate::layers::timed::Timed;
use crate::memo::Memo;

/// A provider under a name, wrapped in its layers.
pub struct Mount {
    /// Its name in the settings.
    pub name: String,
    /// How its local URIs map to public ones.
    pub address: Arc<Address>,
    /// Whether a list fails if this mount fails.
    pub required: bool,
    /// Whether lists include it.
    pub(crate) listed: bool,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) publish_memo: Memo,
}

/// The options of a mount.
#[derive(Debug, Clone)]
pub struct MountOptions {
    /// Metadata and visibility by glob pattern.
    pub rules: MetadataRules,
    /// The maximum number of bytes per read. Larger resources are read in windows.
    pub max_read: u64,
    /// The time limit of one call.
    pub timeout: Duration,
    /// Whether a list fails if this mount fails.
    pub required: bool,
}

impl Mount {
    /// Wraps `provider` in its layers. The order matters: the time limit covers everything, and
    /// the rules stop a read of a hidden resource before it reaches the provider.
    pub fn new(
        name: &str,
        address: Address,
        provider: impl Provider,
        options: MountOptions,
    ) -> Self {
        let bounded = Bounded::new(provider, options.max_read);
        let provider: Arc<dyn Provider> = if options.rules.is_empty() {
            Arc::new(Timed::new(bounded, options.timeout))
        } else {
            Arc::new(Timed::new(Ruled::new(bounded, options.rules), options.timeout))
        };
        let (address, publish_memo) = (Arc::new(address), Memo::default());
        let (name, required) = (name.to_owned(), options.required);
        Self { name, address, required, listed: true, provider, publish_memo }
    }

    /// Whether it is the fallback: it serves URIs that no other mount claims.
    pub(crate) fn is_fallback(&self) -> bool {
        matches!(*self.address, Address::Fallback)
    }

    /// Excludes the mount from lists. Its resources are still read by URI.
    #[must_use]
    pub fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }
}
