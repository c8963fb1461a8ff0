//! Server-to-client requests: elicitation, sampling, roots.
//!
//! The future of a call passes them to the call's caller, so they end with the call.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use protocol::RpcError;
use protocol::outbound::request::methods;
use protocol::outbound::{components, input_request};
use resource::{Caller, ErrorKind, Json, UpstreamError, UriRewrite};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::error::{CallError, Error};

/// How many server requests of one call may be queued.
const MAX_QUEUED_REQUESTS: usize = 16;
/// How often a server may answer one call with `input_required`.
const MAX_INPUT_ROUNDS: usize = 16;

type ServerRequestResult = Result<Box<RawValue>, RpcError>;

/// A server request, and the channel for its answer.
pub(crate) struct RelayedRequest {
    method: String,
    params: Option<Box<RawValue>>,
    reply: oneshot::Sender<ServerRequestResult>,
}

/// Answers server requests and receives log messages.
#[derive(Clone)]
pub(crate) enum ServerRequestHandler {
    /// Outside a call, or in a call without a caller: answers `roots/list` with no roots and
    /// refuses the rest.
    NoCaller,
    /// Passes requests to the future of a call, and log messages to its caller.
    Caller { requests: mpsc::Sender<RelayedRequest>, caller: Arc<dyn Caller> },
}

impl ServerRequestHandler {
    /// A handler that stands for `caller`, and the queue of server requests that it receives.
    pub(crate) fn new(caller: &Arc<dyn Caller>) -> (Self, mpsc::Receiver<RelayedRequest>) {
        let (requests, queue) = mpsc::channel(MAX_QUEUED_REQUESTS);
        (Self::Caller { requests, caller: Arc::clone(caller) }, queue)
    }

    /// Identifies the caller, which may have several requests in flight.
    pub(crate) fn caller_id(&self) -> Option<u64> {
        match self {
            Self::NoCaller => None,
            Self::Caller { caller, .. } => Some(caller.id()),
        }
    }

    /// Answers one request with a result or an error.
    pub(crate) async fn handle_request(
        &self,
        method: String,
        params: Option<Box<RawValue>>,
    ) -> ServerRequestResult {
        match self {
            Self::NoCaller if method == methods::LIST_ROOTS => Ok(input_request::empty_roots()),
            Self::NoCaller => {
                Err(RpcError::method_not_found("no client is available for this request"))
            }
            Self::Caller { requests, .. } => {
                let (reply, answer) = oneshot::channel();
                // If the call has ended, the send drops `reply`, and the answer fails.
                let _ = requests.send(RelayedRequest { method, params, reply }).await;
                answer.await.unwrap_or_else(|_| Err(RpcError::internal("the call has ended")))
            }
        }
    }

    /// Receives the parameters of a log message.
    pub(crate) fn log(&self, message: &RawValue) {
        if let Self::Caller { caller, .. } = self {
            caller.log(&message.get().into());
        }
    }
}

/// Runs `work`, and relays server requests to `caller` meanwhile.
pub(crate) async fn run_with_requests<T>(
    work: impl Future<Output = T>,
    mut requests: mpsc::Receiver<RelayedRequest>,
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
            Some(request) = requests.recv() => answering.push(async move {
                let RelayedRequest { method, params, reply } = request;
                let params = components::public_request_params(params.as_deref(), rewrite);
                let _ = reply.send(ask_caller(caller, &method, &params).await);
            }),
        }
    }
}

async fn ask_caller(caller: &dyn Caller, method: &str, params: &Json) -> ServerRequestResult {
    let error = match caller.send_request(method, params).await {
        Ok(json) => {
            let invalid = || RpcError::internal("the client's answer is not valid JSON");
            return components::to_raw_line(&json).ok_or_else(invalid);
        }
        Err(error) => error,
    };
    Err(match error.upstream.map(|upstream| *upstream) {
        Some(UpstreamError { code, message, data }) => {
            RpcError { code, message, data: data.as_ref().and_then(components::to_raw_line) }
        }
        None if error.kind == ErrorKind::Unsupported => RpcError::method_not_found(&error.message),
        None => RpcError::internal(&error.message),
    })
}

/// Repeats a request with the caller's input until the server returns a final result. If the
/// caller cannot receive requests meanwhile, returns the `input_required` result.
pub(crate) async fn repeat_with_input<F: Future<Output = Result<Json, Error>>>(
    caller: Option<&dyn Caller>,
    mut params: Box<RawValue>,
    send_once: impl Fn(Box<RawValue>) -> F,
) -> Result<Json, CallError> {
    for _ in 0..MAX_INPUT_ROUNDS {
        let result = send_once(params.clone()).await?;
        let Some(caller) = caller.filter(|caller| caller.accepts_requests()) else {
            return Ok(result);
        };
        let Some(input) = input_request::decode_input_required(&result) else { return Ok(result) };
        let answers = input.requests.into_iter().map(|request| async move {
            let answer = caller.send_request(&request.method, &request.params).await?;
            Ok::<_, CallError>((request.key, answer))
        });
        let answers = try_join_all(answers).await?;
        params = input_request::retry_params(&params, &answers, input.state.as_ref())
            .map_err(|flaw| CallError::invalid(&flaw))?;
    }
    let words = "the server behind this mount asks for input too often";
    Err(resource::Error::unavailable(words).into())
}
