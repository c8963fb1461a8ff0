//! Honest clients of the soak: stateless, in sessions, over HTTP+SSE, TLS and pipes, and listening.

use std::time::Duration;

use anyhow::ensure;
use serde_json::{Value, json};
use tokio::{
    fs,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    http::Connection,
    message::{BenchRequest, session_request, with_token},
    server_process::{self, ServerCommand, ServerProcess},
    soak::{ClientKind, Experience, FILES, SoakContext},
    sse::{NotificationEvents, StreamEvent},
    stdio_pipe::Pipe,
};

const STATELESS: usize = 80;
const SESSIONS: usize = 40;
const SSE: usize = 20;
const TLS: usize = 10;
const LISTENERS: usize = 40;
const PIPES: usize = 10;
/// Between two requests of one client.
const PAUSE: Duration = Duration::from_millis(250);

/// Starts all 200 clients.
pub(crate) fn start(
    tasks: &mut JoinSet<()>,
    context: &SoakContext,
    pipes: &ServerCommand,
) -> anyhow::Result<()> {
    for number in 0..STATELESS {
        spawn(tasks, context, run_stateless(context.clone(), number));
    }
    for number in 0..SESSIONS {
        spawn(tasks, context, run_session(context.clone(), number));
    }
    for number in 0..SSE {
        spawn(tasks, context, run_sse(context.clone(), number));
    }
    for number in 0..TLS {
        spawn(tasks, context, run_tls(context.clone(), number));
    }
    for number in 0..LISTENERS {
        let kind = ClientKind::LISTENING[number % ClientKind::LISTENING.len()];
        spawn(tasks, context, run_listener(context.clone(), kind, number));
    }
    for number in 0..PIPES {
        let server = server_process::start_stdio(pipes)?;
        spawn(tasks, context, run_pipe(context.clone(), server, number));
    }
    Ok(())
}

impl SoakContext {
    /// A client of this kind got an answer to what it asked at `started`.
    fn answered(&self, kind: ClientKind, started: Instant) -> anyhow::Result<()> {
        Ok(self.experiences.send(Experience::Answered(kind, started.elapsed()))?)
    }
}

/// Runs a task until it ends or the phase does.
pub(crate) fn spawn(
    tasks: &mut JoinSet<()>,
    context: &SoakContext,
    task: impl Future<Output = anyhow::Result<()>> + Send + 'static,
) {
    let (mut stop, experiences) = (context.stop.clone(), context.experiences.clone());
    tasks.spawn(async move {
        tokio::select! {
            _ = stop.changed() => {}
            ended = task => {
                if let Err(error) = ended {
                    // The receiver outlives every task.
                    let _ = experiences.send(Experience::Failed(format!("{error:#}")));
                }
            }
        }
    });
}

fn uri_of(number: usize) -> String {
    format!("file:///project/{}.txt", number % FILES)
}

/// The requests of stateless clients and pipes, in turn.
fn request_of(turn: usize, number: usize) -> BenchRequest {
    let uri = uri_of(number + turn);
    match turn % 5 {
        0 => BenchRequest::list(None),
        1 => BenchRequest::window(&uri, 10, 100),
        2 => BenchRequest::call("resources_read", &json!({ "uri": uri })),
        _ => BenchRequest::read(&uri),
    }
}

