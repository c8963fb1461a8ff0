//! Rest after a costly scan, so that scans take a small part of the time.

use std::time::Instant;

/// After a scan, this many times its time passes before the next one.
const REST_FACTOR: u32 = 9;

/// When the next scan may begin.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ScanRest(Option<Instant>);

impl ScanRest {
    /// Scans, and rests from then on.
    pub(crate) fn after<T>(&mut self, scan: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let scanned = scan();
        self.0 = Some(Instant::now() + began.elapsed() * REST_FACTOR);
        scanned
    }

    /// True until the rest is over.
    pub(crate) fn is_resting(&self) -> bool {
        self.0.is_some_and(|until| Instant::now() < until)
    }
}
