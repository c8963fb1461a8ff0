//! Rate limit of the log, per call site, so that no client can flood it.
//!
//! Debug, trace and request lines are not limited: who turns them on wants them all.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use resource::one_line_up_to;
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

use crate::request_log;

/// Lines that one call site may log at once.
const BURST: u32 = 20;

/// After a burst, a call site may log one line in this time.
const INTERVAL: Duration = Duration::from_secs(1);

/// A flood has ended when its call site has logged no line for this time, though it could have.
const END_OF_FLOOD: Duration = Duration::from_secs(2);

/// How much of a line the count of those like it repeats.
const MAX_EXAMPLE_CHARS: usize = 120;

/// The target of lines that tell how many were left out. There is at most one in two seconds for
/// each call site, so they are not limited.
const COUNT_TARGET: &str = "refdesk::left_out";

/// Line format that leaves out lines over the limit. It tells how many when the next one is written,
/// or when the flood has ended.
pub(crate) struct LimitedFormat<F> {
    format: F,
    limits: Arc<LineLimits>,
    start_timer: fn(&Arc<LineLimits>),
}

/// The limits of all call sites.
pub(crate) struct LineLimits {
    clock: fn() -> Instant,
    state: Mutex<LimitState>,
}

#[derive(Default)]
struct LimitState {
    call_sites: HashMap<Identifier, LineBudget>,
    /// Whether a timer looks for floods that have ended.
    has_timer: bool,
}

/// The lines that one call site may still log.
struct LineBudget {
    remaining: u32,
    refilled_at: Instant,
    left_out: u64,
    /// The message of the last line that was written.
    example: String,
}

/// Lines that were left out of a flood that has ended.
struct EndedFlood {
    level: Level,
    left_out: u64,
    example: String,
}

impl<F> LimitedFormat<F> {
    /// Limits the lines of `format` by the time that `clock` tells. `start_timer` is called when
    /// lines begin to be left out; see [`count_in_background`].
    pub(crate) fn new(
        format: F,
        clock: fn() -> Instant,
        start_timer: fn(&Arc<LineLimits>),
    ) -> Self {
        let limits = Arc::new(LineLimits { clock, state: Mutex::default() });
        Self { format, limits, start_timer }
    }

    /// Returns how many lines of the call site of `event` were left out before this one; `None` to
    /// leave it out too.
    fn admit(&self, event: &Event<'_>) -> Option<u64> {
        let site = event.metadata().callsite();
        let now = (self.limits.clock)();
        let mut state = self.limits.state.lock();
        let LimitState { call_sites, has_timer } = &mut *state;
        let budget = call_sites.entry(site).or_insert_with(|| LineBudget {
            remaining: BURST,
            refilled_at: now,
            left_out: 0,
            example: String::new(),
        });
        let left_out = budget.take(now);
        if left_out.is_some() {
            budget.example = message_of(event);
        } else if !std::mem::replace(has_timer, true) {
            drop(state);
            (self.start_timer)(&self.limits);
        }
        left_out
    }
}

/// Counts floods that end, on one thread that ends with the last of them.
pub(crate) fn count_in_background(limits: &Arc<LineLimits>) {
    let timed = Arc::clone(limits);
    let timer = thread::Builder::new().name("log-limit".to_owned()).spawn(move || {
        loop {
            thread::park_timeout(INTERVAL);
            if !timed.log_ended_floods() {
                return;
            }
        }
    });
    if timer.is_err() {
        // The next line of the same kind tells the count, or starts a timer again.
        limits.state.lock().has_timer = false;
    }
}

impl LineLimits {
    /// Logs how many lines were left out of floods that have ended. False if no line is left out of
    /// any other; the timer is over then.
    fn log_ended_floods(&self) -> bool {
        let now = (self.clock)();
        let mut state = self.state.lock();
        let sites = state.call_sites.iter_mut();
        let ended: Vec<_> = sites.filter_map(|(site, budget)| budget.end(site, now)).collect();
        let goes_on = state.call_sites.values().any(|budget| budget.left_out > 0);
        state.has_timer = goes_on;
        drop(state);
        for EndedFlood { level, left_out, example } in ended {
            // The level of the lines: a filter that shows them shows the count.
            match level {
                Level::ERROR => {
                    tracing::error!(target: COUNT_TARGET, "{left_out} more lines like: {example}");
                }
                Level::WARN => {
                    tracing::warn!(target: COUNT_TARGET, "{left_out} more lines like: {example}");
                }
                _ => tracing::info!(target: COUNT_TARGET, "{left_out} more lines like: {example}"),
            }
        }
        goes_on
    }
}

