//! Opening of a connection: `initialize` or `server/discover`, and what their results say.

use std::time::Duration;

use serde_json::{Value, json};

use crate::plain_text::{plain, plain_json};
use crate::recorder::Recorder;
use crate::revision::DoctorRevision;
use crate::target::{DoctorOptions, DoctorTarget};
use crate::transport::{Conversation, HttpFacts, Probe, ProbeReply, Wire, client_info};

/// How long an old server may be silent about a method that it does not know, at least.
const DISCOVER_WAIT: Duration = Duration::from_secs(5);
/// A version that no server supports.
const ANCIENT_VERSION: &str = "1999-01-01";
/// How many tokens instructions may have without a word about it.
const MAX_INSTRUCTIONS: u64 = 2_000;

/// What the server says of itself at the beginning.
pub(crate) struct OpenedServer {
    pub(crate) capabilities: Value,
    pub(crate) versions: Vec<String>,
}

/// Opens the conversation; an error says why the server does not speak the revision.
pub(crate) async fn open(
    talk: &mut Conversation,
    log: &mut Recorder,
) -> Result<OpenedServer, String> {
    match talk.revision.has_handshake() {
        true => open_handshake(talk, log).await,
        false => open_stateless(talk, log).await,
    }
}

async fn open_stateless(
    talk: &mut Conversation,
    log: &mut Recorder,
) -> Result<OpenedServer, String> {
    let mut probe = Probe::new("server/discover", json!({}));
    if !talk.is_http() {
        // The program has just been started; a longer timeout is for those that start slowly.
        probe = probe.quiet(DISCOVER_WAIT.max(talk.timeout / 2));
    }
    let reply = talk.send(&probe).await;
    let Some(result) = reply.result() else {
        return Err(format!("server/discover: {}", refusal(&reply, log)));
    };
    talk.is_open = true;
    let versions = result["supportedVersions"].as_array();
    let is_listed = |version: &Value| version.as_str() == Some(talk.revision.name());
    let is_right = versions.is_some_and(|versions| {
        versions.iter().all(Value::is_string) && versions.iter().any(is_listed)
    });
    log.judge("discover-shape", is_right && result["capabilities"].is_object(), || {
        let (versions, capabilities) = (&result["supportedVersions"], &result["capabilities"]);
        let (versions, capabilities) = (plain_json(versions), plain_json(capabilities));
        format!("supportedVersions is {versions}, capabilities {capabilities}")
    });
    check_instructions(log, &result["instructions"]);
    set_server(log, &result["_meta"]["io.modelcontextprotocol/serverInfo"]);
    let versions = versions.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    Ok(OpenedServer { capabilities: object(&result["capabilities"]), versions: versions.collect() })
}

async fn open_handshake(
    talk: &mut Conversation,
    log: &mut Recorder,
) -> Result<OpenedServer, String> {
    let reply = initialize(talk, talk.revision.name()).await;
    let Some(result) = reply.result() else {
        return Err(format!("initialize: {}", refusal(&reply, log)));
    };
    let answered = result["protocolVersion"].as_str();
    let instructions = &result["instructions"];
    let is_right = answered.is_some()
        && result["capabilities"].is_object()
        && (instructions.is_null() || instructions.is_string());
    log.judge("initialize-result", is_right, || {
        let (version, capabilities) = (&result["protocolVersion"], &result["capabilities"]);
        let (version, capabilities) = (plain_json(version), plain_json(capabilities));
        format!("protocolVersion is {version}, capabilities {capabilities}")
    });
    let known = answered.and_then(DoctorRevision::from_name);
    if let Some(answered) = answered {
        let is_published = known.is_some_and(DoctorRevision::has_handshake);
        log.judge("version-known", is_published, || {
            format!("{} is answered with {}", talk.revision, plain(answered))
        });
        if answered != talk.revision.name() {
            return Err(format!("the server answers with {}", plain(answered)));
        }
    }
    let info = &result["serverInfo"];
    let is_named = info["name"].is_string() && info["version"].is_string();
    log.judge("server-info", is_named, || format!("serverInfo is {}", plain_json(info)));
    set_server(log, info);
    check_instructions(log, instructions);
    if let Some(session) = reply.http.as_ref().and_then(|http| http.session.as_ref()) {
        let is_visible = session.iter().all(|byte| (0x21..=0x7e).contains(byte));
        log.judge("http-session-characters", is_visible, || {
            format!("the session id is \"{}\"", plain(&String::from_utf8_lossy(session)))
        });
        talk.session = String::from_utf8(session.clone()).ok();
    }
    let capabilities = object(&result["capabilities"]);
    let answered = talk.notify("notifications/initialized", json!({})).await;
    judge_notification(log, answered.as_ref());
    talk.is_open = true;
    Ok(OpenedServer { capabilities, versions: Vec::new() })
}

