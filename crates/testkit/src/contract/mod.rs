//! Contract test suite that every provider must pass.
//!
//! Each function checks one promise, and panics with the name of the resource that breaks it.

mod bounds;
mod content;
mod denied;
mod extras;
mod filters;
mod paging;
mod relays;
mod skills;
mod tree;
mod walk;

use std::fmt;
use std::sync::Arc;

use resource::{Context, Provider, Uri};

pub use bounds::{cursors_from_nowhere_are_harmless, disguises_lead_nowhere, unknown_is_not_found};
pub use content::{
    known_content_is_given, pinned_versions_are_kept, reading_names_what_was_asked,
    whole_has_a_limit, windows_join, windows_of_other_parts_join,
};
pub use denied::{Denial, contract_with_denial, denied_is_missing};
pub use extras::{
    completions_answer, dropping_a_watch_stops_it, facets_are_real, templates_join,
    variables_are_as_told, watching_is_as_told,
};
pub use filters::{filters_hold, formats_are_obeyed, search_finds_what_can_be_read};
pub use paging::{order_holds, pages_join};
pub use relays::{health_is_told, relayed_components_are_listed};
pub use skills::{mounts_are_told, skills_are_as_listed};
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
    /// How many watches are open now, if the test can count them.
    pub open_watches: Option<WatchCounter>,
}

/// Counts the watches that are open in a provider.
#[derive(Clone)]
pub struct WatchCounter(pub Arc<dyn Fn() -> usize + Send + Sync>);

impl fmt::Debug for WatchCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WatchCounter")
    }
}

tokio::task_local! {
    static CONTEXT: Context;
}

/// The context of the principal for whom the promises are being checked.
fn ctx() -> Context {
    CONTEXT.try_with(Clone::clone).unwrap_or_else(|_| crate::local_context())
}

/// Checks every promise for `provider`, under two principals.
pub async fn contract(provider: &dyn Provider, expected: &Expectations) {
    for ctx in crate::two_contexts() {
        CONTEXT.scope(ctx, check_all(provider, expected)).await;
    }
}

async fn check_all(provider: &dyn Provider, expected: &Expectations) {
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
    windows_of_other_parts_join(provider).await;
    whole_has_a_limit(provider).await;
    pinned_versions_are_kept(provider).await;
    templates_join(provider).await;
    variables_are_as_told(provider).await;
    completions_answer(provider).await;
    facets_are_real(provider).await;
    watching_is_as_told(provider, &expected.missing).await;
    dropping_a_watch_stops_it(provider, expected).await;
    filters_hold(provider).await;
    formats_are_obeyed(provider).await;
    search_finds_what_can_be_read(provider).await;
    relayed_components_are_listed(provider).await;
    skills_are_as_listed(provider).await;
    mounts_are_told(provider).await;
    health_is_told(provider);
}

#[cfg(test)]
mod tests;
