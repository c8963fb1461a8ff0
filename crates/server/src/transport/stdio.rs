//! stdio transport: newline-delimited JSON over a pair of pipes.

use std::io;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use protocol::{Outgoing, Refusal};
use resource::Principal;
use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time;

use crate::audit::AuditSink;
use crate::clients::ClientTransport;
use crate::server::Server;
use crate::transport::duplex_connection::{DuplexConnection, OUTBOUND_QUEUE};

/// The room for each read from the client. A message rarely needs a second one.
const MIN_READ: usize = 8 << 10;

/// Answers beyond this size are not collected for one write.
const MAX_WRITE: usize = 64 << 10;

/// Serves without an audit.
pub async fn serve(
    server: Arc<Server>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_audited(server, (input, output), shutdown, None).await
}

/// Serves until the input ends or `shutdown` completes, then answers the requests in flight,
/// within a grace period.
pub async fn serve_audited(
    server: Arc<Server>,
    (input, output): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin + Send + 'static),
    shutdown: impl Future<Output = ()>,
    audit: Option<Arc<dyn AuditSink>>,
) -> io::Result<()> {
    let (out, messages) = mpsc::channel(OUTBOUND_QUEUE);
    let mut writer = tokio::spawn(write_messages(messages, output));
    let sender = (Principal::local(), ClientTransport::Stdio);
    let conversation = DuplexConnection::new(Arc::clone(&server), out.clone(), sender, audit);
    let listened = tokio::select! {
        listened = read_messages(&server, &conversation, input, &out) => listened,
        () = shutdown => Ok(()),
        // The client has closed our output: no answer can reach it.
        written = &mut writer => return unless_closed(written.map_err(io::Error::other)?),
    };
    // Do not wait longer for a client that does not read its answers.
    let drained = time::timeout(server.limits.shutdown_grace, async {
        conversation.drain().await;
        drop((conversation, out));
        writer.await
    });
    match drained.await {
        Ok(written) => unless_closed(written.map_err(io::Error::other)?).and(listened),
        Err(_) => listened,
    }
}

/// A client that closes its end of the pipe ends the conversation; that is no failure.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

async fn read_messages(
    server: &Server,
    conversation: &Arc<DuplexConnection>,
    mut input: impl AsyncRead + Unpin,
    out: &mpsc::Sender<Outgoing>,
) -> io::Result<()> {
    let mut lines =
        StdioLineReader { max_bytes: server.limits.message, ..StdioLineReader::default() };
    loop {
        lines.buffer.reserve(MIN_READ);
        let read = or_end(input.read_buf(&mut lines.buffer).await)?;
        if read == 0 {
            // The last line may lack a newline.
            lines.buffer.extend_from_slice(b"\n");
        }
        while let Some(line) = lines.next_line() {
            let heard = async {
                match line {
                    Ok(line) if line.trim_ascii().is_empty() => {}
                    Ok(line) => conversation.handle_bytes(&line).await,
                    Err(refusal) => drop(out.send(refusal.encode(None)).await),
                }
            };
            // Waits only for the bounded channel, that is, for a client that reads no answers.
            time::timeout(server.limits.io_timeout, heard).await?;
        }
        if read == 0 {
            return Ok(());
        }
    }
}

/// A terminal that is gone is the end of the input, though the kernel may call it an error.
fn or_end(read: io::Result<usize>) -> io::Result<usize> {
    match read {
        Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => Ok(0),
        read => read,
    }
}

async fn write_messages(
    mut messages: mpsc::Receiver<Outgoing>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut lines = BytesMut::new();
    while let Some(message) = messages.recv().await {
        // What waits already goes out with it, in one write.
        let mut next = Some(message);
        while let Some(message) = next.take() {
            match message.into_bytes() {
                Ok(bytes) => add_line(&mut lines, bytes),
                Err(message) => {
                    output.write_all(&lines.split()).await?;
                    write_stream(&mut output, message).await?;
                }
            }
            if lines.len() < MAX_WRITE {
                next = messages.try_recv().ok();
            }
        }
        output.write_all(&lines.split()).await?;
        output.flush().await?;
    }
    Ok(())
}

