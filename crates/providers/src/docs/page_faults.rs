//! Faults of pages: what is wrong in which page, for the state of the mount. Bounded.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use resource::{HealthFact, HealthState, HealthStatus, Uri};

/// The most pages whose faults are kept.
pub(super) const MAX_FAULTY_PAGES: usize = 200;
/// The pages that a message names.
const MAX_NAMED: usize = 5;

/// What found a fault: each keeps its own of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FaultFinder {
    Description,
    Members,
}

/// What is wrong in a page.
#[derive(Debug, Clone)]
pub(super) struct PageFault {
    pub(super) text: String,
    /// Another page that the text names.
    pub(super) named: Option<Uri>,
}

/// The faults by page.
#[derive(Default)]
pub(super) struct PageFaults(Mutex<BTreeMap<(Uri, FaultFinder), Vec<PageFault>>>);

impl From<String> for PageFault {
    fn from(text: String) -> Self {
        Self { text, named: None }
    }
}

impl PageFaults {
    /// Sets what is wrong in a page, as somebody found it who sees these pages; nothing, if the faults
    /// are empty. Known faults that name other pages stay.
    pub(super) fn set(
        &self,
        page: &Uri,
        finder: FaultFinder,
        mut faults: Vec<PageFault>,
        is_seen: impl Fn(&Uri) -> bool,
    ) {
        let mut pages = self.0.lock();
        let key = (page.clone(), finder);
        let is_unseen =
            |fault: &PageFault| fault.named.as_ref().is_some_and(|named| !is_seen(named));
        if let Some(known) = pages.remove(&key) {
            faults.extend(known.into_iter().filter(is_unseen));
        }
        if !faults.is_empty() && pages.len() < MAX_FAULTY_PAGES {
            pages.insert(key, faults);
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

    /// The faults of the pages that are seen, without those that name a page that is not.
    pub(super) fn seen(&self, is_seen: impl Fn(&Uri) -> bool) -> Vec<(Uri, String)> {
        let pages = self.0.lock();
        let mut found = Vec::new();
        for ((page, _), faults) in pages.iter().filter(|((page, _), _)| is_seen(page)) {
            let shown = faults.iter().filter(|fault| fault.named.as_ref().is_none_or(&is_seen));
            let texts: Vec<&str> = shown.map(|fault| fault.text.as_str()).collect();
            found.extend((!texts.is_empty()).then(|| (page.clone(), texts.join("; "))));
        }
        found
    }
}

/// Adds faults of pages to the health of the files.
pub(super) fn add_faults(
    mut health: HealthStatus,
    seen: &[(Uri, String)],
    public: impl Fn(&Uri) -> String,
) -> HealthStatus {
    if seen.is_empty() {
        return health;
    }
    let count = seen.len();
    let at_least = if count >= MAX_FAULTY_PAGES { "at least " } else { "" };
    let s = if count == 1 { "page has" } else { "pages have" };
    let named = seen.iter().take(MAX_NAMED).map(|(uri, fault)| format!("{}: {fault}", public(uri)));
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
