//! Which method answers which request?

use protocol::{Call, Reply};
use resource::Result;

use crate::exchange::Exchange;
use crate::methods::{completion, resources};
use crate::server::Server;

/// Answers a request.
pub(crate) async fn answer(server: &Server, exchange: &Exchange, call: Call) -> Result<Reply> {
    let ctx = &exchange.ctx;
    match call {
        Call::Initialize { .. } => Ok(Reply::Welcome),
        Call::Discover => Ok(Reply::Discovery),
        Call::Ping => Ok(Reply::Done),
        Call::List { parent, cursor } => resources::list(server, ctx, parent, cursor).await,
        Call::Directory { parent, cursor } => {
            resources::directory(server, ctx, parent, cursor).await
        }
        Call::Templates { cursor } => resources::templates(server, ctx, cursor).await,
        Call::Read { uri, window } => resources::read(server, ctx, &uri, window).await,
        Call::Metadata { uri } => resources::metadata(server, ctx, &uri).await,
        Call::Complete { template, variable, typed, settled } => {
            let question = resource::Question {
                template: &template,
                variable: &variable,
                typed: &typed,
                settled: &settled,
            };
            completion::complete(server, ctx, &question).await
        }
    }
}
