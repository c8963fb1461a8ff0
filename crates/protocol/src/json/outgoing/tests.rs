//! Tests of streamed messages: chunks of any size, buffers, guards.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_core::Stream;
use proptest::prelude::{any, prop, proptest};
use resource::{Body, ByteSource, Result};

use super::Outgoing;
use super::encoding::CHUNK_BYTES;

/// A stream of chunks that panics when it is polled after its end.
struct Chunks(std::vec::IntoIter<Bytes>, bool);

impl Stream for Chunks {
    type Item = Result<Bytes>;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let ends = self.0.len() == 0;
        assert!(!std::mem::replace(&mut self.1, ends), "polled behind its end");
        Poll::Ready(self.0.next().map(Ok))
    }
}

fn chunks(all: impl Iterator<Item = Bytes>) -> ByteSource {
    ByteSource::Stream(Box::pin(Chunks(all.collect::<Vec<_>>().into_iter(), false)))
}

fn drain(mut message: Outgoing) -> Vec<u8> {
    let mut all = Vec::new();
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(chunk)) = Pin::new(&mut message).poll_next(&mut cx) {
        all.extend_from_slice(&chunk.unwrap());
    }
    all
}

fn quoted(body: Body) -> Outgoing {
    let mut message = Outgoing::from_bytes(&b"\""[..]);
    message.push_body(body);
    message.push_json(&b"\""[..]);
    message
}

proptest! {
    #[test]
    fn text_comes_back_from_chunks_of_any_size(pieces in prop::collection::vec(".*", 0..8)) {
        let whole = pieces.concat();
        let source = chunks(pieces.iter().map(|piece| Bytes::from(piece.clone())));
        let streamed = drain(quoted(Body::Text(source)));
        assert_eq!(serde_json::from_slice::<String>(&streamed).unwrap(), whole);
        let at_once = quoted(Body::Text(ByteSource::Bytes(whole.clone().into())));
        assert_eq!(at_once.into_bytes().unwrap(), streamed);
    }

    #[test]
    fn blobs_come_back_from_chunks_of_any_size(
        pieces in prop::collection::vec(any::<Vec<u8>>(), 0..8),
    ) {
        let whole = pieces.concat();
        let source = chunks(pieces.into_iter().map(Bytes::from));
        let streamed = drain(quoted(Body::Blob(source)));
        let text: String = serde_json::from_slice(&streamed).unwrap();
        assert_eq!(base64_simd::STANDARD.decode_to_vec(&text).unwrap(), whole);
        let at_once = quoted(Body::Blob(ByteSource::Bytes(whole.into())));
        assert_eq!(at_once.into_bytes().unwrap(), streamed);
    }
}

#[test]
fn a_guard_lives_until_the_last_byte_is_gone() {
    let guard = std::sync::Arc::new(());
    let message = quoted(Body::Text(ByteSource::Bytes("é".repeat(CHUNK_BYTES).into())));
    assert_eq!(message.held_bytes(), 2 * CHUNK_BYTES + 2);
    let mut message = message.guarded_by(std::sync::Arc::clone(&guard));
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(chunk)) = Pin::new(&mut message).poll_next(&mut cx) {
        assert!(!chunk.unwrap().is_empty());
    }
    assert_eq!(std::sync::Arc::strong_count(&guard), 1);
    let whole = Outgoing::from_bytes(vec![b'1'; 10]).guarded_by(std::sync::Arc::clone(&guard));
    let whole = whole.into_bytes().unwrap();
    assert_eq!((std::sync::Arc::strong_count(&guard), whole.len()), (2, 10));
    drop(whole);
    assert_eq!(std::sync::Arc::strong_count(&guard), 1);
}

#[test]
fn a_chunk_lends_its_buffer_to_the_next_only_when_it_was_dropped() {
    let mut cx = Context::from_waker(Waker::noop());
    let text = "abc".repeat(CHUNK_BYTES);
    let mut message = quoted(Body::Text(ByteSource::Bytes(text.into())));
    let mut next = || match Pin::new(&mut message).poll_next(&mut cx) {
        Poll::Ready(Some(Ok(chunk))) => chunk,
        other => panic!("{other:?}"),
    };
    next();
    let sent = next().as_ptr();
    let kept = next();
    assert_eq!(kept.as_ptr(), sent);
    assert_ne!(next().as_ptr(), sent);
    assert_eq!(kept, "abc".repeat(CHUNK_BYTES / 3));
}

#[test]
fn a_large_body_leaves_in_chunks_cut_between_characters() {
    let text = "日本語🎌\n".repeat(CHUNK_BYTES / 8);
    let message = quoted(Body::Text(ByteSource::Bytes(text.clone().into())));
    let message = message.into_bytes().unwrap_err();
    assert_eq!(serde_json::from_slice::<String>(&drain(message)).unwrap(), text);
}
