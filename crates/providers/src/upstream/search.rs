//! The server's own search: a tool that it has, or a resource template that takes a query.

use std::sync::Arc;

use async_trait::async_trait;
use client::{CallError, embedded_hit, hits_in_text, with_trace};
use machinery::RequiredFreshness;
use resource::{
    Context, Error, Page, PageRequest, Result, Search, SearchHit, SearchRequest, Uri, UriTemplate,
    VariableValue,
};

use super::error_mapping::public_error;
use super::{Inner, Upstream, UpstreamSearch};

/// The most hits of one search.
const MAX_HITS: usize = 50;
/// The longest query that is passed on.
const MAX_QUERY_CHARS: usize = 1_000;
/// The most bytes of a resource that hits are taken from.
const MAX_TEXT_BYTES: usize = 1 << 20;

#[async_trait]
impl Search for Upstream {
    /// One page: how servers page their hits, nothing tells.
    async fn search(&self, ctx: &Context, request: &SearchRequest) -> Result<Page<SearchHit>> {
        let query: String = request.query.trim().chars().take(MAX_QUERY_CHARS).collect();
        if query.is_empty() {
            return Err(Error::invalid("the query has no words"));
        }
        if request.cursor.is_some() {
            return Err(Error::bad_cursor());
        }
        self.inner.start_listener();
        let most = request.limit.min(MAX_HITS);
        let view = self.view(ctx);
        let found = with_trace(ctx, view.find_hits(ctx, &query, most)).await;
        let mut hits = found.inspect_err(|error| self.record_error(error))?;
        hits.truncate(most);
        Ok(Page { items: hits.into_iter().map(Arc::new).collect(), ..Page::empty() })
    }
}

impl Inner {
    /// What the server finds, under its own URIs.
    async fn find_hits(
        self: &Arc<Self>,
        ctx: &Context,
        query: &str,
        most: usize,
    ) -> Result<Vec<SearchHit>> {
        match &self.search {
            Some(UpstreamSearch::Tool { tool, argument }) => {
                let called = (tool.as_str(), argument.as_str());
                // Nobody is asked for input, and nobody is told of progress, for the sake of hits.
                let ctx = ctx.clone().without_caller();
                let found = self.client.search_by_tool(&ctx, called, query, most).await;
                found.map_err(|error| match error {
                    CallError::Caller(error) => error,
                    CallError::Server(failure) => public_error(failure),
                })
            }
            Some(UpstreamSearch::Template(template)) => {
                let uri = expanded(template, query)?;
                self.hits_of(&uri, most).await
            }
            None => Ok(Vec::new()),
        }
    }

    /// The hits in the content of `uri`, or else its members.
    async fn hits_of(self: &Arc<Self>, uri: &Uri, most: usize) -> Result<Vec<SearchHit>> {
        let content = self.read_cached(uri, RequiredFreshness::Fresh).await?;
        let mut hits = Vec::new();
        for part in &content.parts {
            let text = &part.bytes[..part.bytes.len().min(MAX_TEXT_BYTES)];
            let text = part.is_text.then(|| String::from_utf8_lossy(text));
            if part.resource.uri != *uri {
                hits.push(embedded_hit(&part.resource, text.as_deref()));
            } else if let Some(text) = text {
                hits.extend(hits_in_text(&text, most));
            }
        }
        let lists_members = self.capabilities_or_none().child_list(uri).is_some();
        if hits.is_empty() && lists_members {
            let members = self.list_children(uri, &PageRequest::first(most)).await?;
            hits.extend(members.items.iter().map(|member| embedded_hit(member, None)));
        }
        Ok(hits)
    }
}

/// The resource that is the search for `query`.
fn expanded(template: &UriTemplate, query: &str) -> Result<Uri> {
    let value = VariableValue::Text(query.to_owned());
    let values = template.variables().map(|name| (name.to_owned(), value.clone())).collect();
    Uri::parse(&template.expand(&values))
}
