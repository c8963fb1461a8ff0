//! Relay of server-to-client requests during a call: elicitation, sampling, roots.
//!
//! The call's own future passes them to the caller, so they end with the call.

use std::sync::Arc;

use async_trait::async_trait;
use client::{RawJson, RpcError, ServerRequestHandler, components, input_request, methods};
use futures_util::StreamExt;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use resource::{Caller, Error, ErrorKind, Json, Result, UpstreamError, UriRewrite};
use tokio::sync::{mpsc, oneshot};

/// How many server requests of one call may be queued.
const MAX_QUEUED_REQUESTS: usize = 16;
/// How often a server may answer one call with `input_required`.
const MAX_INPUT_ROUNDS: usize = 16;

type ServerRequestResult = Result<Box<RawJson>, RpcError>;

/// A server request, and the channel for its answer.
pub(super) struct RelayedRequest {
    method: String,
    params: Option<Box<RawJson>>,
    reply: oneshot::Sender<ServerRequestResult>,
}

/// Handler of a call's server requests and log messages.
struct CallerHandler {
    requests: mpsc::Sender<RelayedRequest>,
    caller: Arc<dyn Caller>,
}

#[async_trait]
impl ServerRequestHandler for CallerHandler {
    async fn handle_request(
        &self,
        method: &str,
        params: Option<Box<RawJson>>,
    ) -> ServerRequestResult {
        let (answer, answered) = oneshot::channel();
        let gone = |()| Err(RpcError::internal("the call has ended"));
        let asked = RelayedRequest { method: method.to_owned(), params, reply: answer };
        let sent = self.requests.send(asked).await.map_err(|_| ());
        match sent {
            Ok(()) => answered.await.unwrap_or_else(|_| gone(())),
            Err(()) => gone(()),
        }
    }

    fn log(&self, message: &RawJson) {
        self.caller.log(&message.get().into());
    }
}

/// A handler that stands for `caller`, and the queue of server requests that it receives.
pub(super) fn caller_handler(
    caller: &Arc<dyn Caller>,
) -> (Arc<dyn ServerRequestHandler>, mpsc::Receiver<RelayedRequest>) {
    let (asked, questions) = mpsc::channel(MAX_QUEUED_REQUESTS);
    (Arc::new(CallerHandler { requests: asked, caller: Arc::clone(caller) }), questions)
}

/// Runs `work`, and relays server requests to `caller` meanwhile.
pub(super) async fn run_with_requests<T>(
    work: impl Future<Output = T>,
    mut asked: mpsc::Receiver<RelayedRequest>,
    caller: &dyn Caller,
    rewrite: &dyn UriRewrite,
) -> T {
    let mut answering = FuturesUnordered::new();
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(()) = answering.next() => {}
            Some(RelayedRequest { method, params, reply }) = asked.recv() => answering.push(async move {
                let params = components::public_request_params(params.as_deref(), rewrite);
                let _ = reply.send(ask_caller(caller, &method, &params).await);
            }),
        }
    }
}

async fn ask_caller(caller: &dyn Caller, method: &str, params: &Json) -> ServerRequestResult {
    let answered = caller.send_request(method, params).await;
    let odd = || RpcError::internal("the client's answer is not valid JSON");
    match answered {
        Ok(json) => components::to_raw_line(&json).ok_or_else(odd),
        Err(error) => Err(match error.upstream.map(|said| *said) {
            Some(UpstreamError { code, message, data }) => {
                RpcError { code, message, data: data.as_ref().and_then(components::to_raw_line) }
            }
            None if error.kind == ErrorKind::Unsupported => {
                RpcError::method_not_found(&error.message)
            }
            None => RpcError::internal(&error.message),
        }),
    }
}

/// Repeats a call with the caller's input until the server returns a final result. If the caller
/// cannot receive requests during the call, returns the `input_required` result.
pub(crate) async fn call_until_final<F: Future<Output = Result<Json>>>(
    caller: Option<&dyn Caller>,
    mut params: Box<RawJson>,
    once: impl Fn(Box<RawJson>) -> F,
) -> Result<Json> {
    for _ in 0..MAX_INPUT_ROUNDS {
        let given = once(params.clone()).await?;
        let Some(caller) = caller.filter(|caller| caller.accepts_requests()) else {
            return Ok(given);
        };
        let Some(questions) = input_request::decode_input_required(&given) else {
            return Ok(given);
        };
        let answers = questions.requests.into_iter().map(|question| async move {
            let answer = caller.send_request(&question.method, &question.params).await?;
            Ok::<_, Error>((question.key, answer))
        });
        let answers = try_join_all(answers).await?;
        let again = input_request::retry_params(&params, &answers, questions.state.as_ref());
        params = again.map_err(|flaw| Error::invalid(flaw.to_string()))?;
    }
    Err(Error::unavailable("the server behind this mount asks for input too often"))
}

/// Handles server requests outside a call, where there is no client to ask: answers `roots/list`
/// with no roots and refuses the rest.
pub struct NoClientHandler;

#[async_trait]
impl ServerRequestHandler for NoClientHandler {
    async fn handle_request(
        &self,
        method: &str,
        _params: Option<Box<RawJson>>,
    ) -> ServerRequestResult {
        match method {
            methods::LIST_ROOTS => Ok(input_request::empty_roots()),
            _ => Err(RpcError::method_not_found("no client is available for this request")),
        }
    }

    fn log(&self, _message: &RawJson) {}
}
