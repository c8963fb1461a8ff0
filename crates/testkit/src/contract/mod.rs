//! Contract test suite that every provider must pass.
//!
//! Each function checks one promise, and panics with the name of the resource that breaks it.

mod bounds;
mod content;
mod extras;
mod paging;
mod tree;
mod walk;

use resource::{Provider, Uri};

pub use bounds::{cursors_from_nowhere_are_harmless, disguises_lead_nowhere, unknown_is_not_found};
pub use content::{
    known_content_is_given, pinned_versions_are_kept, reading_names_what_was_asked,
    whole_has_a_limit, windows_join,
};
pub use extras::{completions_answer, facets_are_real, templates_join, watching_is_as_told};
pub use paging::{order_holds, pages_join};
pub use tree::{
    collections_hold_direct_children, known_collections_are_given, leaves_are_not_listable,
    listed_can_be_read, stat_agrees_with_the_list,
};
pub use walk::{ListedResource, bytes_of, pages, walk};

/// What a test expects of the provider under test.
#[derive(Debug, Clone, Default)]
pub struct Expectations {
    /// Leaves with their content in the primary format, as a read returns it.
    pub leaves: Vec<(Uri, Vec<u8>)>,
    /// Collections with all their direct members, in any order.
    pub collections: Vec<(Uri, Vec<Uri>)>,
    /// URIs in this provider's form that do not exist.
    pub missing: Vec<Uri>,
    /// The prefix of paths, such as `file:///`, if the provider's URIs have paths.
    pub prefix: Option<String>,
    /// Paths relative to the prefix that lead outside, such as `../secret`, and must be refused.
    pub outside: Vec<String>,
}

/// Checks every promise for `provider`.
pub async fn contract(provider: &dyn Provider, expected: &Expectations) {
    stat_agrees_with_the_list(provider).await;
    listed_can_be_read(provider).await;
    known_collections_are_given(provider, expected).await;
    collections_hold_direct_children(provider).await;
    leaves_are_not_listable(provider).await;
    pages_join(provider).await;
    order_holds(provider).await;
    cursors_from_nowhere_are_harmless(provider).await;
    unknown_is_not_found(provider, expected).await;
    disguises_lead_nowhere(provider, expected).await;
    known_content_is_given(provider, expected).await;
    reading_names_what_was_asked(provider).await;
    windows_join(provider).await;
    whole_has_a_limit(provider).await;
    pinned_versions_are_kept(provider).await;
    templates_join(provider).await;
    completions_answer(provider).await;
    facets_are_real(provider).await;
    watching_is_as_told(provider, &expected.missing).await;
}

#[cfg(test)]
mod tests;
