//! Contract: tools, prompts and health are as declared.

use resource::{ComponentCall, ComponentKind, Page, PageRequest, Provider, UriRewrite};

use super::ctx;
use super::walk::expect;

/// URIs stay as they are.
struct Unchanged;

impl UriRewrite for Unchanged {
    fn to_public(&self, local: &str) -> Option<String> {
        Some(local.to_owned())
    }

    fn to_local(&self, public: &str) -> Option<String> {
        Some(public.to_owned())
    }
}

/// Pages of tools and prompts join, and a call of an unknown one fails.
pub async fn relayed_components_are_listed(provider: &dyn Provider) {
    let Some(relay) = provider.facets().relay else { return };
    for kind in ComponentKind::ALL {
        let mut joined = Vec::new();
        let mut paging = PageRequest::first(1);
        for _ in 0..10_000 {
            let listed = relay.list_components(&ctx(), kind, &Unchanged, &paging).await;
            let Page { items, next, .. } = expect(listed, "listing components");
            assert!(items.len() <= 1, "a page of one component is larger");
            joined.extend(items.iter().map(|item| item.name.clone()));
            match next {
                None => break,
                next => paging.cursor = next,
            }
        }
        assert!(
            joined.is_empty() || relay.may_have(&ctx(), kind),
            "{kind:?} are listed and denied"
        );
        let all = PageRequest::first(1000);
        let whole = relay.list_components(&ctx(), kind, &Unchanged, &all).await;
        let whole = expect(whole, "listing components at once");
        let whole: Vec<String> = whole.items.iter().map(|item| item.name.clone()).collect();
        assert_eq!(joined, whole, "pages of {kind:?} join to another list");
        let call = ComponentCall {
            kind,
            name: "no such component",
            params: &"{}".into(),
            uri_rewrite: &Unchanged,
        };
        let called = relay.call_component(&ctx(), &call).await;
        assert!(called.is_err(), "an unknown {kind:?} was called");
    }
}

/// A source that is available says so in its health.
pub fn health_is_told(provider: &dyn Provider) {
    let Some(health) = provider.facets().health else { return };
    let (status, is_available) = (health.health(&ctx()), health.is_available(&ctx()));
    assert!(!is_available || status.state.is_serving(), "available and {:?}", status.state);
}
