//! Target `conversation`: lines on a pipe to a server. Every request has an answer.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use protocol::json::frame::{FrameLimits, parse, parse_lenient};
use protocol::{Incoming, Message, RequestId};
use server::transport::stdio;
use server::{CollectionsMode, Limits, Server};
use testkit::{FuzzTarget, MemoryProvider};
use tokio::io::AsyncWrite;

use super::run;

pub(crate) const TARGET: FuzzTarget =
    FuzzTarget { name: "conversation", examples: EXAMPLES, check };

const EXAMPLES: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{}},"clientInfo":{"name":"a","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"resources/list","params":{}}
[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":"a","method":"resources/templates/list"}]
{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"test:text","_meta":{"progressToken":1,"dev.refdesk/window":{"lines":[1,2]}}}}
{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"test:blob"}}
"#,
    br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"resources_grep","arguments":{"pattern":"l[io]ne","uri":"test:*"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"resources_read","arguments":{"uri":"test:text","start_line":2,"max_tokens":5}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"resources_list","arguments":{"uri":"test:all","recursive":true,"sort":"size","glob":"**"}}}
{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"test:text"}}
{"jsonrpc":"2.0","id":6,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"test:t/{a}"},"argument":{"name":"a","value":"o"}}}
"#,
    br#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
{"jsonrpc":"2.0","id":2,"method":"resources/metadata","params":{"uri":"test:all","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"test:t/one","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"resources_watch","arguments":{"uris":["test:text"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
"#,
];

fn check(input: &[u8]) {
    let limits = Limits::default();
    let frame_limits = FrameLimits { max_depth: limits.depth, max_batch: limits.batch };
    let mut requests: Vec<RequestId> = Vec::new();
    let mut may_be_silent = false;
    for line in input.split(|byte| *byte == b'\n') {
        let has = |word: &str| line.windows(word.len()).any(|part| part == word.as_bytes());
        may_be_silent |= has("cancelled") || has("listen");
        if let Ok(Incoming::Single(Message::Request { id, .. })) = parse(line, frame_limits) {
            requests.push(id);
        }
    }
    let output = run(serve(input, limits));
    let mut answers = Vec::new();
    for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let messages = parse_lenient(line).expect("each line that a server writes is a message");
        for message in messages {
            if let Message::Response { id: Some(id), .. } = message {
                answers.push(id);
            }
        }
    }
    for id in requests.iter().filter(|_| !may_be_silent) {
        let count = |ids: &[RequestId]| ids.iter().filter(|other| *other == id).count();
        assert!(count(&answers) >= count(&requests), "a request without an answer: {id}");
    }
}

/// What the server writes until its input ends and all requests are answered.
async fn serve(input: &[u8], limits: Limits) -> Vec<u8> {
    let memory = MemoryProvider::new()
        .text("test:text", "one line\nanother line\r\n日本語\n")
        .blob("test:blob", b"\x00\xff")
        .collection("test:all", &["test:text", "test:blob"])
        .template("test:t/{a}", "{a}", &[("a", &["one", "other"])])
        .with_search()
        .with_watches();
    let server = Server::new(Arc::new(memory), limits, [7; 32], CollectionsMode::Always);
    let output = SharedBytes::default();
    let served = stdio::serve(Arc::new(server), input, output.clone(), std::future::pending());
    served.await.expect("a pipe in memory does not fail");
    std::mem::take(&mut *output.0.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A writer whose bytes can be taken afterwards.
#[derive(Clone, Default)]
struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl AsyncWrite for SharedBytes {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
