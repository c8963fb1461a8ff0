//! Pending requests of one connection, and dispatch of the messages that arrive on it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use machinery::{MemoryBudget, MemoryHold};
use parking_lot::Mutex;
use protocol::json::frame::{self, Message, RequestId};
use protocol::outbound::request::{self, methods};
use protocol::outbound::result_text::ResultText;
use protocol::{Refusal, RpcError, UpstreamNotification};
use resource::{ProgressSink, ProgressStep};
use serde_json::value::RawValue;
use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tokio::time;

use crate::error::{Error, TransportFailure};
use crate::notifications::{NotificationDispatcher, NotificationKind, ServerNotification};
use crate::secret_mask::SecretMask;
use crate::server_requests::ServerRequestHandler;

/// How many server requests may be handled concurrently.
const MAX_SERVER_REQUESTS: usize = 16;
/// How often a request's silence timer restarts while its handler answers the server.
const ACTIVITY_INTERVAL: Duration = Duration::from_secs(1);

/// The outcome of a request.
pub(crate) type RequestOutcome = Result<ResultText, TransportFailure>;

/// The outcome of a request, and its size until the caller takes it.
pub(crate) struct ReceivedOutcome {
    pub(crate) outcome: RequestOutcome,
    _memory: MemoryHold,
}

/// Sends the client's answer to a server request.
type AnswerSender = Box<dyn Fn(Vec<u8>) + Send + Sync>;

/// The pending requests of one connection, and the receivers of all other messages.
pub(crate) struct PendingRequests {
    requests: Mutex<HashMap<u64, PendingRequest>>,
    notifications: Arc<NotificationDispatcher>,
    default_handler: Option<ServerRequestHandler>,
    mask: Arc<SecretMask>,
    /// What the log calls the server.
    pub(crate) log_name: Arc<str>,
    memory: Arc<MemoryBudget>,
    server_requests: Arc<Semaphore>,
    answer_sender: OnceLock<AnswerSender>,
    /// Why the connection accepts no more requests, once it does not.
    end_reason: watch::Sender<Option<TransportFailure>>,
    /// Whether the connection has ended, so that no answer reaches the server any more.
    has_ended: watch::Sender<bool>,
}

/// One pending request.
pub(crate) struct PendingRequest {
    pub(crate) outcome: oneshot::Sender<ReceivedOutcome>,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    /// Notified when the server reports progress; restarts the silence timer.
    pub(crate) activity: Arc<Notify>,
    /// Receives the acknowledged URIs of a listen stream.
    pub(crate) acknowledged: Option<oneshot::Sender<Vec<String>>>,
    /// Whether it is a listen stream.
    pub(crate) is_listen: bool,
    /// Handles server requests that arrive meanwhile.
    pub(crate) handler: Option<ServerRequestHandler>,
}

/// The handler for a server request, and the silence timer to restart while it works.
type ActiveHandler = (ServerRequestHandler, Option<Arc<Notify>>);

impl PendingRequests {
    pub(crate) fn new(
        dispatcher: Arc<NotificationDispatcher>,
        handler: Option<ServerRequestHandler>,
        mask: Arc<SecretMask>,
        (log_name, memory): (&str, &Arc<MemoryBudget>),
    ) -> Arc<Self> {
        Arc::new(Self {
            requests: Mutex::default(),
            notifications: dispatcher,
            default_handler: handler,
            mask,
            log_name: log_name.into(),
            memory: Arc::clone(memory),
            server_requests: Arc::new(Semaphore::new(MAX_SERVER_REQUESTS)),
            answer_sender: OnceLock::new(),
            end_reason: watch::Sender::new(None),
            has_ended: watch::Sender::new(false),
        })
    }

    /// The secrets that must not leave this connection.
    pub(crate) fn mask(&self) -> &SecretMask {
        &self.mask
    }

    /// Counts a buffer for what arrives; empty at first.
    pub(crate) fn count_buffer(&self) -> MemoryHold {
        self.memory.hold_anyway(0)
    }

    pub(crate) fn notifications(&self) -> &NotificationDispatcher {
        &self.notifications
    }

    /// Sets how the client sends its answers. Only the first call counts.
    pub(crate) fn set_answer_sender(&self, sender: impl Fn(Vec<u8>) + Send + Sync + 'static) {
        let _ = self.answer_sender.set(Box::new(sender));
    }

    pub(crate) fn insert(&self, id: u64, waiting: PendingRequest) {
        self.requests.lock().insert(id, waiting);
        // Checked after the insert: an earlier end is seen here, a later one finds this request.
        if let Some(lapse) = self.end_reason() {
            self.fail(Some(id), lapse);
        }
    }

    /// Removes a request. Returns whether it was pending.
    pub(crate) fn remove(&self, id: u64) -> bool {
        self.requests.lock().remove(&id).is_some()
    }

