//! Streaming JSON message: content is escaped or base64-encoded chunk by chunk.
//!
//! A message is a queue of pieces: finished JSON, and bodies that are encoded when the transport
//! polls for more. A streamed body is never in memory as a whole.

mod encoding;
mod escape;

use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::num::NonZeroI32;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use resource::{Body, ByteSource, Result};

pub(crate) use self::encoding::escape;
use self::encoding::{
    base64_chunk, blob_chunk_len, encode_base64, escape_capacity, escape_chunk, text_chunk_len,
};
use crate::inbound::refusal::Refusal;
use crate::json::error_code::ErrorCode;
use crate::json::frame::RequestId;

/// Maximum size of a message of several pieces that is written as one buffer.
const MAX_BUFFERED_BYTES: usize = 64 * 1024;

/// The code of an answer that failed halfway: that of an internal error.
pub const BROKEN_ANSWER: i64 = ErrorCode::INTERNAL_ERROR.0;

/// Notes how an answer goes while a transport sends it.
pub trait AnswerWatcher: Debug + Send + Sync {
    /// Bytes of the answer were given to the transport.
    fn note_bytes(&self, bytes: usize);

    /// The answer is a failure, or became one halfway.
    fn note_failure(&self, failure: AnswerFailure);
}

/// How an answer fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFailure {
    /// It is an error response with this code.
    Error(i64),
    /// It is the result of a tool, which says that the tool failed.
    Tool,
}

/// One outgoing message, as a stream of bytes without line breaks.
#[derive(Debug, Default)]
pub struct Outgoing {
    pieces: VecDeque<OutgoingPiece>,
    /// Bytes of a blob that do not fill a base64 group of 3 yet.
    carry: Vec<u8>,
    /// The last encoded chunk, whose buffer the next one reuses.
    last_chunk: Bytes,
    rejected: bool,
    has_failed_tool: bool,
    /// The code of the error, if the message is an error response.
    error_code: Option<NonZeroI32>,
    /// Boxed, because few messages have it.
    answer: Option<Box<AnswerDetails>>,
}

#[derive(Debug, Default)]
struct AnswerDetails {
    /// The requests that the message answers, if a streamed body may still fail.
    request_ids: Vec<RequestId>,
    watcher: Option<Arc<dyn AnswerWatcher>>,
}

#[derive(Debug)]
enum OutgoingPiece {
    Json(Bytes),
    Body(Body),
}

/// Bytes with something that lives as long as they do.
struct GuardedBytes {
    bytes: Bytes,
    _guard: Arc<dyn Any + Send + Sync>,
}

