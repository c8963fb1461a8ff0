//! What may a person ask of the bench?

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use clap::Parser;

/// Measures refdesk beside a minimal rmcp server, in one run on this machine.
#[derive(Debug, Parser)]
#[command(name = "bench")]
pub struct Options {
    /// The refdesk to measure; by default the one beside this program.
    #[arg(long, value_name = "PATH")]
    refdesk: Option<PathBuf>,
    /// The server to compare with; by default the one beside this program.
    #[arg(long, value_name = "PATH")]
    peer: Option<PathBuf>,
    /// Worker threads of the peer; by default one a core.
    #[arg(long, value_name = "COUNT")]
    pub peer_threads: Option<usize>,
    /// Where the folders to serve are made and kept for the next run.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Print the tables as Markdown.
    #[arg(long)]
    pub markdown: bool,
    /// Smaller trees and shorter rounds: whether it works, not how fast it is.
    #[arg(long)]
    pub quick: bool,
    /// Put the peer in refdesk's place: every ratio that is not 1 is this machine's noise.
    #[arg(long)]
    pub noise: bool,
    /// Run only the works whose name contains this.
    #[arg(long, value_name = "WORDS")]
    pub only: Option<String>,
}

/// How long and how often each work is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rounds of each contender, alternating with those of the others.
    pub rounds: usize,
    /// Seconds a round may last.
    pub round: Duration,
    /// Requests a round may hold.
    pub requests: u64,
    /// Seconds each contender is warmed up before its first round.
    pub warm_up: Duration,
    /// Requests under way at once.
    pub at_once: usize,
}

/// How many listen, and to how much.
#[derive(Clone, Copy, Debug)]
pub struct ListeningPlan {
    /// Files in the folder that is served.
    pub files: usize,
    /// Changes that are waited for one after the other.
    pub notices: usize,
    /// Listeners that hear of nothing.
    pub listeners: usize,
    /// How long they are watched.
    pub idle: Duration,
    /// Listeners that hear of everything.
    pub crowd: usize,
    /// Changes that they hear of.
    pub changes: usize,
    /// The time in which these are made.
    pub spell: Duration,
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
    /// The tree on which a server is started.
    pub const START: Self = Self { folders: 1_000, files: 100 };

    /// Files in the whole tree.
    #[must_use]
    pub const fn total(self) -> usize {
        self.folders * self.files
    }
}

impl Options {
    /// The program that is measured.
    ///
    /// # Errors
    /// When the path of this program is unknown.
    pub fn refdesk(&self) -> anyhow::Result<PathBuf> {
        self.refdesk.clone().map_or_else(|| beside("refdesk"), Ok)
    }

    /// The program it is compared with.
    ///
    /// # Errors
    /// When the path of this program is unknown.
    pub fn peer(&self) -> anyhow::Result<PathBuf> {
        self.peer.clone().map_or_else(|| beside("bench-peer"), Ok)
    }

    /// The folder in which everything to be served is made.
    ///
    /// # Errors
    /// When the path of this program is unknown.
    pub fn scratch(&self) -> anyhow::Result<PathBuf> {
        self.scratch.clone().map_or_else(|| beside("bench-scratch"), Ok)
    }

    /// Rounds and their bounds.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let (rounds, round, warm_up) = if self.quick { (2, 200, 50) } else { (7, 1_000, 300) };
        Plan {
            rounds,
            round: Duration::from_millis(round),
            requests: 100_000,
            warm_up: Duration::from_millis(warm_up),
            at_once: 8,
        }
    }

    /// Listeners and changes.
    #[must_use]
    pub const fn listening(&self) -> ListeningPlan {
        let (of_all, idle) = if self.quick { (10, 3) } else { (1, 30) };
        ListeningPlan {
            files: 1_000 / of_all,
            notices: 1_000 / of_all,
            listeners: 1_000 / of_all,
            idle: Duration::from_secs(idle),
            crowd: 100 / of_all,
            changes: 10_000 / of_all,
            spell: Duration::from_secs(1),
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

    /// Whether a work of this name is wanted.
    #[must_use]
    pub fn wants(&self, work: &str) -> bool {
        self.only.as_deref().is_none_or(|words| work.contains(words))
    }
}

fn beside(name: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("find this program's own path")?;
    Ok(own.with_file_name(name))
}
