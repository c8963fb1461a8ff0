//! Measures several servers in alternating rounds, so that machine noise affects all alike.

use std::time::Duration;

use crate::{
    load_client::{LoadClient, RoundLimit, RoundResult},
    options::MeasurePlan,
    process_usage,
};

/// A server under test with its client.
pub(crate) struct Contender {
    pub(crate) pid: u32,
    pub(crate) client: LoadClient,
}

/// The measurements of one contender.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Requests per second, median of the rounds.
    pub rate: f64,
    /// Median latency.
    pub p50: Duration,
    /// 99th percentile latency.
    pub p99: Duration,
    /// CPU time of the server per request, median of the rounds.
    pub cpu: Duration,
    /// The server's peak memory in bytes.
    pub peak: u64,
    /// The part of it that is no page of a file: pages of the program are the kernel's to take back.
    pub own_peak: u64,
}

/// Warms up all contenders, then measures them in turns.
pub(crate) async fn measure(
    contenders: &mut [Contender],
    plan: MeasurePlan,
) -> anyhow::Result<Vec<Figures>> {
    let warm_up = RoundLimit { time: plan.warm_up, requests: plan.requests };
    let bound = RoundLimit { time: plan.round, requests: plan.requests };
    for contender in contenders.iter_mut() {
        contender.client.round(warm_up).await?;
    }
    let mut tallies: Vec<Tally> = contenders.iter().map(|_| Tally::default()).collect();
    for _ in 0..plan.rounds {
        for (contender, tally) in contenders.iter_mut().zip(&mut tallies) {
            let before = process_usage::cpu(contender.pid)?;
            let round = contender.client.round(bound).await?;
            tally.add(round, process_usage::cpu(contender.pid)?.saturating_sub(before));
        }
    }
    let figures = contenders.iter().zip(tallies);
    figures.map(|(contender, tally)| tally.figures(contender.pid)).collect()
}

#[derive(Default)]
struct Tally {
    rates: Vec<f64>,
    cpus: Vec<f64>,
    latencies: Vec<Duration>,
}

impl Tally {
    fn add(&mut self, round: RoundResult, cpu: Duration) {
        let requests = round.requests.max(1);
        self.rates.push(ratio(requests, 1) / round.elapsed.as_secs_f64());
        self.cpus.push(cpu.as_secs_f64() / ratio(requests, 1));
        self.latencies.extend(round.latencies);
    }

    fn figures(mut self, pid: u32) -> anyhow::Result<Figures> {
        self.latencies.sort_unstable();
        let peak = process_usage::peak_memory(pid)?;
        Ok(Figures {
            rate: median(&mut self.rates),
            p50: percentile(&self.latencies, 50),
            p99: percentile(&self.latencies, 99),
            cpu: Duration::from_secs_f64(median(&mut self.cpus)),
            peak,
            own_peak: peak.saturating_sub(process_usage::file_memory(pid)?),
        })
    }
}

/// The quotient of two counts.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts here stay far below 2^52")]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// The median; for an even number of values, the mean of the two middle ones.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values {
        [] => 0.0,
        _ if values.len().is_multiple_of(2) => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

/// The percentile of sorted values, by nearest rank.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{median, percentile};

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(&mut [3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(&mut [4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median(&mut []).abs() < f64::EPSILON);
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(percentile(&values, 50), Duration::from_millis(100));
        assert_eq!(percentile(&values, 99), Duration::from_millis(198));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}