/// The message of `event`, or the name of its call site.
fn message_of(event: &Event<'_>) -> String {
    struct MessageVisitor(Option<String>);
    impl Visit for MessageVisitor {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            if field.name() == "message" {
                self.0 = Some(format!("{value:?}"));
            }
        }
    }
    let mut message = MessageVisitor(None);
    event.record(&mut message);
    let message = message.0.unwrap_or_else(|| event.metadata().name().to_owned());
    one_line_up_to(&message, MAX_EXAMPLE_CHARS)
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

    /// The lines that were left out, if the flood has ended. They are told once.
    fn end(&mut self, site: &Identifier, now: Instant) -> Option<EndedFlood> {
        let is_over = now.saturating_duration_since(self.refilled_at) >= END_OF_FLOOD;
        if self.left_out == 0 || !is_over {
            return None;
        }
        let left_out = std::mem::take(&mut self.left_out);
        let level = *site.0.metadata().level();
        Some(EndedFlood { level, left_out, example: self.example.clone() })
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
        let is_unlimited = [request_log::TARGET, COUNT_TARGET].contains(&metadata.target());
        if is_unlimited || *metadata.level() > Level::INFO {
            return self.format.format_event(context, writer, event);
        }
        let Some(left_out) = self.admit(event) else { return Ok(()) };
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

    use super::{LimitedFormat, LineLimits};

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    thread_local! {
        /// The time of the test's clock, in milliseconds.
        static TIME: Cell<u64> = const { Cell::new(0) };
        /// The limits for which a timer was started.
        static TIMERS: Cell<Option<Arc<LineLimits>>> = const { Cell::new(None) };
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

    fn subscriber(log: &MemoryLog) -> impl tracing::Subscriber + use<> {
        let writer = log.clone();
        let format = Format::default().with_ansi(false);
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .event_format(LimitedFormat::new(format, clock, |limits| {
                TIMERS.set(Some(Arc::clone(limits)));
            }))
            .with_writer(move || writer.clone())
            .finish()
    }

    #[test]
    fn a_flood_that_ends_is_counted_without_another_line() {
        let log = MemoryLog::default();
        tracing::subscriber::with_default(subscriber(&log), || {
            (0..1_000).for_each(log_request_failure);
            assert_eq!(log.take_lines().len(), 20);
            let timer = TIMERS.take().expect("lines are left out");
            TIME.set(1_000);
            assert!(timer.log_ended_floods(), "it may go on");
            (0..10).for_each(log_request_failure);
            let lines = log.take_lines();
            assert!(lines.len() == 2 && lines[1].contains("(980 lines"), "{lines:?}");
            assert!(TIMERS.take().is_none(), "one timer is enough");
            TIME.set(2_000);
            assert!(timer.log_ended_floods() && log.take_lines().is_empty());
            TIME.set(3_000);
            assert!(!timer.log_ended_floods(), "nothing is left to count");
            let lines = log.take_lines();
            assert!(lines.len() == 1 && lines[0].contains("WARN"), "{lines:?}");
            assert!(lines[0].contains("9 more lines like: request failed"), "{lines:?}");
            (0..50).for_each(log_request_failure);
            let lines = log.take_lines();
            assert!(!lines.iter().any(|line| line.contains("left out")), "told once: {lines:?}");
            assert!(TIMERS.take().is_some(), "the next flood has a timer again");
        });
    }

    #[test]
    fn a_flood_from_one_call_site_is_cut_and_counted() {
        let log = MemoryLog::default();
        tracing::subscriber::with_default(subscriber(&log), || {
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
