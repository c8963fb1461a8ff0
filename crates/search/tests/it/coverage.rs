//! What the index tells of how far it is.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use resource::{ProgressSink, ProgressStep, Provider, Uri};
use search::{IndexedMount, SearchMode, SearchQuery, SearchService};
use subscriptions::DebounceConfig;
use testkit::memory::{Fault, FaultPoint};
use testkit::{MemoryProvider, local_context};

use crate::open_index;

const PAGES: u64 = 600;

/// A source of several pages of a list.
fn provider() -> MemoryProvider {
    let mut provider = MemoryProvider::new();
    for number in 0..PAGES {
        provider = provider.text(&format!("a:/{number}"), "alpha words");
    }
    provider
}

/// Keeps the progress reports of a request.
#[derive(Default)]
struct ReportedSteps(Mutex<Vec<ProgressStep>>);

impl ProgressSink for ReportedSteps {
    fn report(&self, step: ProgressStep) {
        self.0.lock().unwrap().push(step);
    }
}

#[tokio::test]
async fn before_the_end_of_the_walk_no_share_is_told() {
    let provider = Arc::new(provider());
    let last = FaultPoint::Read(Uri::parse("a:/0").unwrap());
    provider.inject_fault(last, Fault::Hangs);
    let index = open_index(None);
    let shared = Arc::clone(&provider) as Arc<dyn Provider>;
    let mount =
        IndexedMount { name: "m".to_owned(), provider: Arc::clone(&shared), roots: Vec::new() };
    let debounce = DebounceConfig { quiet: Duration::ZERO, max_delay: Duration::ZERO };
    let keeper = index.keep(mount, debounce);
    let mut progress = index.progress();
    let covered = || index.mount_coverage("m").unwrap();
    // Everything but the one that hangs, and those that are read beside it.
    while covered().indexed < Some(PAGES - 8) {
        progress.changed().await.unwrap();
    }
    assert_eq!((covered().total, covered().is_complete), (None, false));
    let service = SearchService::new(index.clone(), shared);
    let query = SearchQuery {
        text: "alpha".to_owned(),
        filter: None,
        mode: SearchMode::Words,
        skip: 0,
        limit: 1,
    };
    let steps = Arc::new(ReportedSteps::default());
    let ctx = local_context().with_progress(Arc::clone(&steps) as Arc<dyn ProgressSink>);
    let coverage = service.search(&ctx, &query).await.unwrap().coverage;
    let words = coverage.missing_words().unwrap();
    assert!(words.starts_with("m: 59") && words.ends_with("so far, still counting"), "{words}");
    let steps = std::mem::take(&mut *steps.0.lock().unwrap());
    assert!(!steps.is_empty() && steps.iter().all(|step| step.total.is_none()), "{steps:?}");
    drop(keeper);
}
