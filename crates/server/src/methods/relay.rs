//! Tools and prompts of servers behind us.

use protocol::Reply;
use protocol::shape::outcome::outcome;
use resource::{Blank, Calling, Context, Error, ErrorKind, Json, Names, Offer, Relay, Result};

use super::resources::{ask, sealed};
use crate::exchange::Exchange;
use crate::reminder;
use crate::server::Server;

/// Whoever has several sources gives each its own names; to us all names are public.
struct Unchanged;

impl Names for Unchanged {
    fn public(&self, _local: &str) -> Option<String> {
        None
    }

    fn local(&self, _public: &str) -> Option<String> {
        None
    }
}

/// A page of the tools or of the prompts.
pub(crate) async fn list(
    server: &Server,
    ctx: &Context,
    offer: Offer,
    cursor: Option<String>,
) -> Result<Reply> {
    let list = match offer {
        Offer::Tool => "tools",
        Offer::Prompt => "prompts",
    };
    let ask = ask(server, list, cursor)?;
    let page = relay(server)?.offers(ctx, offer, &Unchanged, &ask).await?;
    Ok(Reply::Offers(offer, sealed(server, list, page)))
}

/// What running a tool or filling in a prompt gives.
pub(crate) async fn call(
    server: &Server,
    exchange: &Exchange,
    offer: Offer,
    name: &str,
    params: &Json,
) -> Result<Reply> {
    let about = format!("{offer:?} {name}");
    let params = &reminder::open(server, &about, params)?;
    let calling = Calling { offer, name, params, names: &Unchanged };
    let given = relay(server)?.call(&exchange.ctx, &calling).await?;
    let given = reminder::close(server, &about, &given);
    Ok(Reply::Relayed(outcome(&given, exchange.terms.revision)?))
}

/// Values for an argument of a prompt.
pub(crate) async fn suggest(server: &Server, ctx: &Context, blank: &Blank<'_>) -> Result<Reply> {
    if !server.completions.admits() {
        return Err(Error::unavailable("too many completions are asked for; wait a little"));
    }
    if !server.offers(Offer::Prompt) {
        return Err(Error::invalid(format!("ref: there is no prompt {:?}", blank.prompt)));
    }
    Ok(Reply::Completion(relay(server)?.suggest(ctx, blank).await?))
}

fn relay(server: &Server) -> Result<&dyn Relay> {
    let nothing = || Error::new(ErrorKind::Unsupported, "nothing is offered here");
    server.provider.facets().relay.ok_or_else(nothing)
}
