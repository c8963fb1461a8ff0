//! `tools/*` and `prompts/*`: our own tools, and those of upstream servers by proxy.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use protocol::inbound::prompt::ContextPrompt;
use protocol::inbound::shape::relayed_result::adapt_result;
use protocol::{BuiltinTool, Reply};
use resource::{
    CacheScope, Completion, Component, ComponentCall, ComponentKind, Context, Cursor, Error,
    ErrorKind, Freshness, Json, Page, PageRequest, PromptCompletionRequest, Relay, Result,
    UriRewrite,
};

use super::resources::{page_request, seal_page};
use super::tasks::seal_created_task;
use crate::exchange::Exchange;
use crate::request_state::StateBinding;
use crate::server::Server;
use crate::tools;

/// Identity URI rewriting: at this level all URIs are already public; the catalog rewrites them.
pub(crate) struct IdentityRewrite;

impl UriRewrite for IdentityRewrite {
    fn to_public(&self, _local: &str) -> Option<String> {
        None
    }

    fn to_local(&self, _public: &str) -> Option<String> {
        None
    }
}

/// Lists one page of tools or prompts.
pub(crate) async fn list_components(
    server: &Server,
    ctx: &Context,
    kind: ComponentKind,
    cursor: Option<String>,
) -> Result<Reply> {
    let list = match kind {
        ComponentKind::Tool => "tools",
        ComponentKind::Prompt => "prompts",
    };
    let ask = page_request(server, ctx, list, cursor)?;
    let page = match kind {
        ComponentKind::Tool => {
            let page = list_tools(server, ctx, &ask).await?;
            server.param_headers.record_listed(&page.items);
            page
        }
        ComponentKind::Prompt => list_prompts(server, ctx, &ask).await?,
    };
    Ok(Reply::Components(kind, seal_page(server, ctx, list, page)))
}

/// How long a client may cache the list of our own tools.
const OWN_TOOLS_FRESHNESS: Freshness =
    Freshness { ttl: Duration::from_secs(300), scope: CacheScope::Public };

/// A page of tools: our own first, then upstream ones. A cursor starts with 0 for our own tools,
/// 1 for upstream ones.
async fn list_tools(
    server: &Server,
    ctx: &Context,
    paging: &PageRequest,
) -> Result<Page<Component>> {
    let (own, theirs) = match paging.cursor.as_ref().map(|from| from.0.split_first()) {
        None => (Some(0), None),
        Some(Some((0, at))) => (at.first().map(|at| usize::from(*at)), None),
        Some(Some((1, place))) => (None, Some(Cursor(Bytes::copy_from_slice(place)))),
        Some(_) => return Err(Error::bad_cursor()),
    };
    let mut page = Page { freshness: OWN_TOOLS_FRESHNESS, ..Page::empty() };
    if let Some(at) = own {
        let mut rest = server.own_tools(ctx).skip(at);
        page.items.extend(rest.by_ref().take(paging.limit).map(BuiltinTool::definition));
        if rest.next().is_some() {
            let at = u8::try_from(at + page.items.len()).map_err(|_| Error::bad_cursor())?;
            page.next = Some(Cursor(Bytes::copy_from_slice(&[0, at])));
            return Ok(page);
        }
    }
    let left = paging.limit - page.items.len();
    if !server.relays_component(ctx, ComponentKind::Tool) {
        return Ok(page);
    }
    if left == 0 {
        page.next = Some(Cursor(Bytes::from_static(&[1])));
        return Ok(page);
    }
    let from = theirs.filter(|place| !place.0.is_empty());
    let ask = PageRequest::new(from, left);
    let more = require_relay(server)?
        .list_components(ctx, ComponentKind::Tool, &IdentityRewrite, &ask)
        .await?;
    // Our own tools win over upstream tools of the same name.
    let is_free =
        |component: &Arc<Component>| find_own_tool(server, ctx, &component.name).is_none();
    page.items.extend(more.items.into_iter().filter(is_free));
    page.next = more.next.map(|next| Cursor([&[1], &next.0[..]].concat().into()));
    page.absent = more.absent;
    page.extra = more.extra;
    page.freshness = page.freshness.combine(more.freshness);
    Ok(page)
}

