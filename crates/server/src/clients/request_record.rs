//! The record of one request: begun before its handler runs, added to the table when it ends.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use protocol::inbound::shape::client_status::RequestStatus;
use protocol::{Call, Method, Refusal, Reply};
use resource::{ComponentKind, ErrorKind, Result, Uri};

use super::{ConnectedClient, UriMask, plain_text};
use crate::lifecycle::IncomingRequest;

/// The most bytes of a URI, tool or method that are kept.
const MAX_TARGET: usize = 1024;

/// The scheme of the resources that tell of the server itself.
const STATUS_SCHEME: &str = "refdesk";

const OK: &str = "ok";

/// A request in flight. Without an outcome it was cancelled.
pub(crate) struct RequestRecord {
    client: Arc<ConnectedClient>,
    method: Method,
    uri: Option<Uri>,
    tool: Option<Box<str>>,
    started: Instant,
    outcome: Option<&'static str>,
}

/// A request that ended.
pub(super) struct EndedRequest {
    at: SystemTime,
    client: u64,
    name: Option<Arc<str>>,
    method: Cow<'static, str>,
    uri: Option<RecentUri>,
    tool: Option<Box<str>>,
    outcome: &'static str,
    elapsed: Duration,
}

/// A URI: shared with the request, or a copy that is clipped.
enum RecentUri {
    Whole(Uri),
    Clipped(Box<str>),
}

impl RecentUri {
    fn of(uri: &Uri) -> Self {
        // A URI of ASCII has nothing that a person must not see.
        if uri.as_str().is_ascii() && uri.as_str().len() <= MAX_TARGET {
            return Self::Whole(uri.clone());
        }
        match plain_text(uri.as_str(), MAX_TARGET) {
            Cow::Borrowed(text) if text.len() == uri.as_str().len() => Self::Whole(uri.clone()),
            clipped => Self::Clipped(clipped.into()),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Whole(uri) => uri.as_str(),
            Self::Clipped(text) => text,
        }
    }
}

impl RequestRecord {
    /// Begins the record of `call`, whose method is `method`.
    pub(crate) fn begin(client: &Arc<ConnectedClient>, method: Method, call: &Call) -> Self {
        let (uri, tool) = target_of(call);
        let tool = tool.map(|tool| plain_text(tool, MAX_TARGET).into());
        let client = Arc::clone(client);
        Self { client, method, uri: uri.cloned(), tool, started: Instant::now(), outcome: None }
    }

    /// Begins the record of a listening request for these resources.
    pub(crate) fn begin_listening(client: &Arc<ConnectedClient>, resources: &[Uri]) -> Self {
        // One that listens to a single resource shows it, as a subscription does.
        let uri = if let [uri] = resources { Some(uri.clone()) } else { None };
        let (client, method, started) = (Arc::clone(client), Method::Listen, Instant::now());
        Self { client, method, uri, tool: None, started, outcome: None }
    }

    /// The request is answered.
    pub(crate) fn finish(mut self, answer: &Result<Reply>) {
        self.outcome = Some(outcome_of(answer));
    }

    /// The request is served, and its answer goes on.
    pub(crate) fn finish_ok(mut self) {
        self.outcome = Some(OK);
    }

    /// Whether it only looks at the server. Such a request is counted, but not kept as one of the
    /// latest: what shows them would see little but itself, and each look would be a change.
    fn is_look(&self) -> bool {
        let looks = |uri: &Uri| uri.scheme().eq_ignore_ascii_case(STATUS_SCHEME);
        self.method == Method::Ping || self.uri.as_ref().is_some_and(looks)
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let (now, outcome) = (SystemTime::now(), self.outcome.unwrap_or("cancelled"));
        self.client.count_request(now, outcome != OK);
        if self.is_look() {
            return;
        }
        let ended = EndedRequest {
            at: now,
            client: self.client.id,
            name: self.client.shown_name.clone(),
            method: Cow::Borrowed(self.method.as_str()),
            uri: self.uri.as_ref().map(RecentUri::of),
            tool: self.tool.take(),
            outcome,
            elapsed: self.started.elapsed(),
        };
        self.client.home.add_request(ended);
        self.client.home.notify();
    }
}

impl ConnectedClient {
    /// Records a request that was refused before it could run.
    pub(crate) fn record_refusal(self: &Arc<Self>, request: &IncomingRequest<'_>, why: &Refusal) {
        let now = SystemTime::now();
        self.count_request(now, true);
        let ended = EndedRequest {
            at: now,
            client: self.id,
            name: self.shown_name.clone(),
            method: Cow::Owned(plain_text(request.name, MAX_TARGET).into_owned()),
            uri: None,
            tool: None,
            outcome: if why.is_method_not_found() { "method not found" } else { "refused" },
            elapsed: Duration::ZERO,
        };
        self.home.add_request(ended);
        self.home.notify();
    }
}

impl EndedRequest {
    pub(super) fn status(&self, mask_uri: UriMask) -> RequestStatus {
        RequestStatus {
            at: self.at,
            client: format!("c{}", self.client),
            name: self.name.as_deref().map(str::to_owned),
            method: self.method.to_string(),
            uri: self.uri.as_ref().map(|uri| mask_uri(uri.as_str()).into_owned()),
            tool: self.tool.as_deref().map(str::to_owned),
            outcome: self.outcome,
            elapsed: self.elapsed,
        }
    }
}

/// The URI that a call is about, and the tool that it calls.
fn target_of(call: &Call) -> (Option<&Uri>, Option<&str>) {
    match call {
        Call::List { parent, .. } => (parent.as_ref(), None),
        Call::ReadDirectory { parent: uri, .. }
        | Call::Read { uri, .. }
        | Call::Metadata { uri }
        | Call::Subscribe { uri }
        | Call::Unsubscribe { uri }
        | Call::GetSkill { uri } => (Some(uri), None),
        Call::InvokeComponent { component: ComponentKind::Tool, name, .. } => (None, Some(name)),
        Call::Initialize { .. }
        | Call::Ping
        | Call::Discover
        | Call::SetLogLevel(_)
        | Call::ListTemplates { .. }
        | Call::Listen(_)
        | Call::ListSkills { .. }
        | Call::ListComponents { .. }
        | Call::InvokeComponent { component: ComponentKind::Prompt, .. }
        | Call::Task { .. }
        | Call::SaveBasket { .. }
        | Call::RemoveBasket { .. }
        | Call::CompletePrompt { .. }
        | Call::CompleteTemplate { .. } => (None, None),
    }
}

/// `ok`, or the kind of the error in a word or two. Its message may name what is secret.
fn outcome_of(answer: &Result<Reply>) -> &'static str {
    let kind = match answer {
        Ok(Reply::ToolResult(result)) if result.is_error => {
            result.error.as_ref().map_or(ErrorKind::Invalid, |error| error.kind)
        }
        Ok(_) => return OK,
        Err(error) => error.kind,
    };
    match kind {
        ErrorKind::NotFound | ErrorKind::Denied => "not found",
        ErrorKind::Invalid => "invalid",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::TooLarge => "too large",
        ErrorKind::Changed => "changed",
        ErrorKind::NeedsInput => "needs input",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Internal => "internal error",
    }
}
