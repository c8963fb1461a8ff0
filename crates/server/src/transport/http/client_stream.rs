//! Byte stream of a client: a write timeout, and half-closed clients told from those who left.
//!
//! The end of the input does not say which of the two a client did. hyper takes it for a client
//! who left. So this stream hides it while a request is at work and sends `100 Continue`, which a
//! client must accept and ignore (RFC 9110, 15.2). Whoever left answers with a reset, and the next
//! write fails.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{self, Sleep};

/// What is sent to find out whether a half-closed client still reads.
const PROBE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The times between probes; the last one repeats.
const PROBE_DELAYS: [Duration; 5] = [
    Duration::from_millis(20),
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
];

/// How long an answer to a half-closed client may rest before the client counts as one who left.
const MAX_REST: Duration = Duration::from_secs(30);

/// How often the end of the input is held back while nothing is at work. hyper may read it in the
/// same turn as the last bytes of a request, before the handler has seen that the request is whole.
const MAX_HELD_BACK: u8 = 2;

/// A socket, or TLS over one.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

/// How far the current request of a connection is. The handler of requests sets it.
#[derive(Default)]
pub(super) struct RequestPhase(AtomicU8);

/// Nothing is at work, or the end of the input means that the client left.
const IDLE: u8 = 0;
/// A whole request has arrived, and nothing of its answer has been sent.
const WORKING: u8 = 1;
/// An answer of known end is being sent.
const ANSWERING: u8 = 2;

impl RequestPhase {
    /// A whole request has arrived. The client gets its answer even if it sends no more.
    pub(super) fn begin_work(&self) {
        self.0.store(WORKING, Ordering::Relaxed);
    }

    /// The request has ended, or its answer is a stream without an end.
    pub(super) fn end_work(&self) {
        self.0.store(IDLE, Ordering::Relaxed);
    }

    fn begin_answer(&self) {
        let _ = self.0.compare_exchange(WORKING, ANSWERING, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// A stream whose writes fail with `TimedOut` after a time without progress.
pub(super) struct ClientStream {
    stream: Box<dyn ByteStream>,
    timeout: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    phase: Arc<RequestPhase>,
    probe: Option<ClientProbe>,
    /// Runs while a half-closed client waits for the rest of its answer.
    rest: Option<Pin<Box<Sleep>>>,
    /// How often the end of the input was held back.
    held_back: u8,
}

struct ClientProbe {
    timer: Pin<Box<Sleep>>,
    sent: usize,
    /// The rest of a probe that is partly written.
    rest: &'static [u8],
}

impl ClientStream {
    pub(super) fn new(
        stream: Box<dyn ByteStream>,
        timeout: Duration,
        phase: Arc<RequestPhase>,
    ) -> Self {
        Self { stream, timeout, timer: None, phase, probe: None, rest: None, held_back: 0 }
    }

    /// Starts, clears or checks the timer after an attempt to write.
    fn check_timeout<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            (self.timer, self.rest) = (None, None);
            return written;
        }
        let patience = self.timeout;
        let waiting = self.timer.get_or_insert_with(|| Box::pin(time::sleep(patience)));
        waiting.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Completes when the client of a half-closed connection has left.
    fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let probe = self.probe.get_or_insert_with(|| ClientProbe {
                timer: Box::pin(time::sleep(Duration::ZERO)),
                sent: 0,
                rest: &[],
            });
            if probe.rest.is_empty() {
                ready!(probe.timer.as_mut().poll(cx));
                let delay = PROBE_DELAYS[probe.sent.min(PROBE_DELAYS.len() - 1)];
                probe.timer = Box::pin(time::sleep(delay));
                probe.sent += 1;
                probe.rest = PROBE;
            }
            if ready!(self.poll_finish_probe(cx)).is_err() {
                return Poll::Ready(());
            }
        }
    }

    /// Writes the rest of a probe, before which nothing else may be written.
    fn poll_finish_probe(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(probe) = &mut self.probe else { return Poll::Ready(Ok(())) };
        if probe.rest.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while !probe.rest.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, probe.rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            probe.rest = &probe.rest[written..];
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let has_ended = buffer.filled().len() == before && buffer.remaining() > 0;
        match self.phase.0.load(Ordering::Relaxed) {
            WORKING if has_ended => self.poll_left(cx).map(Ok),
            // Writes go on, and find out whether the client is still there.
            ANSWERING if has_ended => {
                let rest = self.rest.get_or_insert_with(|| Box::pin(time::sleep(MAX_REST)));
                rest.as_mut().poll(cx).map(Ok)
            }
            IDLE if has_ended && self.held_back < MAX_HELD_BACK => {
                self.held_back += 1;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            _ => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.phase.begin_answer();
        let ready = self.poll_finish_probe(cx);
        ready!(self.check_timeout(cx, ready))?;
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_timeout(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.phase.begin_answer();
        let ready = self.poll_finish_probe(cx);
        ready!(self.check_timeout(cx, ready))?;
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.check_timeout(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.check_timeout(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
