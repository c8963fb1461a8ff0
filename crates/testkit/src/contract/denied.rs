//! Contract: what is denied to a principal is as what was never there, and the rest is as it is.

use std::collections::BTreeMap;

use resource::{
    CompletionRequest, Context, Error, Interest, PageRequest, Provider, ReadRequest, Result,
    SearchRequest, Template, Uri, VariableValue, VariableValues, Window,
};

use super::extras::templates;
use super::walk::{ListedResource, NO_LIMIT, bytes_of, pages, primary, walk};
use super::{CONTEXT, Expectations, check_all};

/// How many denied resources are tried.
const MAX_TRIED: usize = 50;

/// Which of the resources of a provider one principal may not have.
pub struct Denial<'a> {
    /// The principal that may have everything.
    pub whole: Context,
    /// The principal that may not have what is denied.
    pub limited: Context,
    /// What is denied.
    pub is_denied: &'a (dyn Fn(&Uri) -> bool + Sync),
}

/// Checks every promise for both principals, and that what is denied is missing.
pub async fn contract_with_denial(
    provider: &dyn Provider,
    expected: &Expectations,
    denial: &Denial<'_>,
) {
    let mut limited = expected.clone();
    limited.leaves.retain(|(uri, _)| !(denial.is_denied)(uri));
    for (_, members) in &mut limited.collections {
        members.retain(|uri| !(denial.is_denied)(uri));
    }
    limited.collections.retain(|(uri, _)| !(denial.is_denied)(uri));
    CONTEXT.scope(denial.whole.clone(), check_all(provider, expected)).await;
    CONTEXT.scope(denial.limited.clone(), check_all(provider, &limited)).await;
    denied_is_missing(provider, &expected.missing, denial).await;
}

/// What is denied is in no list, and every request for it fails as for what is missing.
pub async fn denied_is_missing(provider: &dyn Provider, missing: &[Uri], denial: &Denial<'_>) {
    let all = CONTEXT.scope(denial.whole.clone(), walk(provider)).await;
    let is_denied = |seen: &&ListedResource| (denial.is_denied)(&seen.resource.uri);
    let denied: Vec<&ListedResource> = all.iter().filter(is_denied).take(MAX_TRIED).collect();
    assert!(!denied.is_empty(), "nothing that is listed is denied");
    let missing = missing.first().expect("the test names a missing URI");
    CONTEXT
        .scope(denial.limited.clone(), async {
            lists_are_without(provider, &all, denial).await;
            for seen in &denied {
                requests_fail_alike(provider, &seen.resource.uri, missing, denial).await;
            }
            completion_leads_elsewhere(provider, denial).await;
        })
        .await;
    search_finds_none(provider, &denied, denial).await;
}

/// Pages of any size are those of the whole list without what is denied.
async fn lists_are_without(provider: &dyn Provider, all: &[ListedResource], denial: &Denial<'_>) {
    let is_open = |uri: &Uri| !(denial.is_denied)(uri);
    let collections = all.iter().filter(|seen| seen.is_collection() && is_open(&seen.resource.uri));
    let lists = collections.map(|seen| Some(seen.resource.uri.clone())).take(20);
    for list in std::iter::once(None).chain(lists) {
        let whole = CONTEXT.scope(denial.whole.clone(), pages(provider, list.as_ref(), 1000)).await;
        let open: Vec<&Uri> = whole.iter().map(|one| &one.uri).filter(|uri| is_open(uri)).collect();
        for limit in [1, 2, 7, 1000] {
            let shown = pages(provider, list.as_ref(), limit).await;
            let shown: Vec<&Uri> = shown.iter().map(|one| &one.uri).collect();
            assert_eq!(shown, open, "{list:?} by {limit}, without what is denied");
        }
    }
}