impl AsRef<[u8]> for GuardedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Outgoing {
    /// Creates a message from finished JSON.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        let mut message = Self::default();
        message.push_json(bytes);
        message
    }

    /// Creates a message from `value`, serialized as JSON.
    pub(crate) fn from_json(value: &impl serde::Serialize) -> Self {
        Self::from_bytes(serde_json::to_vec(value).expect("what we write has string keys only"))
    }

    /// Appends finished JSON.
    pub fn push_json(&mut self, bytes: impl Into<Bytes>) {
        self.pieces.push_back(OutgoingPiece::Json(bytes.into()));
    }

    /// Appends `body` as the inside of a JSON string, without the quotes.
    pub(crate) fn push_body(&mut self, body: Body) {
        self.pieces.push_back(OutgoingPiece::Body(body));
    }

    /// The bytes that it holds in memory, before encoding.
    pub fn held_bytes(&self) -> usize {
        self.pieces.iter().filter_map(OutgoingPiece::buffered_len).sum()
    }

    /// Keeps `guard` until the last of its large pieces is written or dropped.
    #[must_use]
    pub fn guarded_by(mut self, guard: impl Send + Sync + 'static) -> Self {
        let guard: Arc<dyn Any + Send + Sync> = Arc::new(guard);
        for piece in &mut self.pieces {
            if let OutgoingPiece::Json(bytes)
            | OutgoingPiece::Body(
                Body::Text(ByteSource::Bytes(bytes)) | Body::Blob(ByteSource::Bytes(bytes)),
            ) = piece
            {
                let (bytes_held, guard) = (std::mem::take(bytes), Arc::clone(&guard));
                *bytes = Bytes::from_owner(GuardedBytes { bytes: bytes_held, _guard: guard });
            }
        }
        self
    }

    /// True if the message has no content, so nothing is to be sent.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Marks the request as rejected before the server acted on it.
    pub(crate) fn rejected(self) -> Self {
        Self { rejected: true, ..self }
    }

    /// Marks the message as an error response with this code.
    pub(crate) fn with_error_code(self, code: i64) -> Self {
        // Small, because every message has it.
        let error_code = i32::try_from(code).ok().and_then(NonZeroI32::new);
        Self { error_code, ..self }
    }

    /// Marks the message as the result of a tool that failed, if it did.
    pub(crate) fn with_failed_tool(self, has_failed_tool: bool) -> Self {
        Self { has_failed_tool, ..self }
    }

    /// How the answer fails, if it does.
    pub fn failure(&self) -> Option<AnswerFailure> {
        let code = self.error_code.map(|code| AnswerFailure::Error(code.get().into()));
        code.or(self.has_failed_tool.then_some(AnswerFailure::Tool))
    }

    /// Tells `watcher` how the answer goes.
    #[must_use]
    pub fn watched_by(mut self, watcher: Arc<dyn AnswerWatcher>) -> Self {
        if let Some(failure) = self.failure() {
            watcher.note_failure(failure);
        }
        self.answer.get_or_insert_default().watcher = Some(watcher);
        self
    }

    /// True if the request was rejected, so the HTTP status must report it.
    pub fn is_rejected(&self) -> bool {
        self.rejected
    }

    /// Records the request that the message answers, for [`Outgoing::apologies`].
    pub(crate) fn for_request(mut self, id: &RequestId) -> Self {
        let streams = self.pieces.iter().any(|piece| piece.buffered_len().is_none());
        if streams {
            self.answer.get_or_insert_default().request_ids.push(id.clone());
        }
        self
    }

    /// The error responses to send after a streamed body failed halfway.
    pub fn failure_responses(&self) -> impl Iterator<Item = Self> {
        let refusal =
            Refusal::busy("reading the content failed halfway; send the request again".to_owned());
        let ids = self.answer.iter().flat_map(|answer| &answer.request_ids);
        ids.map(move |id| refusal.encode(Some(id)))
    }

    /// Joins several messages into one JSON array (a batch). The watcher of the first one counts
    /// the bytes of all.
    pub fn batch(messages: Vec<Self>) -> Self {
        let mut array = Self::from_bytes(&b"["[..]);
        for (at, message) in messages.into_iter().enumerate() {
            if at > 0 {
                array.push_json(&b","[..]);
            }
            array.pieces.extend(message.pieces);
            if let Some(answer) = message.answer {
                let all = array.answer.get_or_insert_default();
                all.request_ids.extend(answer.request_ids);
                all.watcher = all.watcher.take().or(answer.watcher);
            }
        }
        array.push_json(&b"]"[..]);
        array
    }

    /// The whole message as one buffer, if it is one finished piece, or small and not streamed.
    /// Otherwise returns the message unchanged.
    pub fn into_bytes(mut self) -> std::result::Result<Bytes, Self> {
        let answer = self.answer.take();
        match self.join_pieces() {
            Ok(bytes) => {
                let watcher = answer.and_then(|answer| answer.watcher);
                watcher.iter().for_each(|watcher| watcher.note_bytes(bytes.len()));
                Ok(bytes)
            }
            Err(message) => Err(Self { answer, ..message }),
        }
    }

    fn join_pieces(mut self) -> std::result::Result<Bytes, Self> {
        if self.pieces.len() == 1
            && let Some(OutgoingPiece::Json(bytes)) = self.pieces.front_mut()
        {
            return Ok(std::mem::take(bytes));
        }
        let length = self.pieces.iter().map(OutgoingPiece::buffered_len).sum::<Option<usize>>();
        if length.is_none_or(|length| length > MAX_BUFFERED_BYTES) {
            return Err(self);
        }
        // A transport may end it with a line break, for which it is not copied.
        let length: usize = self.pieces.iter().map(OutgoingPiece::capacity).sum();
        let mut whole = Vec::with_capacity(length + 1);
        for piece in self.pieces {
            match piece {
                OutgoingPiece::Json(bytes) => whole.extend_from_slice(&bytes),
                OutgoingPiece::Body(Body::Text(ByteSource::Bytes(bytes))) => {
                    escape(&bytes, &mut whole)
                }
                OutgoingPiece::Body(Body::Blob(ByteSource::Bytes(bytes))) => {
                    base64_simd::STANDARD.encode_append(&bytes, &mut whole);
                }
                OutgoingPiece::Body(_) => {}
            }
        }
        Ok(whole.into())
    }
}

