//! Test helper: a scripted MCP server of either era.

use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use client::{PipeOpener, PipeReader, PipeWriter, ServerTarget};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio::sync::{broadcast, watch};

use super::{Options, Upstream, client};

/// A scripted response.
pub(super) enum ScriptedReply {
    Result(Value),
    Error(i64, &'static str),
    Nothing,
}

type Script = Box<dyn Fn(&str, &Value) -> ScriptedReply + Send + Sync>;

/// A server that answers from a script, in one era or the other.
pub(super) struct ScriptedServer {
    me: Weak<Self>,
    is_old: bool,
    capabilities: Value,
    script: Script,
    requests: watch::Sender<Vec<(String, Value)>>,
    notifications: broadcast::Sender<Value>,
}

impl ScriptedServer {
    pub(super) fn new(
        capabilities: Value,
        script: impl Fn(&str, &Value) -> ScriptedReply + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::of(false, capabilities, script)
    }

    pub(super) fn old(
        capabilities: Value,
        script: impl Fn(&str, &Value) -> ScriptedReply + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::of(true, capabilities, script)
    }

    fn of(
        is_old: bool,
        capabilities: Value,
        script: impl Fn(&str, &Value) -> ScriptedReply + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (asked, tells) = (watch::Sender::default(), broadcast::Sender::new(64));
        let script = Box::new(script);
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            is_old,
            capabilities,
            script,
            requests: asked,
            notifications: tells,
        })
    }

    pub(super) fn options(self: &Arc<Self>) -> Options {
        Options {
            start_wait: Duration::from_secs(60),
            ..Options::new(client(ServerTarget::Pipes(Arc::clone(self) as _)))
        }
    }

    pub(super) fn upstream(self: &Arc<Self>) -> Upstream {
        Upstream::new(self.options())
    }

    /// The params of all requests of one method so far, without `_meta`.
    pub(super) fn requests(&self, method: &str) -> Vec<Value> {
        let asked = self.requests.borrow();
        let meant = asked.iter().filter(|(known, _)| known == method);
        meant.map(|(_, params)| params.clone()).collect()
    }

    /// Waits until `method` was requested `count` times.
    pub(super) async fn wait_for_requests(&self, method: &str, count: usize) {
        let enough = |asked: &Vec<(String, Value)>| {
            asked.iter().filter(|(known, _)| known == method).count() >= count
        };
        super::within_timeout(self.requests.subscribe().wait_for(enough)).await.unwrap();
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.notifications.send(message).unwrap();
    }

    fn respond(&self, message: &Value) -> Option<Value> {
        let method = message["method"].as_str()?;
        let mut params = message["params"].clone();
        if let Some(params) = params.as_object_mut() {
            params.remove("_meta");
        }
        self.requests.send_modify(|asked| asked.push((method.to_owned(), params.clone())));
        let id = message.get("id")?;
        let said = match (method, self.is_old) {
            ("server/discover", false) => ScriptedReply::Result(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": self.capabilities, "ttlMs": 0, "cacheScope": "private",
            })),
            ("initialize", true) => ScriptedReply::Result(json!({
                "protocolVersion": "2025-11-25", "capabilities": self.capabilities,
                "serverInfo": { "name": "old", "version": "1" },
            })),
            ("server/discover" | "initialize", _) => {
                ScriptedReply::Error(-32601, "method not found")
            }
            _ => (self.script)(method, &params),
        };
        match said {
            ScriptedReply::Result(result) => {
                Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
            }
            ScriptedReply::Error(code, message) => Some(json!({
                "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message },
            })),
            ScriptedReply::Nothing => None,
        }
    }
}

/// Connects a client to the scripted server.
impl PipeOpener for ScriptedServer {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let (ours, theirs) = duplex(1 << 20);
        let (read, mut write) = split(theirs);
        let (answers, mut queue) = tokio::sync::mpsc::unbounded_channel::<Value>();
        let mut told = self.notifications.subscribe();
        tokio::spawn(async move {
            loop {
                let line = tokio::select! {
                    biased;
                    Some(line) = queue.recv() => line,
                    Ok(line) = told.recv() => line,
                    else => return,
                };
                if write.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        let stage = self.me.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let Some(stage) = stage.upgrade() else { return };
                if let Some(answer) = stage.respond(&message) {
                    drop(answers.send(answer));
                }
            }
        });
        let (read, write) = split(ours);
        Ok((Box::new(read), Box::new(write)))
    }
}
