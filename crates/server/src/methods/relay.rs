//! `tools/*` and `prompts/*`: our own tools, and those of upstream servers by proxy.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use protocol::shape::outcome::outcome;
use protocol::{Reply, Tool};
use resource::{
    Ask, Blank, Calling, Context, Cursor, Error, ErrorKind, Freshness, Json, Names, Offer, Offered,
    Page, Relay, Result, Scope,
};

use super::resources::{ask, sealed};
use crate::exchange::Exchange;
use crate::reminder;
use crate::server::Server;
use crate::tools;

/// Identity URI rewriting: at this level all URIs are already public; the catalog rewrites them.
struct Unchanged;

impl Names for Unchanged {
    fn public(&self, _local: &str) -> Option<String> {
        None
    }

    fn local(&self, _public: &str) -> Option<String> {
        None
    }
}

/// Lists one page of tools or prompts.
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
    let page = match offer {
        Offer::Tool => {
            let page = all_tools(server, ctx, &ask).await?;
            server.mirrored.see(&page.items);
            page
        }
        Offer::Prompt => relay(server)?.offers(ctx, offer, &Unchanged, &ask).await?,
    };
    Ok(Reply::Offers(offer, sealed(server, list, page)))
}

/// How long a client may cache the list of our own tools.
const OWN: Freshness = Freshness { ttl: Duration::from_secs(300), scope: Scope::Public };

/// A page of tools: our own first, then upstream ones. A cursor starts with 0 for our own tools,
/// 1 for upstream ones.
async fn all_tools(server: &Server, ctx: &Context, ask: &Ask) -> Result<Page<Offered>> {
    let (own, theirs) = match ask.from.as_ref().map(|from| from.0.split_first()) {
        None => (Some(0), None),
        Some(Some((0, at))) => (at.first().map(|at| usize::from(*at)), None),
        Some(Some((1, place))) => (None, Some(Cursor(Bytes::copy_from_slice(place)))),
        Some(_) => return Err(Error::bad_cursor()),
    };
    let mut page = Page { freshness: OWN, ..Page::empty() };
    if let Some(at) = own {
        let mut rest = server.tools().skip(at);
        page.items.extend(rest.by_ref().take(ask.limit).map(Tool::offered));
        if rest.next().is_some() {
            let at = u8::try_from(at + page.items.len()).map_err(|_| Error::bad_cursor())?;
            page.next = Some(Cursor(Bytes::copy_from_slice(&[0, at])));
            return Ok(page);
        }
    }
    let left = ask.limit - page.items.len();
    if !server.relays(Offer::Tool) {
        return Ok(page);
    }
    if left == 0 {
        page.next = Some(Cursor(Bytes::from_static(&[1])));
        return Ok(page);
    }
    let from = theirs.filter(|place| !place.0.is_empty());
    let ask = Ask { from, limit: left };
    let more = relay(server)?.offers(ctx, Offer::Tool, &Unchanged, &ask).await?;
    // Our own tools win over upstream tools of the same name.
    let is_free = |offered: &Arc<Offered>| own_tool(server, &offered.name).is_none();
    page.items.extend(more.items.into_iter().filter(is_free));
    page.next = more.next.map(|next| Cursor([&[1], &next.0[..]].concat().into()));
    page.absent = more.absent;
    page.freshness = page.freshness.and(more.freshness);
    Ok(page)
}

/// Our own tool of this name.
fn own_tool(server: &Server, name: &str) -> Option<Tool> {
    server.tools().find(|tool| tool.name() == name)
}

/// Calls one of our tools, or forwards the tool call or prompt to its upstream server.
pub(crate) async fn call(
    server: &Server,
    exchange: &Exchange,
    offer: Offer,
    name: &str,
    params: &Json,
) -> Result<Reply> {
    if let Some(tool) = own_tool(server, name).filter(|_| offer == Offer::Tool) {
        return tools::call(server, exchange, tool, params).await;
    }
    let about = format!("{offer:?} {name}");
    let params = &reminder::open(server, &about, params)?;
    let calling = Calling { offer, name, params, names: &Unchanged };
    let given = relay(server)?.call(&exchange.ctx, &calling).await?;
    let given = reminder::close(server, &about, &given);
    Ok(Reply::Relayed(outcome(&given, exchange.terms.revision)?))
}

/// Completes an argument of a prompt.
pub(crate) async fn suggest(server: &Server, ctx: &Context, blank: &Blank<'_>) -> Result<Reply> {
    if !server.completions.admits() {
        return Err(Error::unavailable("too many completion requests; try again in a moment"));
    }
    if !server.offers(Offer::Prompt) {
        return Err(Error::invalid(format!("ref: there is no prompt {:?}", blank.prompt)));
    }
    Ok(Reply::Completion(relay(server)?.suggest(ctx, blank).await?))
}

fn relay(server: &Server) -> Result<&dyn Relay> {
    let nothing = || Error::new(ErrorKind::Unsupported, "there is no tool or prompt of that name");
    server.provider.facets().relay.ok_or_else(nothing)
}
