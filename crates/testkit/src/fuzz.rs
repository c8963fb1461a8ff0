//! Fuzzing without a fuzzer: functions that are run on many generated inputs.
//!
//! A target takes bytes and panics if the code under test does something wrong. Each input depends
//! on the seed and its number only, so that any one of them can be made again.

mod input;

use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use input::{MAX_INPUT_BYTES, Random, generate};

/// How many inputs a test runs, unless the environment variable `FUZZ_COUNT` says otherwise.
pub const TEST_COUNT: u64 = 20_000;

/// The seed of the tests.
pub const TEST_SEED: u64 = 1;

/// How much the resident memory of a test's process may grow. Other tests of the process have
/// their part in it.
const MAX_TEST_GROWTH_BYTES: u64 = 64 << 20;

/// A function under test, and valid examples of its input.
#[derive(Debug, Clone, Copy)]
pub struct FuzzTarget {
    /// Its name.
    pub name: &'static str,
    /// Valid inputs, which are mutated.
    pub examples: &'static [&'static [u8]],
    /// Panics if the code under test is wrong about an input.
    pub check: fn(&[u8]),
}

/// An input on which a target panicked.
#[derive(Debug)]
pub struct FuzzFailure {
    target: &'static str,
    seed: u64,
    number: u64,
    why: String,
}

impl FuzzTarget {
    /// Runs the inputs with the numbers in `numbers`. Fails if the resident memory grows by more
    /// than `max_growth` bytes from the end of their first quarter on.
    pub fn run(&self, seed: u64, numbers: Range<u64>, max_growth: u64) -> Result<(), FuzzFailure> {
        let warm = numbers.start + (numbers.end - numbers.start) / 4;
        let mut resident = 0;
        for number in numbers.clone() {
            if number == warm {
                resident = resident_bytes();
            }
            let input = generate(self.examples, seed, number);
            // What a target shares between inputs are caches, which stay whole.
            if catch_unwind(AssertUnwindSafe(|| (self.check)(&input))).is_err() {
                let why = format!("panicked on \"{}\"", input.escape_ascii());
                return Err(self.failure(seed, number, why));
            }
        }
        let growth = resident_bytes().saturating_sub(resident);
        if growth > max_growth {
            let why = format!("the inputs up to here left {growth} bytes of memory behind");
            return Err(self.failure(seed, numbers.end.saturating_sub(1), why));
        }
        Ok(())
    }

    /// Runs the target as a test. Panics with the failure.
    pub fn test(&self) {
        let count = std::env::var("FUZZ_COUNT").ok().and_then(|count| count.parse().ok());
        let numbers = 0..count.unwrap_or(TEST_COUNT);
        if let Err(failure) = self.run(TEST_SEED, numbers, MAX_TEST_GROWTH_BYTES) {
            panic!("{failure}");
        }
    }

    fn failure(&self, seed: u64, number: u64, why: String) -> FuzzFailure {
        FuzzFailure { target: self.name, seed, number, why }
    }
}

impl fmt::Display for FuzzFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, seed, number, why } = self;
        write!(f, "target {target}, seed {seed}, input {number}: {why}")
    }
}

/// The resident memory of this process; zero where the system does not tell.
pub fn resident_bytes() -> u64 {
    status_bytes("VmRSS:")
}

/// The most resident memory that this process has had; zero where the system does not tell.
pub fn peak_resident_bytes() -> u64 {
    status_bytes("VmHWM:")
}

fn status_bytes(member: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(member));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.unwrap_or_default() << 10
}

#[cfg(test)]
mod tests {
    use super::{FuzzTarget, MAX_TEST_GROWTH_BYTES, generate};

    const EXAMPLES: &[&[u8]] = &[b"one example", b"another"];

    #[test]
    fn a_failure_names_the_input_so_that_it_can_be_made_again() {
        let target =
            FuzzTarget { name: "odd", examples: EXAMPLES, check: |input| assert!(input.len() < 9) };
        let failure = target.run(7, 0..1000, u64::MAX).unwrap_err();
        let input = generate(EXAMPLES, 7, failure.number);
        assert!(input.len() >= 9);
        let told = failure.to_string();
        assert!(told.starts_with("target odd, seed 7, input "), "{told}");
        assert!(told.contains(&input.escape_ascii().to_string()), "{told}");
        assert!(target.run(7, failure.number..failure.number + 1, u64::MAX).is_err());
    }

    #[test]
    fn memory_that_is_left_behind_is_noticed() {
        let leaks = |input: &[u8]| {
            std::mem::forget(vec![1_u8; (1 << 20) + input.len()]);
        };
        let target = FuzzTarget { name: "leak", examples: EXAMPLES, check: leaks };
        let failure = target.run(7, 0..100, MAX_TEST_GROWTH_BYTES).unwrap_err();
        assert!(failure.to_string().contains("left"), "{failure}");
    }
}
