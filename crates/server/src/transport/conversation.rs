//! Lasting connection (stdio, HTTP+SSE): runs requests, notifications and batches concurrently.
//!
//! A client may mix requests with and without handshake on one connection. All answers leave
//! through one bounded channel, each as soon as it is ready. A request counts as in flight until
//! its answer is in that channel: backpressure against clients that do not read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use protocol::call::Told;
use protocol::frame::{self, Raw};
use protocol::{Call, Id, Incoming, Message, Meta, Outgoing, Refusal, Wishes};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};

use crate::exchange::Exchange;
use crate::lifecycle::{Agreed, Opened, handshake, stateless};
use crate::methods::subscriptions::{Listening, Subscriber};
use crate::progress::{Out, Running};
use crate::server::Server;
use crate::transport::over;

/// Capacity of the channel to the writer.
pub(crate) const WAITING: usize = 4;

const LISTENS: &str = "a listening request cannot be part of a batch";

/// One lasting connection.
pub(crate) struct Conversation {
    server: Arc<Server>,
    out: mpsc::Sender<Outgoing>,
    subscriber: Arc<Subscriber>,
    /// True once the connection shuts down; ends listening requests and notifications.
    closing: watch::Sender<bool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The result of the handshake, after it.
    agreed: Option<Agreed>,
    /// Requests in flight.
    under_way: HashMap<Id, Work>,
    /// Whether the task that sends change notifications is running.
    tells: bool,
    tasks: JoinSet<()>,
}

/// One request in flight.
#[derive(Default)]
struct Work {
    /// Cancels it; `None` where that is not allowed.
    handle: Option<AbortHandle>,
    /// Whether it is a listening request, which lasts until its client cancels it.
    listens: bool,
}

impl Conversation {
    /// A connection that sends its messages to `out`.
    pub(crate) fn new(server: Arc<Server>, out: mpsc::Sender<Outgoing>) -> Arc<Self> {
        let subscriber = Arc::new(Subscriber::new(&server));
        let closing = watch::Sender::new(false);
        Arc::new(Self { server, out, subscriber, closing, state: Mutex::default() })
    }

    /// Handles one message or batch. Returns once its requests have started, before their answers.
    pub(crate) async fn hear(self: &Arc<Self>, bytes: &Bytes) {
        match frame::parse(bytes, self.server.bounds()) {
            Ok(Incoming::One(message)) => self.take(message).await,
            Ok(Incoming::Batch(messages)) if self.takes_batches() => {
                self.take_batch(messages).await;
            }
            Ok(Incoming::Batch(_)) => {
                self.say(Refusal::not_a_message("this revision has no batches").encode(None)).await;
            }
            Err(refusal) => self.say(refusal.encode(None)).await,
        }
    }

    /// Ends listening requests and notifications, and waits for the requests in flight.
    pub(crate) async fn finish(&self) {
        self.closing.send_replace(true);
        let mut tasks = std::mem::take(&mut self.state().tasks);
        while tasks.join_next().await.is_some() {}
    }

    async fn take(self: &Arc<Self>, message: Message<'_>) {
        match message {
            Message::Request { id, method, params } => {
                let opened = self.open(&id, &method, params);
                let entered = opened.and_then(|one| {
                    self.enter(&[&id], one.listens().is_some())?;
                    Ok(one)
                });
                match entered {
                    Ok(Opened { exchange, call: Call::Listen(wishes), .. }) => {
                        self.listen(exchange, wishes);
                    }
                    Ok(opened) => self.start(opened),
                    Err(refusal) => self.say(refusal.encode(Some(&id))).await,
                }
            }
            Message::Notification { method, params } => self.note(&method, params).await,
            Message::Response { id, outcome } => self.heard(id.as_ref(), outcome),
        }
    }

    fn open(&self, id: &Id, method: &str, params: Option<&Raw>) -> Result<Opened, Refusal> {
        let server = &*self.server;
        let meta = Meta::of(params)?;
        if meta.names_revision() {
            let terms = stateless::terms(server, &meta)?;
            return stateless::open(server, terms, id, (method, params), &meta);
        }
        let agreed = self.state().agreed.clone();
        match agreed {
            Some(agreed) => {
                let opened = handshake::open(server, agreed.terms, id, (method, params))?;
                Ok(opened.within(server, &agreed.guest, &self.subscriber))
            }
            None => {
                let opened = handshake::before(server, id, method, params)?;
                if let Some(agreed) = opened.settles() {
                    self.state().agreed = Some(agreed);
                }
                Ok(opened)
            }
        }
    }

    /// Runs a request in a task of its own. All but `initialize` can be cancelled.
    fn start(self: &Arc<Self>, opened: Opened) {
        let id = opened.exchange.id.clone();
        let stoppable = opened.settles().is_none();
        if matches!(opened.call, Call::Subscribe { .. }) {
            self.tell();
        }
        let this = Arc::clone(self);
        let handle = self.spawn(async move {
            let id = opened.exchange.id.clone();
            let answer = this.answer(opened).await;
            this.say(answer).await;
            this.state().under_way.remove(&id);
        });
        if stoppable {
            self.make_stoppable(&id, handle);
        }
    }

    fn make_stoppable(&self, id: &Id, handle: AbortHandle) {
        // The task may have finished and removed its entry already.
        if let Some(work) = self.state().under_way.get_mut(id) {
            work.handle = Some(handle);
        }
    }

