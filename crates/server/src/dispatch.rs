//! Dispatch: maps each decoded call to the function that handles it.

use protocol::{Call, Reply};
use resource::{Error, Result};

use crate::exchange::Exchange;
use crate::methods::subscriptions::Subscriber;
use crate::methods::{completion, relay, resources};
use crate::server::Server;

/// Runs the method of `call`.
pub(crate) async fn answer(server: &Server, exchange: &Exchange, call: Call) -> Result<Reply> {
    let ctx = &exchange.ctx;
    match call {
        Call::Initialize { .. } => Ok(Reply::Welcome),
        Call::Discover => Ok(Reply::Discovery(server.stands())),
        Call::Ping => Ok(Reply::Done),
        Call::Level(level) => {
            if let Some(guest) = &exchange.guest {
                guest.listen(level);
            }
            Ok(Reply::Done)
        }
        Call::List { parent, cursor } => resources::list(server, ctx, parent, cursor).await,
        Call::Directory { parent, cursor } => {
            resources::directory(server, ctx, parent, cursor).await
        }
        Call::Templates { cursor } => resources::templates(server, ctx, cursor).await,
        Call::Read { uri, window, .. } => resources::read(server, exchange, &uri, window).await,
        Call::Metadata { uri } => resources::metadata(server, ctx, &uri).await,
        Call::Subscribe { uri } => subscriber(exchange)?.subscribe(uri).await,
        Call::Unsubscribe { uri } => Ok(subscriber(exchange)?.unsubscribe(&uri)),
        // The transports handle it before dispatch: they stream its notifications.
        Call::Listen(_) => Err(Error::invalid("this transport cannot stream notifications")),
        Call::Offers { offer, cursor } => relay::list(server, ctx, offer, cursor).await,
        Call::Offered { offer, name, params } => {
            relay::call(server, exchange, offer, &name, &params).await
        }
        Call::Suggest { prompt, argument, typed, settled } => {
            let blank = resource::Blank {
                prompt: &prompt,
                argument: &argument,
                typed: &typed,
                settled: &settled,
            };
            relay::suggest(server, ctx, &blank).await
        }
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

fn subscriber(exchange: &Exchange) -> Result<&Subscriber> {
    let nobody = || Error::invalid("subscribing needs a session; open one with initialize");
    exchange.subscriber.as_deref().ok_or_else(nobody)
}
