//! Tests of server requests and log messages during a call.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use client::{AnsweredRequests, Client, Options, PipeOpener, PipeReader, PipeWriter, ServerTarget};
use resource::{Caller, ComponentCall, ComponentKind, Error, ErrorKind, Json, Relay, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

use super::super::{FlawLog, StartingServer, UpstreamRelay};
use super::Notes;

/// A server whose tools all request a name before they return.
#[derive(Clone, Default)]
struct AskingServer {
    is_old: bool,
    /// Waits for a second call before it asks, then answers both.
    waits: bool,
    levels: Arc<Mutex<Vec<Value>>>,
}

impl AskingServer {
    async fn serve(self, read: impl tokio::io::AsyncRead + Unpin, mut write: PipeWriter) {
        let mut lines = BufReader::new(read).lines();
        let (mut can, mut held) = (Value::Null, None);
        let question = json!({ "message": "Who?", "messages": [{ "role": "user", "content":
            { "type": "resource_link", "uri": "str:linked", "name": "l" } }] });
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let (method, params) = (&message["method"], &message["params"]);
            let result = match method.as_str().unwrap_or_default() {
                "server/discover" if !self.is_old => json!({
                    "resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": { "tools": {}, "logging": {} }, "ttlMs": 0,
                    "cacheScope": "private",
                }),
                "initialize" => {
                    can = params["capabilities"].clone();
                    json!({ "protocolVersion": "2025-11-25",
                        "capabilities": { "tools": {}, "logging": {} },
                        "serverInfo": { "name": "asker", "version": "1" } })
                }
                "logging/setLevel" => {
                    self.levels.lock().unwrap().push(params["level"].clone());
                    json!({})
                }
                "tools/call" if self.waits && held.is_none() => {
                    held = Some(message["id"].clone());
                    continue;
                }
                "tools/call" if self.is_old => {
                    let said = json!({ "jsonrpc": "2.0", "method": "notifications/message",
                        "params": { "level": "info", "data": [1.0] } });
                    let asked = json!({ "jsonrpc": "2.0", "id": "q",
                        "method": "elicitation/create", "params": question });
                    write.write_all(format!("{said}\n{asked}\n").as_bytes()).await.unwrap();
                    let heard = lines.next_line().await.unwrap().unwrap();
                    let heard: Value = serde_json::from_str(&heard).unwrap();
                    json!({ "content": [], "heard": heard, "can": can })
                }
                "tools/call" if params.get("inputResponses").is_none() => json!({
                    "resultType": "input_required", "requestState": "remember",
                    "inputRequests": {
                        "who": { "method": "elicitation/create", "params": question } },
                }),
                "tools/call" => json!({ "resultType": "complete", "content": [],
                    "heard": params }),
                "" | "notifications/initialized" => continue,
                _ => {
                    let error = json!({ "code": -32601, "message": "method not found" });
                    let refused = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
                    write.write_all(format!("{refused}\n").as_bytes()).await.unwrap();
                    continue;
                }
            };
            let also = if method == "tools/call" { held.take() } else { None };
            for id in [Some(message["id"].clone()), also].into_iter().flatten() {
                let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                write.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        }
    }

    fn relayed(&self) -> UpstreamRelay {
        let options = Options { answers: AnsweredRequests::All, ..Options::default() };
        let client = Client::new(ServerTarget::Pipes(Arc::new(self.clone())), options);
        let flaw_log = Arc::new(FlawLog::new("a server".to_owned()));
        UpstreamRelay::new(StartingServer { client, wait: Duration::from_secs(60) }, flaw_log)
    }
}

impl PipeOpener for AskingServer {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let (ours, theirs) = duplex(1 << 20);
        let (read, write) = split(theirs);
        tokio::spawn(self.clone().serve(read, Box::new(write)));
        let (read, write) = split(ours);
        Ok((Box::new(read), Box::new(write)))
    }
}

/// A caller that records requests and log messages.
struct RecordingCaller {
    can: Json,
    answers: bool,
    heard: Mutex<Vec<String>>,
}

#[async_trait]
impl Caller for RecordingCaller {
    fn id(&self) -> u64 {
        7
    }

    fn capabilities(&self) -> &Json {
        &self.can
    }

    fn accepts_requests(&self) -> bool {
        self.answers
    }

