//! Tests of the replay buffer: no loss between streams, and its bounds.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use protocol::Outgoing;

use super::{Mark, Missed, Replay, Session, Strand};

fn session() -> Arc<Session> {
    Session::of_nobody(2)
}

fn missed(replay: &Replay, mark: Mark) -> Vec<Bytes> {
    match replay.after(mark) {
        Some(Missed::All(missed)) => missed.into_iter().map(|(_, message)| message).collect(),
        other => panic!("{other:?}"),
    }
}

/// HL-07.
#[test]
fn what_was_missed_on_one_stream_is_given_and_nothing_of_another() {
    let session = session();
    let replay = &session.replay;
    let (one, _) = replay.begin(&session, None);
    let (other, _) = replay.begin(&session, None);
    let messages: Vec<Bytes> = (0..10).map(|at| Bytes::from(format!("{at}"))).collect();
    let strand = |at: usize| if at.is_multiple_of(2) { one.strand } else { other.strand };
    let marks: Vec<Mark> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| replay.mark(strand(at), Some(message)))
        .collect();
    assert_eq!(missed(replay, marks[2]), ["4", "6", "8"]);
    assert_eq!(missed(replay, marks[9]), Vec::<Bytes>::new());
    for mark in marks {
        assert_eq!(Mark::parse(&mark.to_string()), Some(mark));
    }
}

#[test]
fn what_is_kept_is_bounded_and_its_loss_is_known() {
    let session = session();
    let replay = &session.replay;
    let strand = replay.begin(&session, None).0.strand;
    let first = replay.mark(strand, None);
    for _ in 0..1000 {
        replay.mark(strand, Some(&Bytes::from_static(b"message")));
    }
    assert_eq!(replay.after(first), Some(Missed::More));
    assert_eq!(replay.kept().sent.len(), super::MESSAGES);
    for _ in 0..100 {
        replay.mark(strand, Some(&Bytes::from(vec![0; 100_000])));
    }
    assert!(replay.kept().bytes <= super::BYTES);
}

#[test]
fn marks_that_are_not_ours_are_none() {
    let replay = Replay::new(1);
    for text in ["", "c", "c1", "c1.", "x1.1", "c-1.1", "c1.1.1", "é1.1", "c1.99999999999999999999"]
    {
        assert_eq!(Mark::parse(text), None, "{text}");
    }
    assert_eq!(replay.after(Mark::parse("c7.1").unwrap()), None);
    let mark = replay.mark(replay.answer(), None);
    assert_eq!(replay.after(Mark { number: 99, ..mark }), None);
}

/// HL-05.
#[tokio::test]
async fn the_newest_stream_tells_and_the_one_before_takes_over() {
    let session = session();
    let replay = &session.replay;
    let say = || Some(Outgoing::ready("message"));
    let (mut first, _) = replay.begin(&session, None);
    let (mut second, _) = replay.begin(&session, None);
    assert!(first.comes().now_or_never().is_none() && replay.tell(&mut first, say).is_none());
    assert!(second.comes().now_or_never().is_some() && replay.tell(&mut second, say).is_some());
    let (third, _) = replay.begin(&session, None);
    assert!(second.passes().now_or_never().is_some());
    assert!(first.end().comes().now_or_never().is_some(), "two are all");
    assert!(second.end().comes().now_or_never().is_none());
    drop(third);
    assert!(second.comes().now_or_never().is_some());
}

#[test]
fn what_was_told_on_a_stream_that_is_gone_is_made_up_for() {
    let session = session();
    let replay = &session.replay;
    let (silent, missed) = replay.begin(&session, None);
    assert_eq!(missed, Missed::All(Vec::new()));
    drop(silent);
    let (mut told, missed) = replay.begin(&session, None);
    assert_eq!(missed, Missed::All(Vec::new()), "nothing was told yet");
    let (mark, _) = replay.tell(&mut told, || Some(Outgoing::ready("one"))).unwrap();
    assert!(matches!(mark.strand, Strand::Changes(_)));
    drop(told);
    let (_again, missed) = replay.begin(&session, Some(mark));
    assert_eq!(missed, Missed::All(Vec::new()), "it has seen that one");
    let (_fresh, missed) = replay.begin(&session, None);
    assert_eq!(missed, Missed::More, "nobody knows what it has seen");
}
