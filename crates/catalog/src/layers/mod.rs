//! Layers: providers that wrap a provider and add policy.
//!
//! Policy belongs here, never in a provider. A layer is a value, and [`wrap`] is the one place
//! that puts layers around a provider. Every layer builds its `Facets` field by field, so that a
//! facet that is added later passes no layer unseen.

pub mod allowed;
pub mod bounded;
pub mod redacted;
pub mod rendered;
pub mod ruled;
pub mod selected;
mod shown_uris;
pub mod timed;
pub mod unpacked;
pub mod withheld;

use std::sync::Arc;

use resource::Provider;

/// Policy that can be put around any provider.
pub trait Layer: Send + Sync {
    /// Returns `inner` with the policy around it.
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider>;
}

/// Puts `layers` around `provider`, the first one outermost.
pub fn wrap(provider: Arc<dyn Provider>, layers: &[Box<dyn Layer>]) -> Arc<dyn Provider> {
    layers.iter().rev().fold(provider, |inner, layer| layer.around(inner))
}