fn add_line(lines: &mut BytesMut, bytes: Bytes) {
    match lines.is_empty() {
        // Not copied if nobody else holds them.
        true => *lines = BytesMut::from(bytes),
        false => lines.extend_from_slice(&bytes),
    }
    lines.extend_from_slice(b"\n");
}

async fn write_stream(
    output: &mut (impl AsyncWrite + Unpin),
    mut message: Outgoing,
) -> io::Result<()> {
    while let Some(chunk) = message.next().await {
        match chunk {
            Ok(chunk) => output.write_all(&chunk).await?,
            Err(error) => {
                // Half a message is out already. End its line, which no client can parse, and
                // answer the request with an error on the next line.
                let why = error.with_causes();
                tracing::warn!("an answer failed after part of it was sent: {why}");
                output.write_all(b"\n").await?;
                let mut lines = BytesMut::new();
                for apology in message.failure_responses().filter_map(|told| told.into_bytes().ok())
                {
                    add_line(&mut lines, apology);
                }
                return output.write_all(&lines).await;
            }
        }
    }
    output.write_all(b"\n").await
}

/// Line reader with a length limit: its buffer never holds much more than one line.
#[derive(Default)]
struct StdioLineReader {
    buffer: BytesMut,
    max_bytes: usize,
    /// Length of the prefix of the buffer that holds no newline.
    searched: usize,
    /// Whether the rest of a line that is too long is being discarded.
    skipping: bool,
}

impl StdioLineReader {
    fn next_line(&mut self) -> Option<Result<Bytes, Refusal>> {
        loop {
            let Some(end) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
                self.searched = self.buffer.len();
                if self.searched > self.max_bytes {
                    self.buffer.clear();
                    self.searched = 0;
                    if !std::mem::replace(&mut self.skipping, true) {
                        return Some(Err(self.too_long()));
                    }
                }
                return None;
            };
            let line = self.buffer.split_to(self.searched + end + 1).freeze();
            self.searched = 0;
            if !std::mem::take(&mut self.skipping) {
                let line = line.slice(..line.len() - 1);
                return Some(if line.len() > self.max_bytes {
                    Err(self.too_long())
                } else {
                    Ok(line)
                });
            }
        }
    }

    fn too_long(&self) -> Refusal {
        Refusal::invalid_request(&format!("the message is longer than {} bytes", self.max_bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{StdioLineReader, or_end};

    fn lines(most: usize, chunks: &[&str]) -> Vec<Result<String, i64>> {
        let mut lines = StdioLineReader { max_bytes: most, ..StdioLineReader::default() };
        let mut found = Vec::new();
        for chunk in chunks {
            lines.buffer.extend_from_slice(chunk.as_bytes());
            while let Some(line) = lines.next_line() {
                let line = line.map(|line| String::from_utf8(line.to_vec()).unwrap());
                found.push(line.map_err(|refusal| refusal.code()));
            }
        }
        found
    }

    #[test]
    fn a_terminal_that_is_gone_is_the_end_of_the_input() {
        assert_eq!(or_end(Err(io::Error::from_raw_os_error(5))).unwrap(), 0);
        assert!(or_end(Err(io::Error::from_raw_os_error(9))).is_err());
        assert_eq!(or_end(Ok(7)).unwrap(), 7);
    }

    #[test]
    fn lines_are_found_however_they_arrive() {
        let found = lines(9, &["a\nb", "c\n", "\n", "d"]);
        assert_eq!(found, [Ok("a".to_owned()), Ok("bc".to_owned()), Ok(String::new())]);
    }

    #[test]
    fn a_line_is_taken_at_the_bound_and_refused_once_past_it() {
        assert_eq!(lines(3, &["abc\n"]), [Ok("abc".to_owned())]);
        let refused = [Err(-32600), Ok("ok".to_owned())];
        assert_eq!(lines(3, &["abcd\nok\n"]), refused);
        assert_eq!(lines(3, &["abcd", "efgh", "ijkl\nok\n"]), refused);
    }
}
