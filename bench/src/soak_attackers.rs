//! Hostile clients of the soak, and the edits of settings beside them.

use std::{net::SocketAddr, time::Duration};

use serde_json::json;
use tokio::{
    fs,
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    message::{BenchRequest, session_request, with_token},
    soak::SoakContext,
    soak_clients::spawn,
};

/// The address of the hostile clients.
const HOSTILE: ([u8; 4], u16) = ([127, 0, 0, 66], 0);
const SLOW_PATTERNS: [&str; 3] = ["(a|aa|aaa)*b$", "[a-q]{1,90}[^u-z]{30}Q", "(.*)(.*)(.*)z{20}$"];

/// Starts all attackers, and the edits of settings.
pub(crate) fn start(tasks: &mut JoinSet<()>, context: &SoakContext) {
    for pattern in SLOW_PATTERNS.into_iter().cycle().take(6) {
        spawn(tasks, context, search(context.clone(), pattern));
    }
    for _ in 0..5 {
        spawn(tasks, context, hold_connections(context.clone()));
        spawn(tasks, context, send_garbage(context.clone()));
        spawn(tasks, context, read_nothing(context.clone()));
    }
    spawn(tasks, context, open_sessions(context.clone()));
    spawn(tasks, context, list_upstreams(context.clone()));
    spawn(tasks, context, edit_settings(context.clone()));
}

async fn connect(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(HOSTILE.into())?;
    Ok(socket.connect(address).await?)
}

/// Sends bytes and reads what comes for a moment; how the server reacts does not matter here.
async fn throw(address: SocketAddr, bytes: &[u8], patience: Duration) -> anyhow::Result<()> {
    let Ok(mut stream) = connect(address).await else { return Ok(()) };
    let mut answer = Vec::new();
    if stream.write_all(bytes).await.is_ok() {
        let _ = timeout(patience, stream.read_to_end(&mut answer)).await;
    }
    Ok(())
}

async fn search(context: SoakContext, pattern: &str) -> anyhow::Result<()> {
    let arguments = json!({ "pattern": pattern, "ignore_case": true });
    let request = BenchRequest::call("resources_grep", &arguments);
    loop {
        let request = request.over_http(&context.address.to_string());
        let request = with_token(&request, &context.tokens.hostile);
        throw(context.address, &request, Duration::from_secs(3)).await?;
        sleep(Duration::from_millis(200)).await;
    }
}

/// Connections with half a request, and listening requests that nobody reads.
async fn hold_connections(context: SoakContext) -> anyhow::Result<()> {
    let host = context.address.to_string();
    let half = BenchRequest::discover().over_http(&host);
    let listen = BenchRequest::listen(&["file:///project/1.txt".to_owned()]).over_http(&host);
    let listen = with_token(&listen, &context.tokens.hostile);
    loop {
        let mut held = Vec::new();
        for number in 0..40 {
            let Ok(mut stream) = connect(context.address).await else { continue };
            let bytes = if number % 4 == 0 { &listen[..] } else { &half[..half.len() - 20] };
            let _ = stream.write_all(bytes).await;
            held.push(stream);
        }
        sleep(Duration::from_secs(2)).await;
    }
}

async fn send_garbage(context: SoakContext) -> anyhow::Result<()> {
    let deep = "[".repeat(100_000);
    let long = "x".repeat(4 << 20);
    loop {
        for body in [&deep, &long] {
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let request = with_token(head.as_bytes(), &context.tokens.hostile);
            throw(context.address, &request, Duration::from_millis(200)).await?;
        }
        throw(context.address, &[0xff; 5000], Duration::from_millis(200)).await?;
        sleep(Duration::from_millis(500)).await;
    }
}

/// Asks for a large file and does not read it.
async fn read_nothing(context: SoakContext) -> anyhow::Result<()> {
    let request = BenchRequest::read("file:///project/large.log");
    let request = request.over_http(&context.address.to_string());
    let request = with_token(&request, &context.tokens.hostile);
    loop {
        let Ok(mut stream) = connect(context.address).await else { continue };
        let _ = stream.write_all(&request).await;
        sleep(Duration::from_secs(3)).await;
    }
}

async fn open_sessions(context: SoakContext) -> anyhow::Result<()> {
    let request = session_request(&context.address.to_string(), None, "");
    let request = with_token(&request, &context.tokens.hostile);
    loop {
        throw(context.address, &request, Duration::from_millis(50)).await?;
    }
}

/// Lists and reads through the servers that crash, flood and never answer.
async fn list_upstreams(context: SoakContext) -> anyhow::Result<()> {
    let host = context.address.to_string();
    loop {
        for name in ["flood", "crash", "silent"] {
            let request = BenchRequest::read(&format!("z-{name}+x://1")).over_http(&host);
            let request = with_token(&request, &context.tokens.hostile);
            throw(context.address, &request, Duration::from_millis(500)).await?;
        }
    }
}

/// Alternates between settings with one more mount, garbage, and the first ones.
async fn edit_settings(context: SoakContext) -> anyhow::Result<()> {
    let path = context.folder.join("refdesk.toml");
    let more = "[mounts.more]\nkind = \"static\"\n";
    loop {
        let first = context.tokens.settings();
        for text in [first.clone() + more, "[mounts.pro".to_owned(), first] {
            fs::write(&path, text).await?;
            sleep(Duration::from_secs(2)).await;
        }
    }
}
