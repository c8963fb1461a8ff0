//! Debounce and throttle, per key.
//!
//! A key is due once it has been quiet for a while, or has waited for the longest delay, so that a
//! key that never rests is still reported. It is then not due again for the longest delay: a key
//! that changes ten times in a second is reported about twice.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::{Entry, HashMap};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// The delays of the debounce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebounceConfig {
    /// A burst is over after this time without a change.
    pub quiet: Duration,
    /// The longest delay of a change, and the shortest time between two reports of one key.
    pub max_delay: Duration,
}

impl Default for DebounceConfig {
    fn default() -> Self {
        Self { quiet: Duration::from_millis(50), max_delay: Duration::from_millis(500) }
    }
}

/// Keyed debouncer: the keys that changed and are not reported yet, each with a value.
pub(crate) struct Debouncer<K, V> {
    config: DebounceConfig,
    entries: HashMap<K, DebounceEntry<V>>,
    /// When to check each key. Its deadline may have moved later by then, never earlier.
    checks: BinaryHeap<Reverse<(Instant, K)>>,
}

struct DebounceEntry<V> {
    /// The changes that are not reported yet.
    burst: Option<Burst<V>>,
    /// The key is not reported before this time.
    not_before: Instant,
}

struct Burst<V> {
    first: Instant,
    last: Instant,
    value: V,
}

impl<K: Hash + Ord + Clone, V: Default> Debouncer<K, V> {
    pub(crate) fn new(config: DebounceConfig) -> Self {
        Self { config, entries: HashMap::new(), checks: BinaryHeap::new() }
    }

    /// Records a change of `key`; returns the value of its burst.
    pub(crate) fn record(&mut self, key: K, now: Instant) -> &mut V {
        let known = match self.entries.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                self.checks.push(Reverse((now + self.config.quiet, place.key().clone())));
                place.insert(DebounceEntry { burst: None, not_before: now })
            }
        };
        let fresh = || Burst { first: now, last: now, value: V::default() };
        let burst = known.burst.get_or_insert_with(fresh);
        burst.last = now;
        &mut burst.value
    }

    /// When to call [`take`](Self::take) next; `None` if no key is tracked.
    pub(crate) fn next_check(&self) -> Option<Instant> {
        self.checks.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes the next key whose burst is over.
    pub(crate) fn take(&mut self, now: Instant) -> Option<(K, V)> {
        while self.next_check().is_some_and(|at| at <= now) {
            let Reverse((_, key)) = self.checks.pop()?;
            let Entry::Occupied(mut known) = self.entries.entry(key) else { continue };
            let end = known.get().deadline(self.config);
            if end > now {
                self.checks.push(Reverse((end, known.key().clone())));
                continue;
            }
            let Some(burst) = known.get_mut().burst.take() else {
                known.remove();
                continue;
            };
            known.get_mut().not_before = now + self.config.max_delay;
            let key = known.key().clone();
            self.checks.push(Reverse((now + self.config.max_delay, key.clone())));
            return Some((key, burst.value));
        }
        None
    }
}

impl<V> DebounceEntry<V> {
    /// When to report the key, or to drop it if nothing changed.
    fn deadline(&self, debounce: DebounceConfig) -> Instant {
        let over =
            |burst: &Burst<V>| (burst.last + debounce.quiet).min(burst.first + debounce.max_delay);
        self.burst.as_ref().map_or(self.not_before, |burst| over(burst).max(self.not_before))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};
    use tokio::time::Instant;

    use super::{DebounceConfig, Debouncer};

    const CALM: DebounceConfig =
        DebounceConfig { quiet: Duration::from_millis(50), max_delay: Duration::from_millis(500) };

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_burst_is_told_once_when_it_is_over() {
        let (start, mut settle) = (Instant::now(), Debouncer::<_, ()>::new(CALM));
        for step in 0..10 {
            settle.record("a", start + ms(step * 20));
            assert_eq!(settle.take(start + ms(step * 20)), None);
        }
        assert_eq!(settle.take(start + ms(229)), None);
        assert_eq!(settle.take(start + ms(230)), Some(("a", ())));
        assert_eq!(
            (settle.take(start + ms(9000)), settle.next_check()),
            (None, None),
            "nothing is kept"
        );
    }

    #[test]
    fn what_never_rests_is_told_all_the_same() {
        let (start, mut settle) = (Instant::now(), Debouncer::<_, ()>::new(CALM));
        let told = (0..2000).filter(|step| {
            let now = start + ms(*step);
            settle.record("log", now);
            settle.take(now).is_some()
        });
        assert_eq!(told.count(), 3);
    }

    #[test]
    fn what_was_told_just_now_is_told_again_a_little_later() {
        let (start, mut settle) = (Instant::now(), Debouncer::<_, ()>::new(CALM));
        let mut told = Vec::new();
        for step in 0..2000 {
            if step % 100 == 0 && step < 1000 {
                settle.record("a", start + ms(step));
            }
            told.extend(settle.take(start + ms(step)).map(|_| step));
        }
        assert_eq!(told, [50, 550, 1050], "ten changes in a second, the last one told too");
    }

    #[test]
    fn a_quiet_thing_does_not_wait_for_a_busy_one() {
        let (start, mut settle) = (Instant::now(), Debouncer::<_, ()>::new(CALM));
        settle.record("quiet", start);
        for step in 0..=50 {
            settle.record("busy", start + ms(step));
        }
        assert_eq!(settle.take(start + ms(50)), Some(("quiet", ())));
        assert_eq!(settle.take(start + ms(50)), None);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_waits_too_long(
            steps in prop::collection::vec((0_u64..90, 0_u8..5), 1..200),
        ) {
            let start = Instant::now();
            let mut now = start;
            let mut settle = Debouncer::<u8, ()>::new(CALM);
            let mut waiting = std::collections::BTreeMap::new();
            for (pause, key) in steps {
                let next = now + ms(pause);
                while let Some(due) = settle.next_check().filter(|due| *due <= next) {
                    while let Some((key, ())) = settle.take(due) {
                        let first = waiting.remove(&key);
                        prop_assert!(first.is_some_and(|first| due - first <= CALM.max_delay));
                    }
                }
                now = next;
                settle.record(key, now);
                waiting.entry(key).or_insert(now);
            }
            while let Some(due) = settle.next_check() {
                while let Some((key, ())) = settle.take(due) {
                    waiting.remove(&key);
                }
            }
            prop_assert_eq!(waiting.len(), 0);
        }
    }
}