    /// Sends notifications until the client cancels the listening request. The task holds the
    /// channel, not the connection, so it does not keep the connection alive.
    fn listen(&self, exchange: Exchange, wishes: Wishes) {
        let id = exchange.id.clone();
        let (server, out) = (Arc::clone(&self.server), self.out.clone());
        let mut closing = self.closing.subscribe();
        let handle = self.spawn(async move {
            let mut listening = Listening::begin(&server, exchange.id.clone(), wishes).await;
            loop {
                let message = tokio::select! {
                    biased;
                    message = listening.next() => message,
                    () = over(&mut closing) => break,
                };
                if out.send(message).await.is_err() {
                    return;
                }
            }
            let _ = out.send(server.end(&exchange)).await;
        });
        self.make_stoppable(&id, handle);
    }

    /// Starts the task that sends the change notifications of the session, once.
    fn tell(&self) {
        if std::mem::replace(&mut self.state().tells, true) {
            return;
        }
        let (subscriber, out) = (Arc::clone(&self.subscriber), self.out.clone());
        let mut closing = self.closing.subscribe();
        self.spawn(async move {
            loop {
                let notice = tokio::select! {
                    notice = subscriber.next() => notice,
                    () = over(&mut closing) => return,
                };
                if out.send(notice.encode()).await.is_err() {
                    return;
                }
            }
        });
    }

    async fn answer(&self, opened: Opened) -> Outgoing {
        let Opened { exchange, call, reports } = opened;
        if reports.is_none() {
            return self.server.answer(&exchange, call).await;
        }
        let server = Arc::clone(&self.server);
        let answer = async move { server.answer(&exchange, call).await };
        let mut running = Running::new(answer, reports);
        loop {
            match running.step().await {
                Out::Report(report) => self.say(report).await,
                Out::Answer(answer) => return answer,
            }
        }
    }

    /// Runs the requests of a batch one after the other and sends one array of answers. However
    /// long a batch is, it needs one free place among the requests in flight.
    async fn take_batch(self: &Arc<Self>, messages: Vec<Result<Message<'_>, Refusal>>) {
        let mut ready = Vec::new();
        let mut opened = Vec::new();
        for message in messages {
            match message {
                Ok(Message::Request { id, method, params }) => {
                    match self.open(&id, &method, params) {
                        Ok(one) if one.listens().is_some() => {
                            ready.push(Refusal::not_a_message(LISTENS).encode(Some(&id)));
                        }
                        Ok(one) => {
                            if matches!(one.call, Call::Subscribe { .. }) {
                                self.tell();
                            }
                            opened.push(one);
                        }
                        Err(refusal) => ready.push(refusal.encode(Some(&id))),
                    }
                }
                Ok(Message::Notification { method, params }) => self.note(&method, params).await,
                Ok(Message::Response { id, outcome }) => self.heard(id.as_ref(), outcome),
                Err(refusal) => ready.push(refusal.encode(None)),
            }
        }
        let ids: Vec<Id> = opened.iter().map(|one| one.exchange.id.clone()).collect();
        if let Err(refusal) = self.enter(&ids.iter().collect::<Vec<_>>(), false) {
            ready.extend(ids.iter().map(|id| refusal.encode(Some(id))));
            opened.clear();
        }
        if opened.is_empty() {
            if !ready.is_empty() {
                self.say(Outgoing::array(ready)).await;
            }
            return;
        }
        let this = Arc::clone(self);
        self.spawn(async move {
            for one in opened {
                ready.push(this.answer(one).await);
            }
            this.say(Outgoing::array(ready)).await;
            let under_way = &mut this.state().under_way;
            ids.iter().for_each(|id| drop(under_way.remove(id)));
        });
    }

    fn heard(&self, id: Option<&Id>, outcome: Result<&Raw, &Raw>) {
        let guest = self.state().agreed.as_ref().map(|agreed| Arc::clone(&agreed.guest));
        if let Some(guest) = guest {
            guest.answered(id, outcome);
        }
    }

    fn takes_batches(&self) -> bool {
        self.state().agreed.as_ref().is_some_and(|agreed| agreed.terms.revision.takes_batches())
    }

    /// Registers requests as in flight; refuses ids in use, and more than the limit.
    fn enter(&self, ids: &[&Id], listens: bool) -> Result<(), Refusal> {
        let limits = &self.server.limits;
        let under_way = &mut self.state().under_way;
        let alike = under_way.values().filter(|work| work.listens == listens).count();
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
            return Err(Refusal::not_a_message("the id is already in use"));
        }
        let work = || Work { handle: None, listens };
        under_way.extend(ids.iter().map(|id| ((*id).clone(), work())));
        Ok(())
    }

    async fn note(&self, method: &str, params: Option<&Raw>) {
        match Told::decode(method, params) {
            // Aborts the task at its next await; a cancelled request gets no answer.
            Told::Cancelled(id) => {
                let mut state = self.state();
                if let Some(handle) = state.under_way.get(&id).and_then(|work| work.handle.clone())
                {
                    handle.abort();
                    state.under_way.remove(&id);
                }
            }
            Told::Ready if self.state().agreed.is_some() => {
                self.subscriber.hear_of_lists().await;
                self.tell();
            }
            Told::Ready | Told::Other => {}
        }
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut state = self.state();
        while state.tasks.try_join_next().is_some() {}
        state.tasks.spawn(work)
    }

    /// Sends `message`; ignores a closed channel.
    async fn say(&self, message: Outgoing) {
        let _ = self.out.send(message).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