/// Every request for `denied` fails with the words that it has for `missing`.
async fn requests_fail_alike(
    provider: &dyn Provider,
    denied: &Uri,
    missing: &Uri,
    denial: &Denial<'_>,
) {
    let ctx = &denial.limited;
    let (told, expected) =
        (refusals(provider, ctx, denied).await, refusals(provider, ctx, missing).await);
    for ((asked, told), (_, expected)) in told.into_iter().zip(expected) {
        assert_eq!(told, expected, "{asked} of {denied}, which is denied, and of {missing}");
        assert!(told.is_some(), "{asked} of {denied} was answered");
    }
}

/// The words of the errors that requests for `uri` fail with; `None` for each that succeeds.
async fn refusals(
    provider: &dyn Provider,
    ctx: &Context,
    uri: &Uri,
) -> Vec<(&'static str, Option<String>)> {
    let whole = ReadRequest::whole(NO_LIMIT);
    let part = ReadRequest::from(Window::Part { offset: 0, length: 16, etag: None });
    let page = PageRequest::first(10);
    let mut told = vec![
        ("list", words(provider.list(ctx, Some(uri), &page).await)),
        ("stat", words(provider.stat(ctx, uri).await)),
        ("read", words(provider.read(ctx, uri, &whole).await)),
        ("window", words(provider.read(ctx, uri, &part).await)),
    ];
    if let Some(watch) = provider.facets().watch {
        told.push(("watch", words(watch.watch(ctx, Interest::Resource(uri.clone())).await)));
    }
    told
}

fn words<T>(answer: Result<T>) -> Option<String> {
    let Error { kind, message, facts, .. } = answer.err()?;
    Some(format!("{kind:?} {message} {facts:?}"))
}

/// No suggested value of a template with one variable leads to what is denied.
async fn completion_leads_elsewhere(provider: &dyn Provider, denial: &Denial<'_>) {
    let Some(complete) = provider.facets().complete else { return };
    for template in templates(provider, 1000).await {
        let variables: Vec<&str> = template.uri.variables().collect();
        let [variable] = variables[..] else { continue };
        let resolved = BTreeMap::new();
        let uri = template.uri.as_str();
        let request = CompletionRequest { template: uri, variable, typed: "", resolved: &resolved };
        let completed = complete.complete(&denial.limited, &request).await;
        for value in completed.map(|found| found.values).unwrap_or_default() {
            let leads = expanded(&template, variable, &value);
            let is_denied = leads.is_some_and(|uri| (denial.is_denied)(&uri));
            assert!(!is_denied, "{value:?} of {uri} is suggested and denied");
        }
    }
}

fn expanded(template: &Template, variable: &str, value: &str) -> Option<Uri> {
    let mut values = VariableValues::new();
    values.insert(variable.to_owned(), VariableValue::Text(value.to_owned()));
    Uri::parse(&template.uri.expand(&values)).ok()
}

/// A search for words of what is denied has no hit that is.
async fn search_finds_none(
    provider: &dyn Provider,
    denied: &[&ListedResource],
    denial: &Denial<'_>,
) {
    let Some(search) = provider.facets().search else { return };
    for seen in denied.iter().filter(|seen| !seen.is_collection()) {
        let whole = Window::Whole { limit: NO_LIMIT };
        let read = primary(provider, &seen.resource.uri, &whole);
        let part = CONTEXT.scope(denial.whole.clone(), read).await;
        let bytes = bytes_of(part.body).await;
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        let Some(word) = text.split(|letter: char| !letter.is_alphanumeric()).find(|w| w.len() > 2)
        else {
            continue;
        };
        let (query, filter, cursor) = (word.to_owned(), None, None);
        let request = SearchRequest { query, filter, cursor, limit: 1000 };
        let found = search.search(&denial.limited, &request).await;
        let hits = found.map(|page| page.items).unwrap_or_default();
        let hit = hits.iter().find(|hit| (denial.is_denied)(&hit.uri));
        assert!(hit.is_none(), "a search for {word:?} finds {:?}", hit.map(|hit| &hit.uri));
    }
}