    async fn send_request(&self, method: &str, params: &Json) -> Result<Json> {
        if !self.can.as_str().contains("elicitation") {
            return Err(Error::new(ErrorKind::Unsupported, "it cannot be asked that"));
        }
        self.heard.lock().unwrap().push(format!("{method} {params:?}"));
        Ok(r#"{"action":"accept"}"#.into())
    }

    fn input_response(&self) -> Option<&Json> {
        None
    }

    fn log_level(&self) -> Option<&'static str> {
        Some("info")
    }

    fn log(&self, message: &Json) {
        self.heard.lock().unwrap().push(format!("{message:?}"));
    }
}

fn recording_caller(can: &str, answers: bool) -> Arc<RecordingCaller> {
    Arc::new(RecordingCaller { can: can.into(), answers, heard: Mutex::default() })
}

async fn call(relay: &UpstreamRelay, caller: &Arc<RecordingCaller>) -> Value {
    let ctx = testkit::local_context().with_caller(Arc::clone(caller) as _);
    let params = r#"{"name":"t"}"#.into();
    let calling = ComponentCall {
        kind: ComponentKind::Tool,
        name: "t",
        params: &params,
        uri_rewrite: &Notes,
    };
    let given = relay.call_component(&ctx, &calling).await.unwrap();
    serde_json::from_str(given.as_str()).unwrap()
}

const FORMS: &str = r#"{"elicitation":{},"tasks":{}}"#;

/// 9.5, 9.9: through a session.
#[tokio::test]
async fn a_server_with_a_session_asks_and_logs_through_us() {
    let asker = AskingServer { is_old: true, ..AskingServer::default() };
    let (relayed, caller) = (asker.relayed(), recording_caller(FORMS, true));
    let given = call(&relayed, &caller).await;
    assert_eq!(given["heard"]["result"], json!({ "action": "accept" }));
    for kind in ["elicitation", "sampling", "roots"] {
        assert!(given["can"][kind].is_object(), "{given}");
    }
    let heard = caller.heard.lock().unwrap().clone();
    assert_eq!(heard[0], r#"{"data":[1.0],"level":"info"}"#);
    assert!(heard[1].contains("Who?") && heard[1].contains("notes+str:linked"), "{heard:?}");
    // A caller without the capability is not asked; the server gets an error.
    let given = call(&relayed, &recording_caller("{}", true)).await;
    assert_eq!(given["heard"]["error"]["code"], -32601);
    assert_eq!(*asker.levels.lock().unwrap(), ["info"], "it is told once");
}

/// On a pipe a request does not name its call, so it must be unambiguous.
#[tokio::test]
async fn a_question_that_may_be_about_anothers_call_is_put_to_nobody() {
    let asker = AskingServer { is_old: true, waits: true, ..AskingServer::default() };
    let (relayed, caller) = (asker.relayed(), recording_caller(FORMS, true));
    let params = r#"{"name":"t"}"#.into();
    let calling = ComponentCall {
        kind: ComponentKind::Tool,
        name: "t",
        params: &params,
        uri_rewrite: &Notes,
    };
    let ctx = testkit::local_context();
    let (given, other) =
        tokio::join!(call(&relayed, &caller), relayed.call_component(&ctx, &calling));
    assert_eq!(given["heard"]["error"]["code"], -32601, "{given}");
    assert!(other.is_ok() && caller.heard.lock().unwrap().is_empty());
}

/// 9.5: `input_required`, with a caller that can receive requests during the call.
#[tokio::test]
async fn a_server_that_answers_by_a_question_is_asked_again() {
    let asker = AskingServer::default();
    let (relayed, caller) = (asker.relayed(), recording_caller(FORMS, true));
    let given = call(&relayed, &caller).await;
    let heard = &given["heard"];
    assert_eq!(heard["inputResponses"], json!({ "who": { "action": "accept" } }));
    assert_eq!((&heard["requestState"], &heard["name"]), (&json!("remember"), &json!("t")));
    let meta = &heard["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({ "elicitation": {} }));
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "info");
    let told = caller.heard.lock().unwrap().clone();
    assert!(told[0].contains("notes+str:linked"), "{told:?}");
}

#[tokio::test]
async fn whoever_cannot_wait_is_answered_by_the_question() {
    let given = call(&AskingServer::default().relayed(), &recording_caller(FORMS, false)).await;
    assert_eq!(given["resultType"], "input_required");
    let asked = &given["inputRequests"]["who"]["params"]["messages"][0]["content"];
    assert_eq!(asked["uri"], "notes+str:linked");
}
