//! `completion/complete` for URI template variables.

use protocol::Reply;
use resource::{Completion, CompletionRequest, Context, Error, Result, Uri};

use crate::server::Server;

/// Completes a template variable. A plain URI has no variables: the result is empty, not an error.
pub(crate) async fn complete_template(
    server: &Server,
    ctx: &Context,
    request: &CompletionRequest<'_>,
) -> Result<Reply> {
    if !server.completion_rate.try_take(ctx.principal()) {
        return Err(Error::unavailable("too many completion requests; try again in a moment"));
    }
    if !request.template.contains('{') {
        let unknown = |_| Error::invalid("ref: no such resource or template");
        let uri = Uri::parse(request.template).map_err(unknown)?;
        server.provider.stat(ctx, &uri).await.map_err(unknown)?;
        return Ok(Reply::Completion(Completion::default()));
    }
    match server.provider.facets().complete {
        Some(complete) => Ok(Reply::Completion(complete.complete(ctx, request).await?)),
        None => Err(Error::invalid("ref: this server does not support completion")),
    }
}
