//! Lasting connection (stdio, HTTP+SSE): runs requests, notifications and batches concurrently.
//!
//! A client may mix requests with and without handshake on one connection. All answers leave
//! through one bounded channel, each as soon as it is ready. A request counts as in flight until
//! its answer is in that channel: backpressure against clients that do not read.

mod batch;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use machinery::{MemoryBudget, MemoryHold};
use parking_lot::Mutex;
use protocol::inbound::call::ClientNotification;
use protocol::json::frame::{self, RawJson};
use protocol::{Call, Incoming, ListenFilter, Message, Outgoing, Refusal, RequestId};
use resource::Principal;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};

use crate::audit::{AuditSink, AuditedCall};
use crate::clients::ClientTransport;
use crate::exchange::Exchange;
use crate::in_flight::{InFlightRequest, RequestOutput};
use crate::lifecycle::stateless::{self, StatelessTerms};
use crate::lifecycle::{
    DecodedRequest, HandshakeResult, IncomingRequest, RequestOrigin, handshake,
};
use crate::methods::subscriptions::{ListenSubscriptions, SessionSubscriptions};
use crate::server::Server;
use crate::transport::pipe_audit::PipeAudit;
use crate::transport::wait_for_signal;

/// Capacity of the channel to the writer, which sends what waits there in one piece.
pub(crate) const OUTBOUND_QUEUE: usize = 16;

/// One lasting connection.
pub(crate) struct DuplexConnection {
    server: Arc<Server>,
    out: mpsc::Sender<Outgoing>,
    /// Who sends the requests of this connection, and over which transport.
    principal: Principal,
    transport: ClientTransport,
    /// Receives a record of each request, if the transport does not record them itself.
    audit: Option<Arc<dyn AuditSink>>,
    /// What its requests and answers hold.
    memory: Arc<MemoryBudget>,
    subscriber: Arc<SessionSubscriptions>,
    /// True once the connection shuts down; ends listening requests and notifications.
    closing: watch::Sender<bool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The result of the handshake, after it.
    handshake: Option<HandshakeResult>,
    /// Requests in flight.
    in_flight: HashMap<RequestId, InFlightEntry>,
    /// Whether the task that sends change notifications is running.
    is_notifying: bool,
    tasks: JoinSet<()>,
}

/// One request in flight.
#[derive(Default)]
struct InFlightEntry {
    /// Cancels it; `None` where that is not allowed.
    abort: Option<AbortHandle>,
    /// Whether it is a listening request, which lasts until its client cancels it.
    is_listening: bool,
}

impl DuplexConnection {
    /// A connection of `principal` that sends its messages to `out`.
    pub(crate) fn new(
        server: Arc<Server>,
        out: mpsc::Sender<Outgoing>,
        (principal, transport): (Principal, ClientTransport),
        audit: Option<Arc<dyn AuditSink>>,
    ) -> Arc<Self> {
        let subscriber = Arc::new(SessionSubscriptions::new(&server, principal.clone()));
        let memory = server.memory_of(&principal).child(server.limits.memory / 8);
        let (closing, state) = (watch::Sender::new(false), Mutex::default());
        Arc::new(Self {
            server,
            out,
            principal,
            transport,
            audit,
            memory,
            subscriber,
            closing,
            state,
        })
    }

    /// Handles one message or batch. Returns once its requests have started, before their answers.
    pub(crate) async fn handle_bytes(self: &Arc<Self>, bytes: &Bytes) {
        // Beyond the limit a request is refused; notifications and responses hold nothing.
        let held = self.memory.hold(bytes.len());
        let has_room = held.is_some();
        let memory = Arc::new(held.unwrap_or_else(|| self.memory.hold_anyway(0)));
        match frame::parse(bytes, self.server.bounds()) {
            Ok(Incoming::Single(Message::Request { id, .. })) if !has_room => {
                self.send(Refusal::out_of_memory().encode(Some(&id))).await;
            }
            Ok(Incoming::Single(message)) => self.handle_message(message, &memory).await,
            Ok(Incoming::Batch(_)) if !has_room => {
                self.send(Refusal::out_of_memory().encode(None)).await;
            }
            Ok(Incoming::Batch(messages)) if self.allows_batches() => {
                self.handle_batch(messages, &memory).await;
            }
            Ok(Incoming::Batch(_)) => {
                self.send(Refusal::invalid_request("this revision has no batches").encode(None))
                    .await;
            }
            Err(refusal) => self.send(refusal.encode(None)).await,
        }
    }