async fn run_stateless(context: SoakContext, number: usize) -> anyhow::Result<()> {
    sleep(PAUSE * u32::try_from(number)? / u32::try_from(STATELESS)?).await;
    let host = context.address.to_string();
    let mut connection = Connection::open(context.address).await?;
    for turn in 0_usize.. {
        let request =
            with_token(&request_of(turn, number).over_http(&host), &context.tokens.honest);
        let started = Instant::now();
        let length = connection.request_length(&request).await?;
        context.answered(ClientKind::Stateless, started)?;
        ensure!(length > 100, "an answer of {length} bytes");
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn run_tls(context: SoakContext, number: usize) -> anyhow::Result<()> {
    let (address, connector) = &context.secured;
    let mut connection = Connection::open_tls(*address, connector).await?;
    for turn in 0_usize.. {
        let request = request_of(turn, number).over_http("localhost");
        let request = with_token(&request, &context.tokens.honest);
        let started = Instant::now();
        let length = connection.request_length(&request).await?;
        context.answered(ClientKind::Tls, started)?;
        ensure!(length > 100, "an answer of {length} bytes");
        sleep(PAUSE).await;
    }
    Ok(())
}

/// HTTP+SSE (2024-11-05): messages are posted, and their answers come on a stream.
async fn run_sse(context: SoakContext, number: usize) -> anyhow::Result<()> {
    let host = context.address.to_string();
    let token = &context.tokens.honest;
    let open = format!("GET /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n");
    let open = with_token(open.as_bytes(), token);
    let (mut events, path) = NotificationEvents::open_endpoint(context.address, &open).await?;
    let mut connection = Connection::open(context.address).await?;
    let post = |method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        with_token(head.as_bytes(), token)
    };
    let client = json!({ "name": "bench", "version": "1.0.0" });
    let opening = json!({
        "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client,
    });
    connection.post_accepted(&post("initialize", opening)).await?;
    events.next_message().await?;
    for turn in 0_usize.. {
        let request = post("resources/read", json!({ "uri": uri_of(number + turn) }));
        let started = Instant::now();
        connection.post_accepted(&request).await?;
        let answer = events.next_message().await?;
        let is_right = memchr::memmem::find(answer, b"\"contents\"").is_some();
        ensure!(is_right, "a wrong answer over HTTP+SSE");
        context.answered(ClientKind::Sse, started)?;
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn run_session(context: SoakContext, number: usize) -> anyhow::Result<()> {
    let host = context.address.to_string();
    let mut connection = Connection::open(context.address).await?;
    let token = &context.tokens.honest;
    let opening = with_token(&session_request(&host, None, ""), token);
    let session = connection.open_session(&opening).await?;
    for turn in 0_usize.. {
        let request = session_request(&host, Some(&session), &uri_of(number + turn));
        let request = with_token(&request, token);
        let started = Instant::now();
        connection.request_length(&request).await?;
        context.answered(ClientKind::Session, started)?;
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn run_listener(context: SoakContext, kind: ClientKind, number: usize) -> anyhow::Result<()> {
    let uris: Vec<_> = (0..5).map(|more| uri_of(number + more)).collect();
    let (connection, host) = match kind {
        ClientKind::Tls => {
            let (address, connector) = &context.secured;
            (Connection::open_tls(*address, connector).await?, "localhost".to_owned())
        }
        _ => (Connection::open(context.address).await?, context.address.to_string()),
    };
    let request = BenchRequest::listen(&uris).over_http(&host);
    let request = with_token(&request, &context.tokens.honest);
    let mut events = NotificationEvents::listen(connection, &request, &uris).await?;
    loop {
        if let StreamEvent::Updated(_) = events.next().await? {
            context.experiences.send(Experience::Notified(kind))?;
        }
    }
}

/// Changes one file after the other, for those who listen.
pub(crate) async fn change_files(context: SoakContext) -> anyhow::Result<()> {
    for turn in 0_usize.. {
        let path = context.folder.join(format!("project/{}.txt", turn % FILES));
        fs::write(path, format!("turn {turn}\n").repeat(50)).await?;
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

async fn run_pipe(
    context: SoakContext,
    (_server, mut pipe): (ServerProcess, Pipe),
    number: usize,
) -> anyhow::Result<()> {
    // The first answer waits for the start of the process.
    pipe.send(&BenchRequest::discover().line(1)).await?;
    pipe.receive().await?;
    for turn in 0_usize.. {
        let started = Instant::now();
        pipe.send(&request_of(turn, number).line(1)).await?;
        let answer = pipe.receive().await?;
        ensure!(memchr::memmem::find(answer, b"\"result\"").is_some(), "an error over a pipe");
        context.answered(ClientKind::Pipe, started)?;
        sleep(PAUSE).await;
    }
    Ok(())
}
