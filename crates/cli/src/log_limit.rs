//! Rate limit of the log, per call site, so that no client can flood it.
//!
//! Debug, trace and request lines are not limited: who turns them on wants them all.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

use crate::request_log;

/// Lines that one call site may log at once.
const BURST: u32 = 20;

/// After a burst, a call site may log one line in this time.
const INTERVAL: Duration = Duration::from_secs(1);

/// Line format that leaves out lines over the limit, and tells how many when the next one is
/// written.
pub(crate) struct LimitedFormat<F> {
    format: F,
    clock: fn() -> Instant,
    call_sites: Mutex<HashMap<Identifier, LineBudget>>,
}

/// The lines that one call site may still log.
struct LineBudget {
    remaining: u32,
    refilled_at: Instant,
    left_out: u64,
}

impl<F> LimitedFormat<F> {
    /// Limits the lines of `format` by the time that `clock` tells.
    pub(crate) fn new(format: F, clock: fn() -> Instant) -> Self {
        Self { format, clock, call_sites: Mutex::default() }
    }

    /// Returns how many lines of `site` were left out before this one; `None` to leave it out too.
    fn admit(&self, site: Identifier) -> Option<u64> {
        let now = (self.clock)();
        let mut sites = self.call_sites.lock();
        let fresh = || LineBudget { remaining: BURST, refilled_at: now, left_out: 0 };
        sites.entry(site).or_insert_with(fresh).take(now)
    }
}

impl LineBudget {
    fn take(&mut self, now: Instant) -> Option<u64> {
        let elapsed = now.saturating_duration_since(self.refilled_at);
        let refill = elapsed.as_millis() / INTERVAL.as_millis();
        if refill > 0 {
            let refill = u32::try_from(refill).unwrap_or(u32::MAX);
            self.remaining = self.remaining.saturating_add(refill).min(BURST);
            self.refilled_at = now;
        }
        match self.remaining.checked_sub(1) {
            Some(remaining) => {
                self.remaining = remaining;
                Some(std::mem::take(&mut self.left_out))
            }
            None => {
                self.left_out += 1;
                None
            }
        }
    }
}

impl<S, N, F> FormatEvent<S, N> for LimitedFormat<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        if *metadata.level() > Level::INFO || metadata.target() == request_log::TARGET {
            return self.format.format_event(context, writer, event);
        }
        let Some(left_out) = self.admit(metadata.callsite()) else { return Ok(()) };
        self.format.format_event(context, writer.by_ref(), event)?;
        if left_out > 0 {
            writeln!(writer, "  ({left_out} lines like the one above were left out before it)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::sync::{Arc, LazyLock, Mutex};
    use std::time::{Duration, Instant};

    use tracing_subscriber::fmt::format::Format;

    use super::LimitedFormat;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    thread_local! {
        /// The time of the test's clock, in milliseconds.
        static TIME: Cell<u64> = const { Cell::new(0) };
    }

    fn clock() -> Instant {
        *START + Duration::from_millis(TIME.get())
    }

    /// A log in memory.
    #[derive(Clone, Default)]
    struct MemoryLog(Arc<Mutex<Vec<u8>>>);

    impl MemoryLog {
        fn take_lines(&self) -> Vec<String> {
            let text = std::mem::take(&mut *self.0.lock().unwrap());
            String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
        }
    }

    impl io::Write for MemoryLog {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log_request_failure(number: u32) {
        tracing::warn!(number, "request failed");
    }

    #[test]
    fn a_flood_from_one_call_site_is_cut_and_counted() {
        let log = MemoryLog::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .event_format(LimitedFormat::new(Format::default().with_ansi(false), clock))
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            (0..6_000).for_each(log_request_failure);
            assert_eq!(log.take_lines().len(), 20);
            tracing::error!("another kind of line");
            assert_eq!(log.take_lines().len(), 1);
            (0..100).for_each(|_| tracing::debug!("turned on by the operator"));
            assert_eq!(log.take_lines().len(), 100);
            TIME.set(1_000);
            (0..50).for_each(log_request_failure);
            let lines = log.take_lines();
            assert_eq!(lines.len(), 2, "{lines:?}");
            assert!(lines[0].contains("request failed") && lines[1].contains("(5980 lines"));
            TIME.set(1_000_000);
            (0..50).for_each(log_request_failure);
            let lines = log.take_lines();
            assert_eq!(lines.len(), 21, "{lines:?}");
            assert!(lines[1].contains("(49 lines"), "{lines:?}");
        });
    }
}