    /// Ends listening requests and notifications, and waits for the requests in flight.
    pub(crate) async fn drain(&self) {
        self.closing.send_replace(true);
        let mut tasks = std::mem::take(&mut self.state.lock().tasks);
        while tasks.join_next().await.is_some() {}
    }

    async fn handle_message(self: &Arc<Self>, message: Message<'_>, memory: &Arc<MemoryHold>) {
        match message {
            Message::Request { id, method, params } => {
                let (opened, audit) = self.decode_message(&id, (&method, params), memory);
                let entered = opened.and_then(|one| {
                    self.register(&[&id], one.listen_filter().is_some())?;
                    Ok(one)
                });
                match entered {
                    Ok(DecodedRequest { exchange, call: Call::Listen(filter), .. }) => {
                        self.spawn_listener(exchange, filter, audit);
                    }
                    Ok(opened) => self.start_request(opened, audit),
                    Err(refusal) => {
                        self.send(PipeAudit::watch(audit, refusal.encode(Some(&id)))).await;
                    }
                }
            }
            Message::Notification { method, params } => {
                self.handle_notification(&method, params).await
            }
            Message::Response { id, outcome } => self.handle_response(id.as_ref(), outcome),
        }
    }

    /// Decodes a request, and begins its audit.
    fn decode_message(
        &self,
        id: &RequestId,
        called: (&str, Option<&RawJson>),
        memory: &Arc<MemoryHold>,
    ) -> (Result<DecodedRequest, Refusal>, Option<Arc<PipeAudit>>) {
        let (principal, transport) = (&self.principal, self.transport);
        let origin = RequestOrigin { principal, memory, transport };
        let request = IncomingRequest::read(id.clone(), called, origin);
        let audit = self.audit.as_ref().map(|sink| {
            let call = match &request {
                Ok(request) => AuditedCall::of_request(&self.server, request),
                Err(_) => AuditedCall::of_message(&self.server, called.0, called.1),
            };
            PipeAudit::begin(sink, principal, call)
        });
        (request.and_then(|request| self.decode_request(&request)), audit)
    }

    fn decode_request(&self, request: &IncomingRequest<'_>) -> Result<DecodedRequest, Refusal> {
        let server = &*self.server;
        if request.meta.names_revision() {
            let version = request.meta.protocol_version()?;
            let terms = StatelessTerms::read(server, &request.meta, &version)?;
            return stateless::decode_stateless(server, terms, request);
        }
        let agreed = self.state.lock().handshake.clone();
        match agreed {
            Some(agreed) => {
                let opened = handshake::decode_in_session(server, &agreed, request)?;
                Ok(opened.in_session(server, &agreed.client_session, &self.subscriber))
            }
            None => {
                let opened = handshake::decode_before_handshake(server, request)?;
                if let Some(agreed) = opened.handshake_result() {
                    self.state.lock().handshake = Some(agreed);
                }
                Ok(opened)
            }
        }
    }

    /// Runs a request: at once as far as it gets without waiting, then in a task of its own. There,
    /// all but `initialize` can be cancelled.
    fn start_request(self: &Arc<Self>, request: DecodedRequest, audit: Option<Arc<PipeAudit>>) {
        let id = request.exchange.id.clone();
        let stoppable = !request.is_initialize();
        if matches!(request.call, Call::Subscribe { .. }) {
            self.start_notifications();
        }
        let this = Arc::clone(self);
        let mut work = Box::pin(async move {
            let id = request.exchange.id.clone();
            let answer = this.run_request(request).await;
            this.send(PipeAudit::watch(audit, answer)).await;
            this.state.lock().in_flight.remove(&id);
        });
        // Most requests wait for nothing; a task and its wake-ups would cost more than their work.
        if work.as_mut().now_or_never().is_some() {
            return;
        }
        let handle = self.spawn(work);
        if stoppable {
            self.set_abort_handle(&id, handle);
        }
    }

    fn set_abort_handle(&self, id: &RequestId, handle: AbortHandle) {
        // The task may have finished and removed its entry already.
        if let Some(work) = self.state.lock().in_flight.get_mut(id) {
            work.abort = Some(handle);
        }
    }

