//! Pipe wire: one message per line, with a bound on the length of a line.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time;

use super::Deadline;
use super::child::ChildGuard;

/// How many bytes are read at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// The two ends of the pipes to a server.
pub(crate) struct PipeWire {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    buffer: BytesMut,
    /// Length of the prefix that is known to hold no line break.
    searched: usize,
    limit: usize,
    pub(super) child: Option<ChildGuard>,
}

/// What the server wrote.
pub(crate) enum PipeLine {
    Text(Bytes),
    /// A line over the limit.
    TooLong,
    /// The end of the output.
    End(String),
    /// Nothing before the deadline.
    Silence,
}

impl PipeWire {
    pub(crate) fn new(
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
        limit: usize,
    ) -> Self {
        let buffer = BytesMut::new();
        Self { reader, writer: Some(writer), buffer, searched: 0, limit, child: None }
    }

    /// Writes one line.
    pub(crate) async fn send(&mut self, line: &str, deadline: Deadline) -> Result<(), String> {
        let Some(writer) = &mut self.writer else { return Err("the input is closed".to_owned()) };
        let text = format!("{line}\n");
        let written = async {
            writer.write_all(text.as_bytes()).await?;
            writer.flush().await
        };
        match time::timeout_at(deadline.0, written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("its input is closed: {error}")),
            Err(_) => Err("it does not read its input".to_owned()),
        }
    }

    /// The next line that is not blank.
    pub(crate) async fn next_line(&mut self, deadline: Deadline) -> PipeLine {
        loop {
            if let Some(line) = self.take_line() {
                if !line.trim_ascii().is_empty() {
                    return PipeLine::Text(line);
                }
                continue;
            }
            if self.buffer.len() > self.limit {
                self.buffer = BytesMut::new();
                self.searched = 0;
                return PipeLine::TooLong;
            }
            self.buffer.reserve(CHUNK_BYTES);
            match time::timeout_at(deadline.0, self.reader.read_buf(&mut self.buffer)).await {
                Err(_) => return PipeLine::Silence,
                Ok(Ok(1..)) => {}
                Ok(Ok(0)) => return PipeLine::End(self.end_reason("its output ended").await),
                Ok(Err(error)) => {
                    let why = format!("its output broke: {error}");
                    return PipeLine::End(self.end_reason(&why).await);
                }
            }
        }
    }

    fn take_line(&mut self) -> Option<Bytes> {
        let end = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = end + self.searched;
        self.searched = 0;
        Some(self.buffer.split_to(end + 1).freeze().slice(..end))
    }

    async fn end_reason(&mut self, why: &str) -> String {
        match &mut self.child {
            Some(child) => child.exit_reason(why).await,
            None => why.to_owned(),
        }
    }

    /// Closes the input and waits for the end of the output. Whether it came in time.
    pub(crate) async fn close(mut self, wait: Duration) -> bool {
        drop(self.writer.take());
        let deadline = Deadline::after(wait);
        let has_ended = loop {
            match self.next_line(deadline).await {
                PipeLine::End(_) => break true,
                PipeLine::Silence | PipeLine::TooLong => break false,
                // A flood never ends, and the deadline is not looked at while there is input.
                PipeLine::Text(_) if deadline.is_over() => break false,
                PipeLine::Text(_) => {}
            }
        };
        if let Some(child) = self.child.take() {
            child.end().await;
        }
        has_ended
    }
}
