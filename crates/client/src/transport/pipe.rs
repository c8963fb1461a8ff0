//! One message a line, over a pair of pipes.

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

/// How many messages wait for a server that does not read.
const WAITING: usize = 4_096;

/// How much is read at once, at least.
const CHUNK: usize = 16 << 10;
/// How long what was said last may take to leave.
const FAREWELL: Duration = Duration::from_secs(1);

/// The writing end, and how the pipes end.
pub(crate) struct Pipe {
    board: Arc<Board>,
    queue: mpsc::WeakSender<Vec<u8>>,
    /// Let go of, this ends the writing.
    open: std::sync::Mutex<Option<Open>>,
    ending: tokio::sync::Mutex<Option<JoinHandle<()>>>,
    farewell: Duration,
}

/// What keeps the pipes open.
type Open = (mpsc::Sender<Vec<u8>>, oneshot::Sender<()>);

/// The two tasks of a pair of pipes; each ends with why.
pub(super) struct Ends {
    /// Ends when nobody wants the pipes any more, even if a write is stuck.
    pub(super) closing: oneshot::Receiver<()>,
    pub(super) reader: JoinHandle<String>,
    pub(super) writer: JoinHandle<String>,
}

/// Speaks over pipes that somebody else opened.
pub(crate) fn open(pipes: (Reading, Writing), board: Arc<Board>, most: usize) -> Pipe {
    let (pipe, mut ends) = Pipe::begin(pipes.0, pipes.1, Arc::clone(&board), most);
    let ending = tokio::spawn(async move {
        let why = tokio::select! {
            why = &mut ends.reader => why,
            why = &mut ends.writer => why,
            _ = &mut ends.closing => {
                let _ = time::timeout(FAREWELL, &mut ends.writer).await;
                Ok("we closed it".to_owned())
            }
        };
        board.end(&Error::Closed(why.unwrap_or_else(|_| "a pipe failed".to_owned())));
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
            let why = "the server does not read what it is told".to_owned();
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
            Err(error) => return format!("its output cannot be read: {error}"),
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
            // Many a program prints what is no message. That hurts nobody who waits.
            if let Err(error) = board.hear(line, None) {
                tracing::debug!(%error, "a line was ignored");
            }
        }
        Line::Long(start) => {
            tracing::warn!(most, "a message was too large");
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
            return format!("its input cannot be written: {error}");
        }
    }
    let _ = output.shutdown().await;
    "we closed it".to_owned()
}