impl OutgoingPiece {
    fn buffered_len(&self) -> Option<usize> {
        match self {
            Self::Json(bytes)
            | Self::Body(
                Body::Text(ByteSource::Bytes(bytes)) | Body::Blob(ByteSource::Bytes(bytes)),
            ) => Some(bytes.len()),
            Self::Body(_) => None,
        }
    }

    /// The buffer that encoding the piece needs, if it is in memory.
    fn capacity(&self) -> usize {
        let length = self.buffered_len().unwrap_or(0);
        match self {
            Self::Json(_) => length,
            Self::Body(Body::Text(_)) => escape_capacity(length),
            Self::Body(Body::Blob(_)) => base64_simd::STANDARD.encoded_length(length),
        }
    }
}

impl Stream for Outgoing {
    type Item = Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let polled = this.poll_chunk(cx);
        let watcher = this.answer.as_ref().and_then(|answer| answer.watcher.as_ref());
        if let (Some(watcher), Poll::Ready(Some(chunk))) = (watcher, &polled) {
            match chunk {
                Ok(bytes) => watcher.note_bytes(bytes.len()),
                Err(_) => watcher.note_failure(AnswerFailure::Error(BROKEN_ANSWER)),
            }
        }
        polled
    }
}

impl Outgoing {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        let this = self;
        loop {
            let encoded = match this.pieces.front_mut() {
                None => return Poll::Ready(None),
                Some(OutgoingPiece::Json(bytes)) => {
                    let bytes = std::mem::take(bytes);
                    this.pieces.pop_front();
                    return Poll::Ready(Some(Ok(bytes)));
                }
                Some(OutgoingPiece::Body(Body::Text(source))) => {
                    ready!(next_chunk(source, cx, text_chunk_len))?
                        .map(|chunk| escape_chunk(&chunk, &mut this.last_chunk))
                }
                Some(OutgoingPiece::Body(Body::Blob(source))) => {
                    match ready!(next_chunk(source, cx, blob_chunk_len))? {
                        Some(chunk) => {
                            Some(base64_chunk(chunk, &mut this.carry, &mut this.last_chunk))
                        }
                        None if this.carry.is_empty() => None,
                        None => {
                            // A stream must not be polled after its end.
                            *source = ByteSource::Bytes(Bytes::new());
                            Some(encode_base64(
                                &std::mem::take(&mut this.carry),
                                &mut this.last_chunk,
                            ))
                        }
                    }
                }
            };
            match encoded {
                Some(bytes) if bytes.is_empty() => {}
                Some(bytes) => return Poll::Ready(Some(Ok(bytes))),
                None => drop(this.pieces.pop_front()),
            }
        }
    }
}

/// The next chunk of `source`. `cut` returns the length of a chunk of bytes in memory.
fn next_chunk(
    source: &mut ByteSource,
    cx: &mut Context<'_>,
    cut: fn(&Bytes) -> usize,
) -> Poll<Result<Option<Bytes>>> {
    match source {
        ByteSource::Bytes(bytes) if bytes.is_empty() => Poll::Ready(Ok(None)),
        ByteSource::Bytes(bytes) => Poll::Ready(Ok(Some(bytes.split_to(cut(bytes))))),
        ByteSource::Stream(stream) => stream.as_mut().poll_next(cx).map(Option::transpose),
    }
}

#[cfg(test)]
mod tests;
