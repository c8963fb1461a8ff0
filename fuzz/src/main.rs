//! Runs fuzz targets: `cargo run --package fuzz -- frame --seed 7 --count 1000000`.

use std::io::Write;
use std::time::Instant;

use anyhow::Context;
use clap::Parser;
use fuzz::TARGETS;
use testkit::fuzz::{TEST_COUNT, TEST_SEED, generate, peak_resident_bytes};

/// How much the resident memory may grow. All that a target allocates is freed after each input, so
/// that only the fragments between are left.
const MAX_GROWTH_BYTES: u64 = 8 << 20;

/// Runs fuzz targets for a fixed number of inputs, and prints the time and the peak memory.
#[derive(Parser)]
struct Options {
    /// The targets to run; without one, the names of all targets are printed.
    targets: Vec<String>,
    /// The seed of the inputs.
    #[arg(long, default_value_t = TEST_SEED)]
    seed: u64,
    /// The number of inputs.
    #[arg(long, default_value_t = TEST_COUNT)]
    count: u64,
    /// The number of the first input.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Prints the inputs and runs none.
    #[arg(long)]
    show: bool,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let mut out = std::io::stdout();
    if options.targets.is_empty() {
        TARGETS.iter().try_for_each(|target| writeln!(out, "{}", target.name))?;
    }
    let numbers = options.first..options.first.saturating_add(options.count);
    for name in &options.targets {
        let target = TARGETS.iter().find(|target| target.name == name);
        let target = target.with_context(|| format!("there is no target {name}"))?;
        if options.show {
            for number in numbers.clone() {
                let input = generate(target.examples, options.seed, number);
                writeln!(out, "{number}: \"{}\"", input.escape_ascii())?;
            }
            continue;
        }
        let begun = Instant::now();
        let outcome = target.run(options.seed, numbers.clone(), MAX_GROWTH_BYTES);
        outcome.map_err(|failure| anyhow::anyhow!("{failure}"))?;
        let (count, seconds) = (options.count, begun.elapsed().as_secs_f64());
        let peak = peak_resident_bytes() >> 20;
        writeln!(out, "{name}: {count} inputs in {seconds:.1} s, at most {peak} MiB resident")?;
    }
    Ok(())
}