    pub(crate) fn is_pending(&self, id: u64) -> bool {
        self.requests.lock().contains_key(&id)
    }

    /// Fails one request.
    pub(crate) fn fail(&self, id: Option<u64>, lapse: impl Into<TransportFailure>) {
        let waiting = id.and_then(|id| self.requests.lock().remove(&id));
        if let Some(waiting) = waiting {
            self.hand_over(waiting, Err(lapse.into()));
        }
    }

    fn hand_over(&self, request: PendingRequest, outcome: RequestOutcome) {
        let bytes = outcome.as_ref().map_or(0, ResultText::held_bytes);
        let _memory = self.memory.hold_anyway(bytes);
        let _ = request.outcome.send(ReceivedOutcome { outcome, _memory });
    }

    /// Fails the request that a message belongs to: the one named, or the only one there is. Ends
    /// the connection if that is not known.
    pub(crate) fn fail_matching(&self, id: Option<u64>, error: &Error) {
        let known = id.filter(|id| self.is_pending(*id)).or_else(|| self.only_request());
        match known {
            Some(id) => self.fail(Some(id), error.clone()),
            None => self.end(error),
        }
    }

    /// Accepts no more requests; those in flight continue.
    pub(crate) fn stop_accepting(&self, lapse: impl Into<TransportFailure>) {
        self.end_reason.send_if_modified(|over| {
            let first = over.is_none();
            if first {
                *over = Some(lapse.into());
            }
            first
        });
    }

    /// Ends the connection and fails every request.
    pub(crate) fn end(&self, error: &Error) {
        self.stop_accepting(error.clone());
        self.has_ended.send_replace(true);
        let waiting: Vec<PendingRequest> =
            self.requests.lock().drain().map(|(_, waiting)| waiting).collect();
        for waiting in waiting {
            self.hand_over(waiting, Err(error.clone().into()));
        }
    }

    /// Why the connection accepts no more requests, if it does not.
    pub(crate) fn end_reason(&self) -> Option<TransportFailure> {
        self.end_reason.borrow().clone()
    }

    /// Waits until the connection accepts no more requests.
    pub(crate) async fn wait_for_end(&self) -> TransportFailure {
        let mut over = self.end_reason.subscribe();
        let ended = over.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        ended.unwrap_or_else(|| Error::Closed("the connection was dropped".to_owned()).into())
    }

    /// Dispatches the messages in one line, body or event. `during` is the request whose answer
    /// carries them, if that is known.
    pub(crate) fn dispatch(
        self: &Arc<Self>,
        bytes: &Bytes,
        during: Option<u64>,
    ) -> Result<(), Error> {
        if let Some((id, result)) = ResultText::split(bytes) {
            self.resolve(Some(&id), Ok(result));
            return Ok(());
        }
        for message in frame::parse_lenient(bytes)? {
            match message {
                Message::Response { id, outcome } => {
                    let masked = |error| self.mask.apply_error(RpcError::decode(error));
                    let outcome = outcome.map(ResultText::from).map_err(masked);
                    self.resolve(id.as_ref(), outcome)
                }
                Message::Request { id, method, params } => {
                    self.dispatch_request(id, &method, params.map(ToOwned::to_owned), during)
                }
                Message::Notification { method, params } => {
                    let params = params.map(ToOwned::to_owned);
                    self.dispatch_notification(method.into_owned(), params, during)
                }
            }
        }
        Ok(())
    }

    fn resolve(&self, id: Option<&RequestId>, outcome: Result<ResultText, RpcError>) {
        let named = id.and_then(|id| id.to_string().parse().ok());
        // An error without an id belongs to the only pending request.
        let id = if id.is_none() && outcome.is_err() { self.only_request() } else { named };
        let waiting = id.and_then(|id| self.requests.lock().remove(&id));
        if let Some(waiting) = waiting {
            self.hand_over(waiting, outcome.map_err(|denial| Error::Refused(denial).into()));
        }
    }

    fn only_request(&self) -> Option<u64> {
        let waiting = self.requests.lock();
        waiting.keys().next().copied().filter(|_| waiting.len() == 1)
    }

    /// Finds the handler for a server request: that of the request `during`, or the one that all
    /// pending requests share, or the default.
    fn handler_for(&self, during: Option<u64>) -> Option<ActiveHandler> {
        let waiting = self.requests.lock();
        let at_work = |one: &&PendingRequest| !one.is_listen;
        let known = during.and_then(|id| waiting.get(&id)).filter(at_work);
        let number =
            |one: &PendingRequest| one.handler.as_ref().and_then(ServerRequestHandler::caller_id);
        let mut parties = waiting.values().filter(at_work).filter(|one| one.handler.is_some());
        let only = || {
            let first = parties.next()?;
            parties.all(|one| number(one) == number(first)).then_some(first)
        };
        let found = known.or_else(only);
        let found = found.and_then(|one| Some((one.handler.as_ref()?, &one.activity)));
        match found {
            Some((handler, pulse)) => Some((handler.clone(), Some(Arc::clone(pulse)))),
            None => self.default_handler.clone().map(|handler| (handler, None)),
        }
    }

