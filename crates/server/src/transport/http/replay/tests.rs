//! Tests of the replay buffer: no loss between streams, and its bounds.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use protocol::Outgoing;

use super::{EventId, HttpSession, MissedMessages, ReplayBuffer, StreamId};

fn session() -> Arc<HttpSession> {
    HttpSession::for_test(2)
}

fn missed(replay: &ReplayBuffer, event: EventId) -> Vec<Bytes> {
    match replay.missed_after(event) {
        Some(MissedMessages::All(missed)) => {
            missed.into_iter().map(|(_, message)| message).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// HL-07.
#[test]
fn what_was_missed_on_one_stream_is_given_and_nothing_of_another() {
    let session = session();
    let replay = &session.replay_buffer;
    let (one, _) = replay.open_live_stream(&session, None);
    let (other, _) = replay.open_live_stream(&session, None);
    let messages: Vec<Bytes> = (0..10).map(|at| Bytes::from(format!("{at}"))).collect();
    let stream = |at: usize| if at.is_multiple_of(2) { one.stream } else { other.stream };
    let marks: Vec<EventId> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| replay.record(stream(at), Some(message)))
        .collect();
    assert_eq!(missed(replay, marks[2]), ["4", "6", "8"]);
    assert_eq!(missed(replay, marks[9]), Vec::<Bytes>::new());
    for mark in marks {
        assert_eq!(EventId::parse(&mark.to_string()), Some(mark));
    }
}

#[test]
fn what_is_kept_is_bounded_and_its_loss_is_known() {
    let session = session();
    let replay = &session.replay_buffer;
    let stream = replay.open_live_stream(&session, None).0.stream;
    let first = replay.record(stream, None);
    for _ in 0..1000 {
        replay.record(stream, Some(&Bytes::from_static(b"message")));
    }
    assert_eq!(replay.missed_after(first), Some(MissedMessages::Unknown));
    assert_eq!(replay.state.lock().messages.len(), super::MAX_MESSAGES);
    for _ in 0..100 {
        replay.record(stream, Some(&Bytes::from(vec![0; 100_000])));
    }
    assert!(replay.state.lock().bytes <= super::MAX_BYTES);
}

#[test]
fn marks_that_are_not_ours_are_none() {
    let replay = ReplayBuffer::new(1);
    for text in ["", "c", "c1", "c1.", "x1.1", "c-1.1", "c1.1.1", "é1.1", "c1.99999999999999999999"]
    {
        assert_eq!(EventId::parse(text), None, "{text}");
    }
    assert_eq!(replay.missed_after(EventId::parse("c7.1").unwrap()), None);
    let mark = replay.record(replay.open_answer_stream(), None);
    assert_eq!(replay.missed_after(EventId { number: 99, ..mark }), None);
}

/// HL-05.
#[tokio::test]
async fn the_newest_stream_tells_and_the_one_before_takes_over() {
    let session = session();
    let replay = &session.replay_buffer;
    let say = || Some(Outgoing::from_bytes("message"));
    let (mut first, _) = replay.open_live_stream(&session, None);
    let (mut second, _) = replay.open_live_stream(&session, None);
    assert!(
        first.wait_until_newest().now_or_never().is_none()
            && replay.send_next(&mut first, say).is_none()
    );
    assert!(
        second.wait_until_newest().now_or_never().is_some()
            && replay.send_next(&mut second, say).is_some()
    );
    let (third, _) = replay.open_live_stream(&session, None);
    assert!(second.wait_until_superseded().now_or_never().is_some());
    assert!(first.eviction().wait().now_or_never().is_some(), "two are all");
    assert!(second.eviction().wait().now_or_never().is_none());
    drop(third);
    assert!(second.wait_until_newest().now_or_never().is_some());
}

#[test]
fn what_was_told_on_a_stream_that_is_gone_is_made_up_for() {
    let session = session();
    let replay = &session.replay_buffer;
    let (silent, missed) = replay.open_live_stream(&session, None);
    assert_eq!(missed, MissedMessages::All(Vec::new()));
    drop(silent);
    let (mut told, missed) = replay.open_live_stream(&session, None);
    assert_eq!(missed, MissedMessages::All(Vec::new()), "nothing was told yet");
    let (mark, _) = replay.send_next(&mut told, || Some(Outgoing::from_bytes("one"))).unwrap();
    assert!(matches!(mark.stream, StreamId::Notifications(_)));
    drop(told);
    let (_again, missed) = replay.open_live_stream(&session, Some(mark));
    assert_eq!(missed, MissedMessages::All(Vec::new()), "it has seen that one");
    let (_fresh, missed) = replay.open_live_stream(&session, None);
    assert_eq!(missed, MissedMessages::Unknown, "nobody knows what it has seen");
}
