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
pub struct Calm {
    /// A burst is over after this time without a change.
    pub quiet: Duration,
    /// The longest delay of a change, and the shortest time between two reports of one key.
    pub most: Duration,
}

impl Default for Calm {
    fn default() -> Self {
        Self { quiet: Duration::from_millis(50), most: Duration::from_millis(500) }
    }
}

/// Keyed debouncer: the keys that changed and are not reported yet, each with a value.
pub(crate) struct Settle<K, V> {
    calm: Calm,
    known: HashMap<K, Known<V>>,
    /// When to check each key. Its deadline may have moved later by then, never earlier.
    looks: BinaryHeap<Reverse<(Instant, K)>>,
}

struct Known<V> {
    /// The changes that are not reported yet.
    burst: Option<Burst<V>>,
    /// The key is not reported before this time.
    rests: Instant,
}

struct Burst<V> {
    first: Instant,
    last: Instant,
    kept: V,
}

impl<K: Hash + Ord + Clone, V: Default> Settle<K, V> {
    pub(crate) fn new(calm: Calm) -> Self {
        Self { calm, known: HashMap::new(), looks: BinaryHeap::new() }
    }

    /// Records a change of `key`; returns the value of its burst.
    pub(crate) fn note(&mut self, key: K, now: Instant) -> &mut V {
        let known = match self.known.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                self.looks.push(Reverse((now + self.calm.quiet, place.key().clone())));
                place.insert(Known { burst: None, rests: now })
            }
        };
        let fresh = || Burst { first: now, last: now, kept: V::default() };
        let burst = known.burst.get_or_insert_with(fresh);
        burst.last = now;
        &mut burst.kept
    }

    /// When to call [`take`](Self::take) next; `None` if no key is tracked.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.looks.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes the next key whose burst is over.
    pub(crate) fn take(&mut self, now: Instant) -> Option<(K, V)> {
        while self.due().is_some_and(|at| at <= now) {
            let Reverse((_, key)) = self.looks.pop()?;
            let Entry::Occupied(mut known) = self.known.entry(key) else { continue };
            let end = known.get().end(self.calm);
            if end > now {
                self.looks.push(Reverse((end, known.key().clone())));
                continue;
            }
            let Some(burst) = known.get_mut().burst.take() else {
                known.remove();
                continue;
            };
            known.get_mut().rests = now + self.calm.most;
            let key = known.key().clone();
            self.looks.push(Reverse((now + self.calm.most, key.clone())));
            return Some((key, burst.kept));
        }
        None
    }
}

impl<V> Known<V> {
    /// When to report the key, or to drop it if nothing changed.
    fn end(&self, calm: Calm) -> Instant {
        let over = |burst: &Burst<V>| (burst.last + calm.quiet).min(burst.first + calm.most);
        self.burst.as_ref().map_or(self.rests, |burst| over(burst).max(self.rests))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};
    use tokio::time::Instant;

    use super::{Calm, Settle};

    const CALM: Calm = Calm { quiet: Duration::from_millis(50), most: Duration::from_millis(500) };

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_burst_is_told_once_when_it_is_over() {
        let (start, mut settle) = (Instant::now(), Settle::<_, ()>::new(CALM));
        for step in 0..10 {
            settle.note("a", start + ms(step * 20));
            assert_eq!(settle.take(start + ms(step * 20)), None);
        }
        assert_eq!(settle.take(start + ms(229)), None);
        assert_eq!(settle.take(start + ms(230)), Some(("a", ())));
        assert_eq!((settle.take(start + ms(9000)), settle.due()), (None, None), "nothing is kept");
    }

    #[test]
    fn what_never_rests_is_told_all_the_same() {
        let (start, mut settle) = (Instant::now(), Settle::<_, ()>::new(CALM));
        let told = (0..2000).filter(|step| {
            let now = start + ms(*step);
            settle.note("log", now);
            settle.take(now).is_some()
        });
        assert_eq!(told.count(), 3);
    }

    #[test]
    fn what_was_told_just_now_is_told_again_a_little_later() {
        let (start, mut settle) = (Instant::now(), Settle::<_, ()>::new(CALM));
        let mut told = Vec::new();
        for step in 0..2000 {
            if step % 100 == 0 && step < 1000 {
                settle.note("a", start + ms(step));
            }
            told.extend(settle.take(start + ms(step)).map(|_| step));
        }
        assert_eq!(told, [50, 550, 1050], "ten changes in a second, the last one told too");
    }

    #[test]
    fn a_quiet_thing_does_not_wait_for_a_busy_one() {
        let (start, mut settle) = (Instant::now(), Settle::<_, ()>::new(CALM));
        settle.note("quiet", start);
        for step in 0..=50 {
            settle.note("busy", start + ms(step));
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
            let mut settle = Settle::<u8, ()>::new(CALM);
            let mut waiting = std::collections::BTreeMap::new();
            for (pause, key) in steps {
                let next = now + ms(pause);
                while let Some(due) = settle.due().filter(|due| *due <= next) {
                    while let Some((key, ())) = settle.take(due) {
                        let first = waiting.remove(&key);
                        prop_assert!(first.is_some_and(|first| due - first <= CALM.most));
                    }
                }
                now = next;
                settle.note(key, now);
                waiting.entry(key).or_insert(now);
            }
            while let Some(due) = settle.due() {
                while let Some((key, ())) = settle.take(due) {
                    waiting.remove(&key);
                }
            }
            prop_assert_eq!(waiting.len(), 0);
        }
    }
}
