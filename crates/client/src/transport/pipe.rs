//! Transport over a pair of pipes, one message per line.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::outbound::request;
use protocol::outbound::response::{self, MessageStart};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time;

use super::line_reader::{InputLine, LineReader};
use super::pending::PendingRequests;
use super::{OutboundMessage, Transport, reserve};
use crate::error::Error;
use crate::options::{PipeReader, PipeWriter};

/// Capacity of the queue to a server that does not read.
const QUEUE_CAPACITY: usize = 4_096;
/// How many answers to server requests may wait for room in that queue, and how long.
const MAX_WAITING_ANSWERS: usize = 64;
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Minimum free space in the buffer for each read.
const READ_CHUNK: usize = 16 << 10;
/// How long the last messages may take to be written on close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A transport over pipes.
pub(crate) struct PipeTransport {
    pending: Arc<PendingRequests>,
    queue: mpsc::WeakSender<Vec<u8>>,
    /// Dropping this closes the pipes.
    senders: parking_lot::Mutex<Option<PipeSenders>>,
    end_task: tokio::sync::Mutex<Option<JoinHandle<()>>>,
    close_timeout: Duration,
}

/// The senders that keep the pipes open.
type PipeSenders = (mpsc::Sender<Vec<u8>>, oneshot::Sender<()>);

/// The reader and writer tasks; each returns why it ended.
pub(super) struct PipeTasks {
    /// Resolves when the client closes the pipes, even if a write is stuck.
    pub(super) closing: oneshot::Receiver<()>,
    pub(super) reader: JoinHandle<String>,
    pub(super) writer: JoinHandle<String>,
}

/// A transport over pipes that are already open.
pub(crate) fn connect(
    pipes: (PipeReader, PipeWriter),
    pending: Arc<PendingRequests>,
    most: usize,
) -> PipeTransport {
    let (pipe, mut ends) = PipeTransport::start(pipes.0, pipes.1, Arc::clone(&pending), most);
    let ending = tokio::spawn(async move {
        let why = tokio::select! {
            why = &mut ends.reader => why,
            why = &mut ends.writer => why,
            _ = &mut ends.closing => {
                let _ = time::timeout(CLOSE_TIMEOUT, &mut ends.writer).await;
                Ok("closed by the client".to_owned())
            }
        };
        pending.end(&Error::Closed(why.unwrap_or_else(|_| "a pipe task failed".to_owned())));
        ends.reader.abort();
        ends.writer.abort();
    });
    pipe.with_end_task(ending, CLOSE_TIMEOUT)
}

impl PipeTransport {
    pub(super) fn start(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        pending: Arc<PendingRequests>,
        most: usize,
    ) -> (Self, PipeTasks) {
        let (sender, messages) = mpsc::channel(QUEUE_CAPACITY);
        let queue = sender.downgrade();
        let answers = queue.clone();
        let waiting = Arc::new(Semaphore::new(MAX_WAITING_ANSWERS));
        let server = Arc::clone(&pending.log_name);
        pending.set_answer_sender(move |answer| queue_answer(&answers, &waiting, &server, answer));
        let reader = tokio::spawn(read_lines(input, Arc::clone(&pending), most));
        let writer = tokio::spawn(write_lines(output, messages));
        let (closer, closing) = oneshot::channel();
        let open = parking_lot::Mutex::new(Some((sender, closer)));
        let pipe = Self {
            pending,
            queue,
            senders: open,
            end_task: Default::default(),
            close_timeout: Duration::ZERO,
        };
        (pipe, PipeTasks { closing, reader, writer })
    }

    pub(super) fn with_end_task(mut self, ending: JoinHandle<()>, timeout: Duration) -> Self {
        self.end_task = tokio::sync::Mutex::new(Some(ending));
        self.close_timeout = timeout;
        self
    }
}

#[async_trait]
impl Transport for PipeTransport {
    fn send(&self, message: OutboundMessage) {
        let sent = self.queue.upgrade().map(|queue| queue.try_send(message.body).is_ok());
        if sent != Some(true) {
            let why = "the server does not read its input".to_owned();
            self.pending.fail(message.id, Error::Unreachable(why));
        }
    }

