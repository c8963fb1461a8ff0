//! Transport over a pair of pipes, one message per line.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::answer::{self, Start};
use protocol::ask;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time;

use super::board::Board;
use super::lines::{Line, Lines};
use super::{Parcel, Wire};
use crate::error::Error;
use crate::options::{Reading, Writing};

/// Capacity of the queue to a server that does not read.
const WAITING: usize = 4_096;

/// Minimum free space in the buffer for each read.
const CHUNK: usize = 16 << 10;
/// How long the last messages may take to be written on close.
const FAREWELL: Duration = Duration::from_secs(1);

/// A transport over pipes.
pub(crate) struct Pipe {
    board: Arc<Board>,
    queue: mpsc::WeakSender<Vec<u8>>,
    /// Dropping this closes the pipes.
    open: std::sync::Mutex<Option<Open>>,
    ending: tokio::sync::Mutex<Option<JoinHandle<()>>>,
    farewell: Duration,
}

/// The senders that keep the pipes open.
type Open = (mpsc::Sender<Vec<u8>>, oneshot::Sender<()>);

/// The reader and writer tasks; each returns why it ended.
pub(super) struct Ends {
    /// Resolves when the client closes the pipes, even if a write is stuck.
    pub(super) closing: oneshot::Receiver<()>,
    pub(super) reader: JoinHandle<String>,
    pub(super) writer: JoinHandle<String>,
}

/// A transport over pipes that are already open.
pub(crate) fn open(pipes: (Reading, Writing), board: Arc<Board>, most: usize) -> Pipe {
    let (pipe, mut ends) = Pipe::begin(pipes.0, pipes.1, Arc::clone(&board), most);
    let ending = tokio::spawn(async move {
        let why = tokio::select! {
            why = &mut ends.reader => why,
            why = &mut ends.writer => why,
            _ = &mut ends.closing => {
                let _ = time::timeout(FAREWELL, &mut ends.writer).await;
                Ok("closed by the client".to_owned())
            }
        };
        board.end(&Error::Closed(why.unwrap_or_else(|_| "a pipe task failed".to_owned())));
        ends.reader.abort();
        ends.writer.abort();
    });
    pipe.ending_with(ending, FAREWELL)
}

impl Pipe {
    pub(super) fn begin(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        board: Arc<Board>,
        most: usize,
    ) -> (Self, Ends) {
        let (sender, messages) = mpsc::channel(WAITING);
        let queue = sender.downgrade();
        let voice = queue.clone();
        board.speak(move |message| {
            let _ = voice.upgrade().map(|voice| voice.try_send(message));
        });
        let reader = tokio::spawn(read(input, Arc::clone(&board), most));
        let writer = tokio::spawn(write(output, messages));
        let (closer, closing) = oneshot::channel();
        let open = std::sync::Mutex::new(Some((sender, closer)));
        let pipe =
            Self { board, queue, open, ending: Default::default(), farewell: Duration::ZERO };
        (pipe, Ends { closing, reader, writer })
    }

    pub(super) fn ending_with(mut self, ending: JoinHandle<()>, farewell: Duration) -> Self {
        self.ending = tokio::sync::Mutex::new(Some(ending));
        self.farewell = farewell;
        self
    }
}

#[async_trait]
impl Wire for Pipe {
    fn send(&self, parcel: Parcel) {
        let sent = self.queue.upgrade().map(|queue| queue.try_send(parcel.body).is_ok());
        if sent != Some(true) {
            let why = "the server does not read its input".to_owned();
            self.board.fail(parcel.id, Error::Unreachable(why));
        }
    }

    fn cancel(&self, id: u64, reason: &str) {
        self.send(Parcel::plain(ask::cancelled(id, reason)));
    }

    async fn finish(&self) {
        drop(self.open.lock().map(|mut open| open.take()));
        let ending = self.ending.lock().await.take();
        if let Some(ending) = ending {
            let _ = time::timeout(self.farewell, ending).await;
        }
    }
}

async fn read(mut input: impl AsyncRead + Unpin, board: Arc<Board>, most: usize) -> String {
    let mut lines = Lines::new(most);
    loop {
        lines.buffer.reserve(CHUNK);
        match input.read_buf(&mut lines.buffer).await {
            Ok(0) => return "the server closed its output".to_owned(),
            Ok(_) => {}
            Err(error) => return format!("cannot read its output: {error}"),
        }
        while let Some(line) = lines.next() {
            hear(&board, &line, most);
        }
    }
}

fn hear(board: &Arc<Board>, line: &Line, most: usize) {
    match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => {}
        Line::Whole(line) => {
            // Some programs print other text to stdout. It fails no request.
            if let Err(error) = board.hear(line, None) {
                tracing::debug!(%error, "ignored a line that is not a message");
            }
        }
        Line::Long(start) => {
            tracing::warn!(most, "a message exceeds the size limit");
            match answer::start(start) {
                Start::Answer(id) => board.fail_any(Some(id), &Error::TooLarge(most)),
                Start::Unknown => board.fail_any(None, &Error::TooLarge(most)),
                Start::Unasked => {}
            }
        }
    }
}

async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut messages: mpsc::Receiver<Vec<u8>>,
) -> String {
    while let Some(mut message) = messages.recv().await {
        message.push(b'\n');
        let written = async {
            output.write_all(&message).await?;
            output.flush().await
        };
        if let Err(error) = written.await {
            return format!("cannot write its input: {error}");
        }
    }
    let _ = output.shutdown().await;
    "closed by the client".to_owned()
}
