//! `tasks/*`: tasks of upstream servers' tools, by proxy (SEP-2663).

use protocol::Reply;
use protocol::inbound::shape::relayed_result::adapt_result;
use protocol::outbound::task::{created_task, declares_tasks, with_task_id};
use resource::{Error, Json, Principal, Result, TaskAction, TaskCall};

use super::components::{IdentityRewrite, require_relay};
use crate::exchange::Exchange;
use crate::server::Server;
use crate::task_ids::TaskRef;

/// Forwards a request about a task to the upstream server that runs it.
pub(crate) async fn call_task(
    server: &Server,
    exchange: &Exchange,
    action: TaskAction,
    id: &str,
    params: &Json,
) -> Result<Reply> {
    let TaskRef { tool, task } = server.task_ids.open(exchange.ctx.principal(), id)?;
    let call = TaskCall { action, tool: &tool, task: &task, params, uri_rewrite: &IdentityRewrite };
    let state = require_relay(server)?.call_task(&exchange.ctx, &call).await?;
    Ok(Reply::UpstreamResult(adapt_result(&with_task_id(&state, id), exchange.dialect)?))
}

/// The result of a call of `tool`. A task that it started gets the id that the client uses.
pub(super) fn seal_created_task(
    server: &Server,
    principal: &Principal,
    (tool, params): (&str, &Json),
    result: Json,
) -> Result<Json> {
    let Some(task) = created_task(&result) else { return Ok(result) };
    //
    if !declares_tasks(params) {
        let why = "the upstream server started a task, which this client does not know";
        return Err(Error::unavailable(why));
    }
    let task = TaskRef { tool: tool.to_owned(), task };
    Ok(with_task_id(&result, &server.task_ids.seal(principal, &task)?))
}