    fn cancel(&self, id: u64, reason: &str) {
        self.send(OutboundMessage::plain(request::encode_cancelled(id, reason)));
    }

    async fn shut_down(&self) {
        drop(self.senders.lock().take());
        let ending = self.end_task.lock().await.take();
        if let Some(ending) = ending {
            let _ = time::timeout(self.close_timeout, ending).await;
        }
    }
}

/// Queues an answer to a server request. While the queue is full, the answer waits in a task.
fn queue_answer(
    queue: &mpsc::WeakSender<Vec<u8>>,
    waiting: &Arc<Semaphore>,
    server: &Arc<str>,
    answer: Vec<u8>,
) {
    let Some(queue) = queue.upgrade() else { return };
    let Err(TrySendError::Full(answer)) = queue.try_send(answer) else { return };
    let Ok(permit) = Arc::clone(waiting).try_acquire_owned() else {
        return tracing::warn!("{server}: an answer is dropped, since its input is not read");
    };
    let server = Arc::clone(server);
    tokio::spawn(async move {
        if queue.send_timeout(answer, ANSWER_TIMEOUT).await.is_err() {
            tracing::warn!("{server}: an answer is dropped, since its input is not read in time");
        }
        drop(permit);
    });
}

async fn read_lines(
    mut input: impl AsyncRead + Unpin,
    pending: Arc<PendingRequests>,
    most: usize,
) -> String {
    let mut lines = LineReader::new(most);
    let mut memory = pending.count_buffer();
    loop {
        reserve(&mut lines.buffer, READ_CHUNK, most);
        match input.read_buf(&mut lines.buffer).await {
            Ok(0) => return "the server closed its output".to_owned(),
            Ok(_) => {}
            Err(error) => return format!("cannot read its output: {error}"),
        }
        memory.set(lines.buffer.len());
        while let Some(line) = lines.next() {
            dispatch_line(&pending, &line, most);
        }
        memory.set(lines.buffer.len());
    }
}

fn dispatch_line(pending: &Arc<PendingRequests>, line: &InputLine, most: usize) {
    match line {
        InputLine::Complete(line) if line.trim_ascii().is_empty() => {}
        InputLine::Complete(line) => {
            // Some programs print other text to stdout. It fails no request.
            if let Err(error) = pending.dispatch(line, None) {
                tracing::debug!(%error, "ignored a line that is not a message");
            }
        }
        InputLine::TooLong(start) => {
            let server = &pending.log_name;
            tracing::warn!("{server}: a message of more than {most} bytes is dropped");
            match response::classify_start(start) {
                MessageStart::Response(id) => {
                    pending.fail_matching(Some(id), &Error::TooLarge(most))
                }
                MessageStart::Unknown => pending.fail_matching(None, &Error::TooLarge(most)),
                MessageStart::Unsolicited => {}
            }
        }
    }
}

async fn write_lines(
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::{Semaphore, mpsc};

    use super::{ANSWER_TIMEOUT, queue_answer};

    #[tokio::test(start_paused = true)]
    async fn an_answer_waits_while_the_server_does_not_read_but_not_forever() {
        let (sender, mut messages) = mpsc::channel(1);
        let (queue, waiting) = (sender.downgrade(), Arc::new(Semaphore::new(1)));
        for answer in [b"first", b"later", b"extra"] {
            queue_answer(&queue, &waiting, &"the server".into(), answer.to_vec());
        }
        assert_eq!(messages.recv().await.unwrap(), b"first");
        assert_eq!(messages.recv().await.unwrap(), b"later");
        assert!(messages.try_recv().is_err(), "one may wait");
        queue_answer(&queue, &waiting, &"the server".into(), b"first".to_vec());
        queue_answer(&queue, &waiting, &"the server".into(), b"later".to_vec());
        tokio::time::sleep(2 * ANSWER_TIMEOUT).await;
        assert_eq!(messages.recv().await.unwrap(), b"first");
        assert!(messages.try_recv().is_err() && waiting.available_permits() == 1);
    }
}
