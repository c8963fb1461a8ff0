//! Honest clients of the soak: stateless, in sessions, listening, and over pipes.

use std::time::Duration;

use anyhow::ensure;
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    http::Connection,
    message::{BenchRequest, session_request},
    server_process::{self, ServerCommand, ServerProcess},
    soak::{Experience, FILES, SoakContext},
    sse::{NotificationEvents, StreamEvent},
    stdio_pipe::Pipe,
};

const STATELESS: usize = 100;
const SESSIONS: usize = 50;
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
    for number in 0..LISTENERS {
        spawn(tasks, context, run_listener(context.clone(), number));
    }
    for number in 0..PIPES {
        let server = server_process::start_stdio(pipes)?;
        spawn(tasks, context, run_pipe(context.clone(), server, number));
    }
    Ok(())
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
        let request = request_of(turn, number).over_http(&host);
        let started = Instant::now();
        let length = connection.request_length(&request).await?;
        context.experiences.send(Experience::Answered(started.elapsed()))?;
        ensure!(length > 100, "an answer of {length} bytes");
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn run_session(context: SoakContext, number: usize) -> anyhow::Result<()> {
    let host = context.address.to_string();
    let mut connection = Connection::open(context.address).await?;
    let session = connection.open_session(&session_request(&host, None, "")).await?;
    for turn in 0_usize.. {
        let request = session_request(&host, Some(&session), &uri_of(number + turn));
        let started = Instant::now();
        connection.request_length(&request).await?;
        context.experiences.send(Experience::Answered(started.elapsed()))?;
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn run_listener(context: SoakContext, number: usize) -> anyhow::Result<()> {
    let uris: Vec<_> = (0..5).map(|more| uri_of(number + more)).collect();
    let mut events = NotificationEvents::open(context.address, &uris).await?;
    loop {
        if let StreamEvent::Updated(_) = events.next().await? {
            context.experiences.send(Experience::Notified)?;
        }
    }
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
        context.experiences.send(Experience::Answered(started.elapsed()))?;
        sleep(PAUSE).await;
    }
    Ok(())
}