/// A page of prompts: our own on the first one, if there is a search index.
async fn list_prompts(
    server: &Server,
    ctx: &Context,
    paging: &PageRequest,
) -> Result<Page<Component>> {
    let is_relayed = server.relays_component(ctx, ComponentKind::Prompt);
    let mut page = match is_relayed {
        true => {
            let kind = ComponentKind::Prompt;
            require_relay(server)?.list_components(ctx, kind, &IdentityRewrite, paging).await?
        }
        false if paging.cursor.is_some() => return Err(Error::bad_cursor()),
        false => Page { freshness: OWN_TOOLS_FRESHNESS, ..Page::empty() },
    };
    if server.has_own_prompt() {
        // Our own prompt wins over an upstream one of the same name.
        page.items.retain(|prompt| prompt.name != ContextPrompt::NAME);
        if paging.cursor.is_none() {
            page.items.to_mut().insert(0, ContextPrompt::definition());
        }
    }
    Ok(page)
}

/// Our own tool of this name.
fn find_own_tool(server: &Server, ctx: &Context, name: &str) -> Option<BuiltinTool> {
    server.own_tools(ctx).find(|tool| tool.name() == name)
}

/// Calls one of our tools, or forwards the tool call or prompt to its upstream server.
pub(crate) async fn call_component(
    server: &Server,
    exchange: &Exchange,
    kind: ComponentKind,
    name: &str,
    params: &Json,
) -> Result<Reply> {
    if let Some(tool) =
        find_own_tool(server, &exchange.ctx, name).filter(|_| kind == ComponentKind::Tool)
    {
        return tools::run_tool(server, exchange, tool, params).await;
    }
    let is_own = kind == ComponentKind::Prompt && name == ContextPrompt::NAME;
    if is_own && server.has_own_prompt() {
        let result = tools::pack::context_prompt(server, exchange, params).await?;
        return Ok(Reply::UpstreamResult(adapt_result(&result, exchange.dialect)?));
    }
    call_relayed(server, exchange, kind, name, params).await
}

/// Forwards a tool call or prompt to its upstream server.
pub(crate) async fn call_relayed(
    server: &Server,
    exchange: &Exchange,
    kind: ComponentKind,
    name: &str,
    params: &Json,
) -> Result<Reply> {
    let about = format!("{kind:?} {name}");
    let principal = exchange.ctx.principal();
    let binding = StateBinding { principal, about: &about, params: Some(params) };
    let params = &server.state_seal.open_params(binding, params)?;
    let calling = ComponentCall { kind, name, params, uri_rewrite: &IdentityRewrite };
    let given = require_relay(server)?.call_component(&exchange.ctx, &calling).await?;
    let given = server.state_seal.seal_result(binding, &given)?;
    let given = seal_created_task(server, principal, (name, params), given)?;
    Ok(Reply::UpstreamResult(adapt_result(&given, exchange.dialect)?))
}

/// Completes an argument of a prompt.
pub(crate) async fn complete_prompt(
    server: &Server,
    ctx: &Context,
    request: &PromptCompletionRequest<'_>,
) -> Result<Reply> {
    if !server.completion_rate.try_take(ctx.principal()) {
        return Err(Error::unavailable("too many completion requests; try again in a moment"));
    }
    if !server.has_component(ctx, ComponentKind::Prompt) {
        return Err(Error::invalid(format!("ref: there is no prompt {:?}", request.prompt)));
    }
    if request.prompt == ContextPrompt::NAME && server.has_own_prompt() {
        return Ok(Reply::Completion(Completion::default()));
    }
    Ok(Reply::Completion(require_relay(server)?.complete_prompt(ctx, request).await?))
}

pub(crate) fn require_relay(server: &Server) -> Result<&dyn Relay> {
    let nothing = || Error::new(ErrorKind::Unsupported, "there is no tool or prompt of that name");
    server.provider.facets().relay.ok_or_else(nothing)
}
