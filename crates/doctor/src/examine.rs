//! Examination: tries every revision on a connection of its own, runs the checks, and reports.

use crate::checks::{self, Visit};
use crate::recorder::Recorder;
use crate::report::{DoctorReport, ExaminedRevision};
use crate::revision::DoctorRevision;
use crate::target::{DoctorOptions, DoctorTarget};
use crate::transport::{Conversation, Wire};

/// How far an examination is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoctorProgress {
    /// A revision is tried.
    Trying(DoctorRevision),
    /// The server speaks it, and is checked.
    Checking(DoctorRevision, &'static str),
}

/// Examines a server. It ends within the bounds of `options`, whatever the server does.
pub async fn examine(
    target: &DoctorTarget,
    options: &DoctorOptions,
    progress: &mut (dyn FnMut(DoctorProgress) + Send),
) -> DoctorReport {
    let mut log = Recorder::new();
    let mut failed: Option<String> = None;
    let mut has_negotiated = false;
    for revision in options.wanted() {
        log.enter(revision);
        // A server that breaks off during one handshake does so in all of them.
        if let Some(why) = failed.clone().filter(|_| revision.has_handshake()) {
            log.add_revision(unexamined(revision, why));
            continue;
        }
        progress(DoctorProgress::Trying(revision));
        let wire = match Wire::open(target, options) {
            Ok(wire) => wire,
            Err(why) => {
                log.found("connect", why.clone());
                log.add_revision(unexamined(revision, why));
                break;
            }
        };
        let talk = Conversation::new(wire, revision, options);
        let outcome = examine_revision(talk, &mut log, options, progress).await;
        if revision.has_handshake() && outcome.is_reached && !has_negotiated {
            has_negotiated = true;
            checks::check_negotiation(target, options, &mut log).await;
        }
        if outcome.is_broken {
            failed.clone_from(&outcome.why_not);
        }
        let OpenedRevision { is_reached, why_not, is_http_sse, .. } = outcome;
        log.add_revision(ExaminedRevision { revision, is_reached, why_not, is_http_sse });
    }
    let mut report = log.finish(target.label());
    if !report.is_reached() && report.findings.is_empty() {
        report = unreached(target, report);
    }
    report
}

fn unexamined(revision: DoctorRevision, why: String) -> ExaminedRevision {
    ExaminedRevision { revision, is_reached: false, why_not: Some(why), is_http_sse: false }
}

/// What became of one revision.
struct OpenedRevision {
    is_reached: bool,
    why_not: Option<String>,
    /// Whether the handshake broke off without an answer.
    is_broken: bool,
    is_http_sse: bool,
}

async fn examine_revision(
    mut talk: Conversation,
    log: &mut Recorder,
    options: &DoctorOptions,
    progress: &mut (dyn FnMut(DoctorProgress) + Send),
) -> OpenedRevision {
    let revision = talk.revision;
    let capabilities = match checks::open(&mut talk, log).await {
        Ok(capabilities) => capabilities,
        Err(why) => {
            let is_broken = revision.has_handshake() && talk.is_unanswered();
            let is_http_sse = talk.is_http_sse();
            if revision.has_handshake() {
                checks::record_faults(&mut talk, log, false);
            }
            talk.close().await;
            let why_not = Some(why);
            return OpenedRevision { is_reached: false, why_not, is_broken, is_http_sse };
        }
    };
    let mut visit = Visit::new(&mut talk, log, options, capabilities);
    visit.run(&mut |step| progress(DoctorProgress::Checking(revision, step))).await;
    checks::record_faults(&mut talk, log, true);
    let why_not = talk.why_dead().map(|why| format!("not examined to the end: {why}"));
    let is_dead = why_not.is_some();
    let is_http_sse = talk.is_http_sse();
    if let Some(has_ended) = talk.close().await.filter(|_| !is_dead) {
        log.judge("exit-with-input", has_ended, || "it runs on after three seconds".to_owned());
    }
    OpenedRevision { is_reached: true, why_not, is_broken: false, is_http_sse }
}

/// The report of a server that spoke no revision and broke no rule on the way.
fn unreached(target: &DoctorTarget, report: DoctorReport) -> DoctorReport {
    let mut log = Recorder::new();
    let mut reasons: Vec<String> = Vec::new();
    for examined in report.revisions {
        let reason = examined.why_not.clone().unwrap_or_default();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
        log.enter(examined.revision);
        log.found("connect", "");
        log.add_revision(examined);
    }
    let mut report = log.finish(target.label());
    for finding in &mut report.findings {
        finding.message = reasons.join("; ");
    }
    report
}
