//! Protocol lifecycle: decodes a request and determines its terms (revision, extensions, client).
//!
//! Through 2025-11-25 a connection negotiates them once; from 2026-07-28 on every request carries
//! its own. Both become an [`Exchange`](crate::exchange::Exchange); no other code tells them apart.

pub(crate) mod handshake;
pub(crate) mod stateless;

use std::sync::Arc;

use machinery::MemoryHold;
use protocol::json::frame::RawJson;
use protocol::outbound::input_request;
use protocol::{Call, Dialect, ListenFilter, LogLevel, Method, Refusal, RequestId, RequestMeta};
use resource::{Context, Json, Principal, TraceContext};

use crate::audit::{MAX_CLIENT_NAME, clip};
use crate::clients::{ClientTerms, ClientTransport, ConnectedClient};
use crate::exchange::{Exchange, RequestMemory};
use crate::in_flight::InterimMessages;
use crate::methods::subscriptions::SessionSubscriptions;
use crate::request_state::StateBinding;
use crate::server::Server;
use crate::transport::client_session::ClientSession;
use crate::transport::request_caller::{CallerKind, RequestCaller};

/// A request whose lifecycle is not known yet. Its method name and `_meta` are read once, here.
pub(crate) struct IncomingRequest<'a> {
    pub(crate) id: RequestId,
    /// The method as the client wrote it.
    pub(crate) name: &'a str,
    /// The method, if any revision has it.
    pub(crate) method: Option<Method>,
    pub(crate) params: Option<&'a RawJson>,
    pub(crate) meta: RequestMeta<'a>,
    pub(crate) principal: &'a Principal,
    /// The memory that its bytes hold.
    pub(crate) memory: &'a Arc<MemoryHold>,
    pub(crate) transport: ClientTransport,
    /// The trace that it belongs to.
    pub(crate) trace: Option<TraceContext>,
}

/// Where a request comes from.
#[derive(Clone, Copy)]
pub(crate) struct RequestOrigin<'a> {
    /// Who sends it.
    pub(crate) principal: &'a Principal,
    /// The memory that its bytes hold.
    pub(crate) memory: &'a Arc<MemoryHold>,
    pub(crate) transport: ClientTransport,
}

impl<'a> IncomingRequest<'a> {
    /// Reads the method name and `_meta` of a request.
    pub(crate) fn read(
        id: RequestId,
        (name, params): (&'a str, Option<&'a RawJson>),
        origin: RequestOrigin<'a>,
    ) -> Result<Self, Refusal> {
        let RequestOrigin { principal, memory, transport } = origin;
        let (method, meta) = (Method::from_name(name), RequestMeta::decode(params)?);
        let trace = meta.trace();
        Ok(Self { id, name, method, params, meta, principal, memory, transport, trace })
    }

    /// How its client talks to the server, in a revision.
    fn client_terms(&self, dialect: Dialect) -> ClientTerms {
        ClientTerms { revision: dialect.revision, transport: self.transport }
    }

    fn decode(
        &self,
        server: &Server,
        method: Method,
        dialect: Dialect,
    ) -> Result<DecodedRequest, Refusal> {
        let call = Call::decode(method, self.params, &self.meta, server.limits.uri)?;
        DecodedRequest::new(self, method, dialect, call)
    }
}

/// A decoded request, ready for dispatch.
pub(crate) struct DecodedRequest {
    pub(crate) exchange: Exchange,
    pub(crate) call: Call,
    /// Its interim messages, if the client accepts any.
    pub(crate) interim: Option<InterimMessages>,
}

/// The result of a handshake (through 2025-11-25).
#[derive(Clone)]
pub(crate) struct HandshakeResult {
    pub(crate) dialect: Dialect,
    pub(crate) client_session: Arc<ClientSession>,
}

impl DecodedRequest {
    /// The handshake result, if this is an `initialize` request.
    pub(crate) fn handshake_result(&self) -> Option<HandshakeResult> {
        let Call::Initialize { capabilities: can, client: label, .. } = &self.call else {
            return None;
        };
        let name = label.name.as_deref().map(|name| clip(name, MAX_CLIENT_NAME).into());
        let memory = Arc::clone(&self.exchange.memory);
        let client = self.exchange.client.clone();
        Some(HandshakeResult {
            dialect: self.exchange.dialect,
            client_session: ClientSession::new((name, client), can.clone(), memory),
        })
    }

