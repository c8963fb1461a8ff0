//! States of tasks as a stream, for `subscriptions/listen` (SEP-2663).
//!
//! refdesk polls the upstream server as a client would, so that it needs no notifications of it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use futures_util::stream;
use protocol::outbound::task::{poll_interval, poll_params, with_task_id};
use resource::{Context, Error, Json, Provider, Result, TaskAction, TaskCall};
use tokio::time;

use crate::exchange::Exchange;
use crate::methods::components::IdentityRewrite;
use crate::server::Server;
use crate::task_ids::TaskRef;

/// How long to wait after a failure.
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// The states of one task.
pub(crate) type TaskStates = Pin<Box<dyn Stream<Item = Json> + Send>>;

/// Follows the task `id`: its state now, and each later one that differs, until it has ended. Fails
/// if the client has no such task.
pub(crate) async fn follow_task(
    server: &Server,
    exchange: &Exchange,
    id: &str,
) -> Result<TaskStates> {
    let task = server.task_ids.open(exchange.ctx.principal(), id)?;
    let (provider, ctx) = (Arc::clone(&server.provider), exchange.ctx.clone());
    let mut poll = TaskPoll { provider, ctx, task, id: id.to_owned(), last: None, first: None };
    poll.first = Some(poll.get().await?);
    Ok(Box::pin(stream::unfold(poll, TaskPoll::next)))
}

struct TaskPoll {
    provider: Arc<dyn Provider>,
    ctx: Context,
    task: TaskRef,
    id: String,
    last: Option<Json>,
    /// The state that is known before the stream begins.
    first: Option<Json>,
}

impl TaskPoll {
    async fn get(&self) -> Result<Json> {
        let gone = || Error::invalid("there is no such task");
        let relay = self.provider.facets().relay.ok_or_else(gone)?;
        let (TaskRef { tool, task }, params) = (&self.task, &poll_params());
        let (action, uri_rewrite) = (TaskAction::Get, &IdentityRewrite);
        let call = TaskCall { action, tool, task, params, uri_rewrite };
        Ok(with_task_id(&relay.call_task(&self.ctx, &call).await?, &self.id))
    }

    async fn next(mut self) -> Option<(Json, Self)> {
        if let Some(first) = self.first.take() {
            self.last = Some(first.clone());
            return Some((first, self));
        }
        let mut wait = poll_interval(self.last.as_ref()?)?;
        loop {
            time::sleep(wait).await;
            let state = match self.get().await {
                Ok(state) => state,
                Err(error) if error.is_retryable() => {
                    wait = RETRY_DELAY;
                    continue;
                }
                Err(_) => return None,
            };
            if self.last.as_ref() != Some(&state) {
                self.last = Some(state.clone());
                return Some((state, self));
            }
            wait = poll_interval(&state)?;
        }
    }
}
