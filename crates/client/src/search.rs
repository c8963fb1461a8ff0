//! Search by a tool of the server: one call, and the hits in its result.

use protocol::outbound::decode::search_hits::{
    decoded_hit, search_call_params, text_hits, tool_hits,
};
use resource::{ComponentCall, ComponentKind, Context, Resource, SearchHit, UriRewrite};

use crate::client::Client;
use crate::error::{CallError, Error};

/// The longest result of a search.
const MAX_RESULT_BYTES: usize = 1 << 20;

/// Leaves the server's URIs as they are.
struct OwnUris;

impl UriRewrite for OwnUris {
    fn to_public(&self, _: &str) -> Option<String> {
        None
    }

    fn to_local(&self, _: &str) -> Option<String> {
        None
    }
}

impl Client {
    /// Calls `tool` with `query` as its argument `argument`; returns the hits in the result, at most
    /// `most`, with the server's own URIs.
    pub async fn search_by_tool(
        &self,
        ctx: &Context,
        (tool, argument): (&str, &str),
        query: &str,
        most: usize,
    ) -> Result<Vec<SearchHit>, CallError> {
        let params = search_call_params(argument, query);
        let (kind, name) = (ComponentKind::Tool, tool);
        let call = ComponentCall { kind, name, params: &params, uri_rewrite: &OwnUris };
        let result = self.send_call(ctx, &call).await?;
        if result.as_str().len() > MAX_RESULT_BYTES {
            return Err(Error::TooLarge(MAX_RESULT_BYTES).into());
        }
        tool_hits(result.as_str(), most).ok_or_else(|| {
            let message = "the search tool of the server behind this mount returned an error";
            CallError::Caller(resource::Error::unavailable(message))
        })
    }
}

/// The hits in the text of a resource that is a search, at most `most`.
pub fn hits_in_text(text: &str, most: usize) -> Vec<SearchHit> {
    text_hits(text, most)
}

/// The hit that `resource` is, as a member of a search, with `text` as its passage.
pub fn embedded_hit(resource: &Resource, text: Option<&str>) -> SearchHit {
    let title = resource.title.as_deref();
    decoded_hit(resource.uri.clone(), title, text.or(resource.description.as_deref()))
}