    /// Whether this is an `initialize` request.
    pub(crate) fn is_initialize(&self) -> bool {
        matches!(self.call, Call::Initialize { .. })
    }

    /// The filter of a listening request; `None` for any other.
    pub(crate) fn listen_filter(&self) -> Option<&ListenFilter> {
        match &self.call {
            Call::Listen(filter) => Some(filter),
            _ => None,
        }
    }

    /// Binds the request to a session: its subscriptions, and its client, which may be asked.
    pub(crate) fn in_session(
        mut self,
        server: &Server,
        session: &Arc<ClientSession>,
        subscriber: &Arc<SessionSubscriptions>,
    ) -> Self {
        self.exchange.subscriber = Some(Arc::clone(subscriber));
        self.exchange.client_session = Some(Arc::clone(session));
        self.exchange.client.clone_from(&session.client);
        let may_be_asked = match &self.call {
            Call::InvokeComponent { .. } => true,
            Call::Read { .. } => input_request::allows_any_input(&session.capabilities),
            _ => false,
        };
        if may_be_asked {
            self.attach_caller(server, CallerKind::Session(Arc::clone(session)));
        }
        self
    }

    /// Completes a stateless request: opens its `requestState` and attaches its client, which can
    /// receive logs and answer with the next request, but cannot be asked meanwhile.
    fn with_stateless_client(
        mut self,
        server: &Server,
        can: Json,
        level: Option<LogLevel>,
    ) -> Result<Self, Refusal> {
        if let Call::Read { uri, input_response: Some(reply), .. } = &mut self.call {
            let principal = self.exchange.ctx.principal();
            let binding = StateBinding { principal, about: uri.as_str(), params: None };
            let opened = server.state_seal.open_params(binding, reply);
            *reply = opened.map_err(|error| Refusal::invalid_params(error.message.into_owned()))?;
        }
        let may_be_told = match &self.call {
            Call::InvokeComponent { .. } => level.is_some(),
            Call::Read { input_response: reply, .. } => {
                reply.is_some() || input_request::allows_any_input(&can)
            }
            _ => false,
        };
        if may_be_told {
            self.attach_caller(server, CallerKind::stateless(can, level));
        }
        Ok(self)
    }

    fn attach_caller(&mut self, server: &Server, kind: CallerKind) {
        let reply = match &mut self.call {
            Call::Read { input_response: reply, .. } => reply.take(),
            _ => None,
        };
        let caller = RequestCaller::new(kind, reply, server.limits.client_answer_timeout);
        let ctx = self.exchange.ctx.clone();
        let (ctx, reports) = InterimMessages::with_caller(ctx, self.interim.take(), caller);
        (self.exchange.ctx, self.interim) = (ctx, Some(reports));
    }

    /// The request is one of `client`.
    fn with_client(mut self, client: Arc<ConnectedClient>) -> Self {
        self.exchange.client = Some(client);
        self
    }

    fn new(
        request: &IncomingRequest<'_>,
        method: Method,
        mut dialect: Dialect,
        call: Call,
    ) -> Result<Self, Refusal> {
        // A client that calls a method of SEP-2093 knows the extension.
        dialect.knows_sep2093 |= call.is_extension();
        dialect.full_metadata |= call.is_extension();
        let meter = RequestMemory(Arc::clone(request.memory.budget()));
        let mut ctx = Context::new(request.principal.clone()).with_memory(Arc::new(meter));
        if let Some(trace) = &request.trace {
            ctx = ctx.with_trace(trace.clone());
        }
        let (ctx, reports) = match request.meta.progress_token()? {
            Some(token) => {
                let (ctx, reports) = InterimMessages::with_progress(ctx, token);
                (ctx, Some(reports))
            }
            None => (ctx, None),
        };
        let (id, memory) = (request.id.clone(), Arc::clone(request.memory));
        let (subscriber, client_session, client) = (None, None, None);
        let exchange =
            Exchange { id, method, dialect, ctx, memory, subscriber, client_session, client };
        Ok(Self { exchange, call, interim: reports })
    }
}
