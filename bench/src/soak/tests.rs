//! Tests of the verdict on a soak.

use std::time::Duration;

use super::{ClientKind, Experience, KindFigures, MAX_PEAK, PhaseFigures, SoakFigures, evaluate};

/// Makes figures bad.
type Breach = fn(&mut SoakFigures);

const MEBIBYTE: u64 = 1 << 20;

fn good() -> SoakFigures {
    let kind = KindFigures { requests: 100, p99: Duration::from_millis(2), changes: 5 };
    let by_kind = [kind; ClientKind::ALL.len()];
    let phase = PhaseFigures { by_kind, ..PhaseFigures::default() };
    SoakFigures {
        quiet: phase,
        attacked: phase,
        memory_start: 50 * MEBIBYTE,
        memory_peak: 100 * MEBIBYTE,
        memory_half: 80 * MEBIBYTE,
        memory_end: 90 * MEBIBYTE,
        files_start: 20,
        files_end: 20,
        processes_left: 0,
    }
}

#[test]
fn each_kind_of_client_is_judged_by_itself() {
    good().verdict().unwrap();
    let breaches: [(&str, Breach); 9] = [
        ("a request failed", |soak| soak.quiet.failed = 1),
        ("no request alone", |soak| soak.quiet.by_kind[2].requests = 0),
        ("no request under attack", |soak| soak.attacked.by_kind[4].requests = 0),
        ("slow", |soak| soak.attacked.by_kind[3].p99 = Duration::from_millis(5)),
        ("no change", |soak| soak.attacked.by_kind[0].changes = 0),
        ("peak", |soak| soak.memory_peak = MAX_PEAK + 1),
        ("growth", |soak| soak.memory_end = 101 * MEBIBYTE),
        ("descriptors", |soak| soak.files_end = 29),
        ("processes", |soak| soak.processes_left = 1),
    ];
    for (name, breach) in breaches {
        let mut soak = good();
        breach(&mut soak);
        assert!(soak.verdict().is_err(), "{name}");
    }
    // Pipes do not listen.
    let mut soak = good();
    soak.attacked.by_kind[4].changes = 0;
    soak.verdict().unwrap();
}

#[test]
fn experiences_count_for_their_kind() {
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    for experience in [
        Experience::Answered(ClientKind::Tls, Duration::from_millis(3)),
        Experience::Answered(ClientKind::Pipe, Duration::from_millis(1)),
        Experience::Notified(ClientKind::Tls),
    ] {
        sender.send(experience).unwrap();
    }
    let figures = evaluate(&mut received);
    let shown = figures.by_kind.map(|kind| (kind.requests, kind.p99.as_millis(), kind.changes));
    assert_eq!(shown, [(0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 3, 1), (1, 1, 0)]);
    assert_eq!((figures.requests, figures.changes, figures.failed), (2, 1, 0));
}