    /// Sends notifications until the client cancels the listening request. The task holds the
    /// channel, not the connection, so it does not keep the connection alive.
    fn spawn_listener(
        &self,
        exchange: Exchange,
        filter: ListenFilter,
        audit: Option<Arc<PipeAudit>>,
    ) {
        let id = exchange.id.clone();
        let (server, out) = (Arc::clone(&self.server), self.out.clone());
        let mut closing = self.closing.subscribe();
        let handle = self.spawn(Box::pin(async move {
            let mut listening = ListenSubscriptions::open(&server, &exchange, filter).await;
            // Whoever ends it, it was served.
            audit.iter().for_each(|audit| audit.note_answer());
            loop {
                let message = tokio::select! {
                    biased;
                    message = listening.next() => message,
                    () = wait_for_signal(&mut closing) => break,
                };
                if out.send(message).await.is_err() {
                    return;
                }
            }
            let end = PipeAudit::watch(audit, server.finish_listening(&exchange));
            let _ = out.send(end).await;
        }));
        self.set_abort_handle(&id, handle);
    }

    /// Starts the task that sends the change notifications of the session, once.
    fn start_notifications(&self) {
        if std::mem::replace(&mut self.state.lock().is_notifying, true) {
            return;
        }
        let (subscriber, out) = (Arc::clone(&self.subscriber), self.out.clone());
        let mut closing = self.closing.subscribe();
        self.spawn(Box::pin(async move {
            loop {
                let notice = tokio::select! {
                    notice = subscriber.next() => notice,
                    () = wait_for_signal(&mut closing) => return,
                };
                if out.send(notice.encode()).await.is_err() {
                    return;
                }
            }
        }));
    }

    async fn run_request(&self, request: DecodedRequest) -> Outgoing {
        let DecodedRequest { exchange, call, interim: reports } = request;
        if reports.is_none() {
            return self.server.respond(&exchange, call).await;
        }
        let server = Arc::clone(&self.server);
        let answer = async move { server.respond(&exchange, call).await };
        let mut running = InFlightRequest::new(answer, reports);
        loop {
            match running.next_output().await {
                RequestOutput::Interim(report) => self.send(report).await,
                RequestOutput::Answer(answer) => return answer,
            }
        }
    }

    fn handle_response(&self, id: Option<&RequestId>, outcome: Result<&RawJson, &RawJson>) {
        let session =
            self.state.lock().handshake.as_ref().map(|agreed| Arc::clone(&agreed.client_session));
        if let Some(session) = session {
            session.deliver_answer(id, outcome);
        }
    }

    fn allows_batches(&self) -> bool {
        self.state
            .lock()
            .handshake
            .as_ref()
            .is_some_and(|agreed| agreed.dialect.revision.takes_batches())
    }

    /// Registers requests as in flight; refuses ids in use, and more than the limit.
    fn register(&self, ids: &[&RequestId], listens: bool) -> Result<(), Refusal> {
        let limits = &self.server.limits;
        let under_way = &mut self.state.lock().in_flight;
        let alike = under_way.values().filter(|work| work.is_listening == listens).count();
        let (most, why) = if listens {
            (limits.listeners, "listening requests are open; cancel one")
        } else {
            (limits.in_flight, "requests are in flight; wait for an answer")
        };
        if alike >= most {
            return Err(Refusal::busy(format!("{most} {why}")));
        }
        let twice = |at: usize| ids[..at].contains(&ids[at]) || under_way.contains_key(ids[at]);
        if (0..ids.len()).any(twice) {
            return Err(Refusal::invalid_request("the id is already in use"));
        }
        let work = || InFlightEntry { abort: None, is_listening: listens };
        under_way.extend(ids.iter().map(|id| ((*id).clone(), work())));
        Ok(())
    }

    async fn handle_notification(&self, method: &str, params: Option<&RawJson>) {
        match ClientNotification::decode(method, params) {
            // Aborts the task at its next await; a cancelled request gets no answer.
            ClientNotification::Cancelled(id) => {
                let mut state = self.state.lock();
                if let Some(handle) = state.in_flight.get(&id).and_then(|work| work.abort.clone()) {
                    handle.abort();
                    state.in_flight.remove(&id);
                }
            }
            ClientNotification::Initialized if self.state.lock().handshake.is_some() => {
                self.subscriber.subscribe_to_lists().await;
                self.start_notifications();
            }
            ClientNotification::Initialized | ClientNotification::Other => {}
        }
    }

    /// Spawns a future that is boxed: moved into its task, it would be copied many times on the way.
    fn spawn(&self, work: Pin<Box<impl Future<Output = ()> + Send + 'static>>) -> AbortHandle {
        let mut state = self.state.lock();
        while state.tasks.try_join_next().is_some() {}
        state.tasks.spawn(work)
    }

    /// Sends `message`; ignores a closed channel.
    async fn send(&self, message: Outgoing) {
        let _ = self.out.send(message).await;
    }
}
