//! Completing the variables of templates.

use protocol::Reply;
use resource::{Completion, Context, Error, Question, Result, Uri};

use crate::server::Server;

/// Values for a variable of a template. A plain URI has no variables, which is no error.
pub(crate) async fn complete(
    server: &Server,
    ctx: &Context,
    question: &Question<'_>,
) -> Result<Reply> {
    if !server.completions.admits() {
        return Err(Error::unavailable("too many completions are asked for; wait a little"));
    }
    if !question.template.contains('{') {
        let unknown = |_| Error::invalid("ref: no such resource or template");
        let uri = Uri::parse(question.template).map_err(unknown)?;
        server.provider.stat(ctx, &uri).await.map_err(unknown)?;
        return Ok(Reply::Completion(Completion::default()));
    }
    match server.provider.facets().complete {
        Some(complete) => Ok(Reply::Completion(complete.complete(ctx, question).await?)),
        None => Err(Error::invalid("ref: nothing can be completed here")),
    }
}
