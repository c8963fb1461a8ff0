//! Tests with refdesk's own server as the upstream: the provider contract in both eras.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{PipeOpener, PipeReader, PipeWriter, ServerTarget};
use resource::Uri;
use serde_json::{Value, json};
use server::transport::stdio;
use server::{CollectionsMode, Limits, Server};
use testkit::contract::{Expectations, contract};
use testkit::{MemoryProvider, WatchCounter};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use tokio::task::AbortHandle;

use super::{Options, Upstream, client, uri, within_timeout};

/// A refdesk server of either era.
pub(super) struct RefdeskServer {
    memory: Arc<MemoryProvider>,
    is_old: bool,
    running: Mutex<Vec<AbortHandle>>,
}

impl RefdeskServer {
    pub(super) fn new(memory: MemoryProvider, is_old: bool) -> Arc<Self> {
        Arc::new(Self { memory: Arc::new(memory), is_old, running: Mutex::default() })
    }

    pub(super) fn memory(&self) -> &MemoryProvider {
        &self.memory
    }

    pub(super) fn upstream(self: &Arc<Self>) -> Upstream {
        let target = ServerTarget::Pipes(Arc::clone(self) as _);
        Upstream::new(Options {
            start_wait: Duration::from_secs(60),
            ..Options::new(client(target))
        })
    }

    /// Kills the server. The next connection starts a new one.
    pub(super) fn kill(&self) {
        self.running.lock().unwrap().drain(..).for_each(|task| task.abort());
    }
}

impl PipeOpener for RefdeskServer {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let provider = Arc::clone(&self.memory);
        let server = Server::new(provider, Limits::default(), [7; 32], CollectionsMode::Always);
        let (near, far) = duplex(1 << 16);
        let (input, output) = split(far);
        let serving = stdio::serve(Arc::new(server), input, output, std::future::pending());
        let mut running = self.running.lock().unwrap();
        running.push(tokio::spawn(async move { drop(serving.await) }).abort_handle());
        if !self.is_old {
            let (read, write) = split(near);
            return Ok((Box::new(read), Box::new(write)));
        }
        let (ours, theirs) = duplex(1 << 16);
        running.push(tokio::spawn(relay(theirs, near)).abort_handle());
        let (read, write) = split(ours);
        Ok((Box::new(read), Box::new(write)))
    }
}

/// Forwards everything except `server/discover`, which only modern servers know.
async fn relay(asking: DuplexStream, serving: DuplexStream) {
    let (asked, mut answer) = split(asking);
    let (said, mut tell) = split(serving);
    let (mut asked, mut said) = (BufReader::new(asked).lines(), BufReader::new(said).lines());
    loop {
        let (line, is_answer) = tokio::select! {
            Ok(Some(line)) = asked.next_line() => (line, false),
            Ok(Some(line)) = said.next_line() => (line, true),
            else => return,
        };
        let message: Value = serde_json::from_str(&line).unwrap();
        let is_new = message["method"] == "server/discover";
        let error = json!({ "code": -32601, "message": "method not found" });
        let refusal = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        let line = if is_new { format!("{refusal}\n") } else { format!("{line}\n") };
        let passed = match is_answer || is_new {
            true => answer.write_all(line.as_bytes()).await,
            false => tell.write_all(line.as_bytes()).await,
        };
        if passed.is_err() {
            return;
        }
    }
}

fn memory() -> MemoryProvider {
    MemoryProvider::new()
        .text("mem:///one", "plain words")
        .text("mem:///two", "жук 日本語 🦀 é")
        .blob("mem:///three", &[0, 0xff, 0x80, 7])
        .text("mem:///empty", "")
        .collection("mem:///shelf/", &["mem:///shelf/a", "mem:///shelf/inner/"])
        .text("mem:///shelf/a", "a")
        .collection("mem:///shelf/inner/", &["mem:///shelf/inner/b"])
        .text("mem:///shelf/inner/b", "b")
        .template("mem:///person/{id}", "I am {id}", &[("id", &["ada", "grace"])])
        .template("mem:///plain/{name}", "{name}", &[])
        .with_watches()
}

fn known() -> Expectations {
    let uris = |texts: &[&str]| texts.iter().map(|text| uri(text)).collect::<Vec<Uri>>();
    Expectations {
        leaves: vec![
            (uri("mem:///one"), b"plain words".to_vec()),
            (uri("mem:///three"), vec![0, 0xff, 0x80, 7]),
            (uri("mem:///person/ada"), b"I am ada".to_vec()),
        ],
        collections: vec![(uri("mem:///shelf/"), uris(&["mem:///shelf/inner/", "mem:///shelf/a"]))],
        missing: uris(&["mem:///none", "other:///one", "mem:///shelf"]),
        prefix: Some("mem:///".to_owned()),
        outside: vec!["../secret".to_owned()],
        open_watches: None,
    }
}

#[tokio::test]
async fn a_server_of_our_own_keeps_the_contract_in_both_eras() {
    for is_old in [false, true] {
        let upstream = RefdeskServer::new(memory(), is_old).upstream();
        within_timeout(upstream.connect()).await.unwrap();
        let inner = Arc::clone(&upstream.inner);
        let open_watches = Some(WatchCounter(Arc::new(move || inner.subscribers.len())));
        let known = Expectations { open_watches, ..known() };
        let kept = contract(&upstream, &known);
        within_timeout(kept).await;
    }
}
