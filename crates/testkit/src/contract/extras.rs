//! Contract: templates, completions, watches and facets work as declared.

use std::collections::BTreeMap;

use resource::{
    Completion, CompletionRequest, ErrorKind, Interest, PageRequest, Provider, Template, Uri,
};

use super::walk::expect;
use super::{Expectations, WatchCounter, ctx};

/// Pages of templates of any size join without gap or repeat.
pub async fn templates_join(provider: &dyn Provider) {
    let whole = names(&templates(provider, 1000).await);
    for limit in [1, 2, 3, 7] {
        let joined = names(&templates(provider, limit).await);
        assert_eq!(joined, whole, "pages of {limit} templates are another list");
    }
    let mut once = whole.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), whole.len(), "a template is listed twice");
}

/// What a template says of its variables agrees with the template, and with itself.
pub async fn variables_are_as_told(provider: &dyn Provider) {
    for template in templates(provider, 1000).await {
        let mut seen = std::collections::BTreeSet::new();
        for variable in &template.variables {
            let name = &variable.name;
            let uri = template.uri.as_str();
            assert!(template.uri.variables().any(|known| known == name), "{uri} has no {name}");
            assert!(seen.insert(name), "{uri} describes {name} twice");
            let refusal = variable.default.iter().chain(&variable.allowed);
            let refusal = refusal.clone().find_map(|value| variable.refusal(value));
            assert_eq!(refusal, None, "{uri} refuses a value that it names");
        }
    }
}

/// The provider completes every variable of every template, and refuses unknown ones.
pub async fn completions_answer(provider: &dyn Provider) {
    let Some(complete) = provider.facets().complete else { return };
    let (ctx, resolved) = (&ctx(), BTreeMap::new());
    for template in templates(provider, 1000).await {
        let ask = |variable| CompletionRequest {
            template: template.uri.as_str(),
            variable,
            typed: "",
            resolved: &resolved,
        };
        for variable in template.uri.variables() {
            let told = complete.complete(ctx, &ask(variable)).await;
            let told = expect(told, &format!("completing {variable} of {}", template.uri.as_str()));
            let most = Completion::MAX_VALUES;
            assert!(told.values.len() <= most, "more than {most} values of {variable}");
            assert!(told.total >= told.values.len(), "fewer in all than there are");
            let described = template.variables.iter().find(|one| one.name == variable);
            let refusal = described.and_then(|described| {
                told.values.iter().find_map(|value| described.refusal(value))
            });
            assert_eq!(refusal, None, "a suggested value of {variable} is refused");
        }
        let kind = complete.complete(ctx, &ask("no such variable")).await.err();
        let kind = kind.map(|error| error.kind);
        assert_eq!(kind, Some(ErrorKind::Invalid), "an unknown variable");
    }
    let unknown = CompletionRequest {
        template: "x-none://{a}",
        variable: "a",
        typed: "",
        resolved: &resolved,
    };
    let kind = complete.complete(ctx, &unknown).await.err().map(|error| error.kind);
    assert_eq!(kind, Some(ErrorKind::Invalid), "an unknown template");
}

/// The provider accepts a watch on watchable resources, and refuses others and missing ones.
pub async fn watching_is_as_told(provider: &dyn Provider, missing: &[Uri]) {
    let Some(watch) = provider.facets().watch else { return };
    let ctx = &ctx();
    let page = expect(provider.list(ctx, None, &PageRequest::first(100)).await, "listing");
    for resource in &page.items {
        let opened = watch.watch(ctx, Interest::Resource(resource.uri.clone())).await;
        let told = opened.as_ref().map_or_else(|error| Some(error.kind), |_| None);
        let right = match resource.watchable {
            Some(true) => told.is_none(),
            Some(false) => told == Some(ErrorKind::Unsupported),
            None => true,
        };
        assert!(right, "{} has watchable {:?}: {told:?}", resource.uri, resource.watchable);
    }
    for uri in missing {
        let told = watch.watch(ctx, Interest::Resource(uri.clone())).await;
        let told = told.err().map(|error| error.kind);
        assert_eq!(told, Some(ErrorKind::NotFound), "watching {uri}");
    }
    drop(expect(watch.watch(ctx, Interest::Listing).await, "watching lists"));
}

/// Dropping a watch ends it at its source, as far as the source counts them.
pub async fn dropping_a_watch_stops_it(provider: &dyn Provider, expected: &Expectations) {
    let (Some(watch), Some(count)) = (provider.facets().watch, &expected.open_watches) else {
        return;
    };
    let ctx = &ctx();
    let page = expect(provider.list(ctx, None, &PageRequest::first(100)).await, "listing");
    let watched = page.items.iter().find(|item| item.watchable == Some(true));
    let interests = watched.map(|item| Interest::Resource(item.uri.clone()));
    // The watches of other checks may be ending still.
    assert!(all_end(count).await, "something is watched though every stream was dropped");
    for interest in interests.into_iter().chain([Interest::Listing]) {
        let stream = expect(watch.watch(ctx, interest.clone()).await, "watching");
        assert!((count.0)() > 0, "{interest:?} is watched and not counted");
        drop(stream);
        let message = "is still watched after its stream was dropped";
        assert!(all_end(count).await, "{interest:?} {message}");
    }
}

/// Whether the source has no watch any more, before long.
async fn all_end(count: &WatchCounter) -> bool {
    let ended = async {
        while (count.0)() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), ended).await.is_ok()
}

/// Every declared facet can be used.
pub async fn facets_are_real(provider: &dyn Provider) {
    let facets = provider.facets();
    if let Some(watch) = facets.watch {
        // A source that cannot report everything says so.
        if let Err(error) = watch.watch(&ctx(), Interest::Everything).await {
            assert_eq!(error.kind, ErrorKind::Unsupported, "watching everything");
        }
    }
    if facets.complete.is_some() {
        let variables: usize = templates(provider, 1000)
            .await
            .iter()
            .map(|template| template.uri.variables().count())
            .sum();
        assert!(variables > 0, "it completes, and has no variable to complete");
    }
}

pub(super) async fn templates(provider: &dyn Provider, limit: usize) -> Vec<Template> {
    let mut all: Vec<Template> = Vec::new();
    let mut ask = PageRequest::first(limit);
    for _ in 0..100_000 {
        let page = provider.templates(&ctx(), &ask).await;
        let page = expect(page, "listing templates");
        assert!(page.items.len() <= limit, "a page of {limit} templates is larger");
        all.extend(page.items.iter().map(|template| template.as_ref().clone()));
        if page.next.is_none() {
            return all;
        }
        ask.cursor = page.next;
    }
    panic!("listing templates by {limit} does not end");
}

fn names(templates: &[Template]) -> Vec<String> {
    templates.iter().map(|template| template.uri.as_str().to_owned()).collect()
}