/// Sends `initialize`; where POST is refused, over HTTP+SSE, as the specification says.
async fn initialize(talk: &mut Conversation, version: &str) -> ProbeReply {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": client_info(),
    });
    let reply = talk.request("initialize", params.clone()).await;
    let is_refused = reply.result().is_none() && matches!(reply.status(), Some(400 | 404 | 405));
    match is_refused && talk.fall_back().await {
        true => talk.request("initialize", params).await,
        false => reply,
    }
}

/// Judges the HTTP answer to a notification.
pub(super) fn judge_notification(log: &mut Recorder, answered: Option<&HttpFacts>) {
    if let Some(http) = answered {
        log.judge("http-notification", http.status == 202 && http.body_bytes == 0, || {
            format!("HTTP status {} with {} bytes", http.status, http.body_bytes)
        });
    }
}

/// Why a server refuses to begin; a refusal for want of a token says what to do.
fn refusal(reply: &ProbeReply, log: &mut Recorder) -> String {
    let Some(http) = &reply.http else { return reply.describe() };
    if http.status == 401 {
        log.judge("http-challenge", http.has_challenge, || {
            "HTTP status 401 has no WWW-Authenticate".to_owned()
        });
        return "HTTP status 401: the server wants a token".to_owned();
    }
    match &http.location {
        Some(location) => format!("HTTP status {}: it redirects to {location}", http.status),
        None => reply.describe(),
    }
}

fn check_instructions(log: &mut Recorder, instructions: &Value) {
    if let Some(text) = instructions.as_str() {
        let tokens = resource::tokens::estimate(text);
        log.judge("instructions-length", tokens <= MAX_INSTRUCTIONS, || {
            format!("they have about {tokens} tokens")
        });
    }
}

fn set_server(log: &mut Recorder, info: &Value) {
    if let Some(name) = info["name"].as_str() {
        let version = info["version"].as_str().unwrap_or_default();
        log.set_server(plain(format!("{name} {version}").trim()));
    }
}

fn object(value: &Value) -> Value {
    if value.is_object() { value.clone() } else { json!({}) }
}

/// Asks for a version that does not exist, on a connection of its own.
pub(crate) async fn check_negotiation(
    target: &DoctorTarget,
    options: &DoctorOptions,
    log: &mut Recorder,
) {
    let Ok(wire) = Wire::open(target, options) else { return };
    let mut talk = Conversation::new(wire, DoctorRevision::Y2025M11, options);
    let reply = initialize(&mut talk, ANCIENT_VERSION).await;
    let is_negotiated = match (reply.result(), reply.fault()) {
        (Some(result), _) => {
            let answered = result["protocolVersion"].as_str();
            answered.is_some_and(|version| version != ANCIENT_VERSION)
        }
        (None, Some(_)) => true,
        // Silence and an early end show nothing about versions.
        (None, None) => reply.status().is_some_and(|status| (400..500).contains(&status)),
    };
    if !reply.is_nothing() {
        log.judge("version-negotiation", is_negotiated, || {
            format!("{ANCIENT_VERSION} got {}", reply.describe())
        });
    }
    talk.close().await;
}
