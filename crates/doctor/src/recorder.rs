//! Recorder of an examination: collects outcomes and findings, and merges them over revisions.

use std::collections::BTreeMap;

use crate::plain_text::plain;
use crate::report::{DoctorCheck, DoctorFinding, DoctorOutcome, DoctorReport, ExaminedRevision};
use crate::revision::DoctorRevision;
use crate::rules::{all_rules, find_rule};

/// How many places of one rule are kept; the rest is counted.
const MAX_PLACES: usize = 5;

/// Collects what is seen.
pub(crate) struct Recorder {
    revision: DoctorRevision,
    findings: Vec<DoctorFinding>,
    passed: Vec<&'static str>,
    skipped: BTreeMap<&'static str, String>,
    /// Places beyond the kept ones, by rule; a place counts once, whatever the revisions.
    excess: BTreeMap<&'static str, Vec<String>>,
    revisions: Vec<ExaminedRevision>,
    server: Option<String>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            revision: DoctorRevision::ALL[0],
            findings: Vec::new(),
            passed: Vec::new(),
            skipped: BTreeMap::new(),
            excess: BTreeMap::new(),
            revisions: Vec::new(),
            server: None,
        }
    }

    /// Everything that follows is seen in this revision.
    pub(crate) fn enter(&mut self, revision: DoctorRevision) {
        self.revision = revision;
    }

    pub(crate) fn set_server(&mut self, name: String) {
        self.server.get_or_insert(name);
    }

    pub(crate) fn add_revision(&mut self, examined: ExaminedRevision) {
        self.revisions.push(examined);
    }

    pub(crate) fn passed(&mut self, id: &'static str) {
        debug_assert!(find_rule(id).is_some(), "{id} is in no table");
        if !self.passed.contains(&id) {
            self.passed.push(id);
        }
    }

    pub(crate) fn skipped(&mut self, id: &'static str, why: impl Into<String>) {
        debug_assert!(find_rule(id).is_some(), "{id} is in no table");
        self.skipped.entry(id).or_insert_with(|| why.into());
    }

    /// Records a broken rule that is about no place in particular.
    pub(crate) fn found(&mut self, id: &'static str, message: impl Into<String>) {
        self.found_at(id, None, message);
    }

    /// Records a broken rule at a URI, tool or prompt.
    pub(crate) fn found_at(
        &mut self,
        id: &'static str,
        place: Option<&str>,
        message: impl Into<String>,
    ) {
        let Some(rule) = find_rule(id) else {
            debug_assert!(false, "{id} is in no table");
            return;
        };
        let place = place.map(plain);
        let revision = self.revision;
        let mut same = self.findings.iter_mut().filter(|known| known.rule.id == id);
        if let Some(known) = same.find(|known| known.place == place) {
            if !known.revisions.contains(&revision) {
                known.revisions.push(revision);
            }
            return;
        }
        if self.findings.iter().filter(|known| known.rule.id == id).count() >= MAX_PLACES {
            let places = self.excess.entry(id).or_default();
            let place = place.unwrap_or_default();
            // Bounded, since a hostile server may break a rule at any number of places.
            if places.len() < 10_000 && !places.contains(&place) {
                places.push(place);
            }
            return;
        }
        let message = message.into();
        self.findings.push(DoctorFinding {
            rule,
            message,
            place,
            revisions: vec![revision],
            more: 0,
        });
    }

    /// Passes the rule or records it as broken.
    pub(crate) fn judge(
        &mut self,
        id: &'static str,
        is_kept: bool,
        message: impl FnOnce() -> String,
    ) {
        if is_kept {
            self.passed(id);
        } else {
            self.found(id, message());
        }
    }

    /// As `judge`, at a place.
    pub(crate) fn judge_at(
        &mut self,
        id: &'static str,
        place: &str,
        is_kept: bool,
        message: impl FnOnce() -> String,
    ) {
        if is_kept {
            self.passed(id);
        } else {
            self.found_at(id, Some(place), message());
        }
    }

    pub(crate) fn finish(mut self, target: String) -> DoctorReport {
        for (id, places) in &self.excess {
            let last = self.findings.iter_mut().rev().find(|finding| finding.rule.id == *id);
            if let Some(finding) = last {
                finding.more = places.len();
            }
        }
        let outcome = |id: &'static str| {
            if self.findings.iter().any(|finding| finding.rule.id == id) {
                return DoctorOutcome::Broken;
            }
            if self.passed.contains(&id) {
                return DoctorOutcome::Passed;
            }
            let why = self.skipped.get(id).cloned();
            DoctorOutcome::NotApplicable(
                why.unwrap_or_else(|| "there was nothing to check".to_owned()),
            )
        };
        let checks = all_rules().map(|rule| DoctorCheck { rule, outcome: outcome(rule.id) });
        let checks: Vec<DoctorCheck> = checks.collect();
        let place_of = |id: &str| all_rules().position(|rule| rule.id == id);
        let mut findings = self.findings;
        findings.sort_by_key(|finding| (finding.rule.severity, place_of(finding.rule.id)));
        DoctorReport { target, server: self.server, revisions: self.revisions, checks, findings }
    }
}