    fn dispatch_notification(
        &self,
        method: String,
        params: Option<Box<RawValue>>,
        during: Option<u64>,
    ) {
        if method == methods::LOG_MESSAGE
            && let (Some((handler, _)), Some(message)) = (self.handler_for(during), &params)
        {
            handler.log(&self.mask.apply_json(message.clone()));
        }
        let about = match UpstreamNotification::decode(&method, params.as_deref()) {
            UpstreamNotification::Progress { token, step } => {
                return self.report_progress(&token, step);
            }
            UpstreamNotification::Acknowledged { listen_id: listen, uris } => {
                return self.acknowledge_listen(&listen, uris);
            }
            UpstreamNotification::Cancelled(id) => return self.end_listen(&id),
            UpstreamNotification::ResourceUpdated(uri) => NotificationKind::Updated(uri),
            UpstreamNotification::ResourceListChanged => NotificationKind::ResourceListChanged,
            UpstreamNotification::ComponentListChanged(kind) => {
                NotificationKind::ComponentListChanged(kind)
            }
            UpstreamNotification::Other => NotificationKind::Other,
        };
        self.notifications.broadcast(&ServerNotification {
            kind: about,
            method,
            params,
            from_server: true,
        });
    }

    fn report_progress(&self, token: &RequestId, step: ProgressStep) {
        let sink = {
            let waiting = self.requests.lock();
            let id = token.to_string().parse().ok();
            let Some(waiting) = id.and_then(|id: u64| waiting.get(&id)) else { return };
            waiting.activity.notify_one();
            waiting.progress.clone()
        };
        if let Some(sink) = sink {
            let message = step.message.map(|message| self.mask.apply(&message).into_owned());
            sink.report(ProgressStep { message, ..step });
        }
    }

    fn acknowledge_listen(&self, listen: &RequestId, uris: Vec<String>) {
        let mut waiting = self.requests.lock();
        let id = listen.to_string().parse().ok();
        let begun = id.and_then(|id: u64| waiting.get_mut(&id)?.acknowledged.take());
        if let Some(begun) = begun {
            let _ = begun.send(uris);
        }
    }

    /// MCP 2026-07-28, cancellation: a server may end a listen stream this way. Any other id names
    /// a request of the server, even if it equals one of ours.
    fn end_listen(&self, id: &RequestId) {
        let id = id.to_string().parse().ok();
        let listens =
            id.is_some_and(|id| self.requests.lock().get(&id).is_some_and(|one| one.is_listen));
        if listens {
            self.fail(id, Error::Closed("the server cancelled the listen stream".to_owned()));
        }
    }

    fn dispatch_request(
        self: &Arc<Self>,
        id: RequestId,
        method: &str,
        params: Option<Box<RawValue>>,
        during: Option<u64>,
    ) {
        if method == methods::PING {
            return self.send_answer(request::encode_result(&id, &request::empty_object()));
        }
        let unknown = || Refusal::method_not_found(method);
        let refuse = |refusal: Refusal| {
            if let Ok(bytes) = refusal.encode(Some(&id)).into_bytes() {
                self.send_answer(bytes.to_vec());
            }
        };
        let Some((handler, pulse)) = self.handler_for(during) else { return refuse(unknown()) };
        let Ok(place) = Arc::clone(&self.server_requests).try_acquire_owned() else {
            return refuse(Refusal::busy("too many concurrent requests".to_owned()));
        };
        let (board, method) = (Arc::clone(self), method.to_owned());
        let mut has_ended = self.has_ended.subscribe();
        tokio::spawn(async move {
            let answered = tokio::select! {
                answered = handler.handle_request(method, params) => answered,
                () = keep_active(pulse) => return,
                // Not when it accepts no more requests: those in flight still need the answer.
                _ = has_ended.wait_for(|ended| *ended) => return,
            };
            board.send_answer(match answered {
                Ok(result) => request::encode_result(&id, &result),
                Err(denial) => request::encode_error(&id, &denial),
            });
            drop(place);
        });
    }

    fn send_answer(&self, message: Vec<u8>) {
        if let Some(sender) = self.answer_sender.get() {
            sender(message);
        }
    }
}

/// Restarts the silence timer at intervals, so that a slow handler does not time the request out.
async fn keep_active(pulse: Option<Arc<Notify>>) {
    let Some(pulse) = pulse else { return std::future::pending().await };
    loop {
        time::sleep(ACTIVITY_INTERVAL).await;
        pulse.notify_one();
    }
}

#[cfg(test)]
mod tests;
