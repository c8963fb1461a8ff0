//! Faults of pages: what is wrong in which page, for the state of the mount. Bounded.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use resource::{Context, HealthFact, HealthState, HealthStatus, Uri};

use super::options::VisibilityRule;

/// The most pages whose faults are kept.
const MAX_FAULTY_PAGES: usize = 200;
/// The pages that a message names.
const MAX_NAMED: usize = 5;

/// What found a fault: each keeps its own of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FaultFinder {
    Description,
    Navigation,
    Members,
}

/// The faults by page.
#[derive(Default)]
pub(super) struct PageFaults(Mutex<BTreeMap<(Uri, FaultFinder), String>>);

impl PageFaults {
    /// Sets what is wrong in a page; nothing, if the faults are empty.
    pub(super) fn set(&self, page: &Uri, finder: FaultFinder, faults: &[String]) {
        let mut pages = self.0.lock();
        let key = (page.clone(), finder);
        if faults.is_empty() {
            pages.remove(&key);
        } else if pages.len() < MAX_FAULTY_PAGES || pages.contains_key(&key) {
            pages.insert(key, faults.join("; "));
        }
    }

    /// Some of the pages that have faults.
    pub(super) fn some_pages(&self, most: usize) -> Vec<Uri> {
        self.0.lock().keys().take(most).map(|(page, _)| page.clone()).collect()
    }

    /// Forgets the faults of a page that is gone.
    pub(super) fn forget(&self, page: &Uri) {
        self.0.lock().retain(|(own, _), _| own != page);
    }

    /// Forgets what `finder` found.
    pub(super) fn clear(&self, finder: FaultFinder) {
        self.0.lock().retain(|(_, own), _| *own != finder);
    }

    /// Adds the faults that the principal may know of to the health of the files.
    pub(super) fn add_to(
        &self,
        mut health: HealthStatus,
        ctx: &Context,
        visibility: Option<&VisibilityRule>,
        public: impl Fn(&Uri) -> String,
    ) -> HealthStatus {
        let pages = self.0.lock();
        let is_seen = |uri: &Uri| visibility.is_none_or(|rule| rule(ctx.principal(), uri));
        let seen: Vec<_> = pages.iter().filter(|((uri, _), _)| is_seen(uri)).collect();
        if seen.is_empty() {
            return health;
        }
        let count = seen.len();
        let at_least = if count >= MAX_FAULTY_PAGES { "at least " } else { "" };
        let s = if count == 1 { "page has" } else { "pages have" };
        let named = seen
            .iter()
            .take(MAX_NAMED)
            .map(|((uri, _), fault)| format!("{}: {fault}", public(uri)));
        let named = named.collect::<Vec<_>>().join("; ");
        let message = format!("{at_least}{count} {s} errors: {named}");
        health.message = Some(match health.message {
            Some(own) => format!("{own}; {message}"),
            None => message,
        });
        if health.state == HealthState::Ready {
            health.state = HealthState::Degraded;
        }
        health.facts.push(("pageErrors", HealthFact::Count(count)));
        health
    }
}
