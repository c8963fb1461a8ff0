//! Command-line options of the benchmarks, and the measurement plans.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use clap::Parser;

/// Measures refdesk against a minimal rmcp server, in one run on this machine.
#[derive(Debug, Parser)]
#[command(name = "bench")]
pub struct Options {
    /// The refdesk program to measure; by default next to this program.
    #[arg(long, value_name = "PATH")]
    refdesk: Option<PathBuf>,
    /// An earlier refdesk program, whose small reads and lists are measured in the same run.
    #[arg(long, value_name = "PATH")]
    pub earlier: Option<PathBuf>,
    /// The server to compare with; by default next to this program.
    #[arg(long, value_name = "PATH")]
    peer: Option<PathBuf>,
    /// Worker threads of the peer; by default one per core.
    #[arg(long, value_name = "COUNT")]
    pub peer_threads: Option<usize>,
    /// Folder for test data, kept for the next run.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Print the tables as Markdown.
    #[arg(long)]
    pub markdown: bool,
    /// Smaller trees and shorter rounds, to check that the benchmarks work.
    #[arg(long)]
    pub quick: bool,
    /// Run the peer in place of refdesk: every ratio other than 1 is measurement noise.
    #[arg(long)]
    pub noise: bool,
    /// Only soak: run 200 honest clients beside hostile ones for this time (`10m`, `120s`).
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub soak: Option<Duration>,
    /// Run only the workloads whose name contains this.
    #[arg(long, value_name = "WORDS")]
    pub only: Option<String>,
}

/// Number and length of the rounds of a workload.
#[derive(Clone, Copy, Debug)]
pub struct MeasurePlan {
    /// Rounds of each contender, alternating with those of the others.
    pub rounds: usize,
    /// Maximum time of a round.
    pub round: Duration,
    /// Maximum requests of a round.
    pub requests: u64,
    /// Warm-up time of each contender before its first round.
    pub warm_up: Duration,
    /// Concurrent requests.
    pub at_once: usize,
}

/// Sizes of the notification benchmarks.
#[derive(Clone, Copy, Debug)]
pub struct NotificationPlan {
    /// Files in the served folder.
    pub files: usize,
    /// Changes made one at a time, each after the notification of the last.
    pub notices: usize,
    /// Idle listeners.
    pub listeners: usize,
    /// How long the idle listeners are measured.
    pub idle: Duration,
    /// Listeners that subscribe to every file.
    pub fan_out: usize,
    /// Changes that they receive.
    pub changes: usize,
    /// The time over which the changes are spread.
    pub duration: Duration,
}

/// A tree of folders, all holding the same number of files.
#[derive(Clone, Copy, Debug)]
pub struct TreeSize {
    /// Folders under the root.
    pub folders: usize,
    /// Files in each folder.
    pub files: usize,
}

impl TreeSize {
    /// The tree of the startup benchmark.
    pub const START: Self = Self { folders: 1_000, files: 100 };

    /// Files in the whole tree.
    #[must_use]
    pub const fn total(self) -> usize {
        self.folders * self.files
    }
}

impl Options {
    /// Path of the refdesk program.
    ///
    /// # Errors
    /// When the path of this program is unknown.
    pub fn refdesk(&self) -> anyhow::Result<PathBuf> {
        self.refdesk.clone().map_or_else(|| sibling_program("refdesk"), Ok)
    }

    /// Path of the server to compare with.
    ///
    /// # Errors
    /// When the path of this program is unknown.
    pub fn peer(&self) -> anyhow::Result<PathBuf> {
        self.peer.clone().map_or_else(|| sibling_program("bench-peer"), Ok)
    }

    /// The folder for test data.
    ///
    /// # Errors
    /// When the path of this program is unknown.
    pub fn scratch(&self) -> anyhow::Result<PathBuf> {
        self.scratch.clone().map_or_else(|| sibling_program("bench-scratch"), Ok)
    }

    /// The plan of the request benchmarks.
    #[must_use]
    pub fn plan(&self) -> MeasurePlan {
        let (rounds, round, warm_up) = if self.quick { (2, 200, 50) } else { (7, 1_000, 300) };
        MeasurePlan {
            rounds,
            round: Duration::from_millis(round),
            requests: 100_000,
            warm_up: Duration::from_millis(warm_up),
            at_once: 8,
        }
    }

    /// The plan of the notification benchmarks.
    #[must_use]
    pub const fn notification_plan(&self) -> NotificationPlan {
        let (of_all, idle) = if self.quick { (10, 3) } else { (1, 30) };
        NotificationPlan {
            files: 1_000 / of_all,
            notices: 1_000 / of_all,
            listeners: 1_000 / of_all,
            idle: Duration::from_secs(idle),
            fan_out: 100 / of_all,
            changes: 10_000 / of_all,
            duration: Duration::from_secs(1),
        }
    }

    /// The tree whose first and last pages are compared.
    #[must_use]
    pub const fn wide_tree(&self) -> TreeSize {
        if self.quick {
            TreeSize { folders: 50, files: 200 }
        } else {
            TreeSize { folders: 1_000, files: 1_000 }
        }
    }

    /// Whether a workload of this name is selected.
    #[must_use]
    pub fn wants(&self, work: &str) -> bool {
        self.only.as_deref().is_none_or(|words| work.contains(words))
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.len().saturating_sub(1));
    let seconds = match unit {
        "m" => 60,
        "s" => 1,
        _ => return Err("write 10m or 120s".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "write 10m or 120s".to_owned())?;
    Ok(Duration::from_secs(number * seconds))
}

fn sibling_program(name: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("find this program's own path")?;
    Ok(own.with_file_name(name))
}
