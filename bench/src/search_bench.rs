//! Benchmark of `resources_grep` against ripgrep.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::{
    fixture::{self, ListingOption},
    measure::median,
    message::BenchRequest,
    options::Options,
    process_usage,
    report::{count, progress, time},
    scaling_bench::ScalingRow,
    server_process::{self, ServerCommand},
    verify::VerifyingClient,
};

const PAGE: usize = 1_000;
/// Runs of each searcher; the median counts.
const RUNS: usize = 9;
/// ripgrep runs per measurement, because child CPU time is counted in 1/100 s.
const RIPGREP_RUNS: u32 = 10;
const PATTERN: &str = r"fn needle_\d+\(";

/// Measures the search, if selected.
///
/// # Errors
/// When refdesk or ripgrep does not start, or their results differ.
pub async fn run(options: &Options) -> anyhow::Result<Vec<ScalingRow>> {
    let work = format!("search {} source files", count(fixture::SOURCES));
    if !options.wants(&work) {
        return Ok(Vec::new());
    }
    progress(&work);
    let scratch = options.scratch()?;
    std::fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let folder = fixture::sources(&scratch)?;
    let path = scratch.join("search.toml");
    let settings = fixture::fs_settings(&path, &folder, ListingOption::Default, PAGE)?;
    let launch = ServerCommand::refdesk(&options.refdesk()?, &settings);
    let (server, address) = server_process::start_http(&launch).await?;
    let mut inquirer = VerifyingClient::open(address).await?;
    let expected = ripgrep(&folder)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..=RUNS {
        let before = process_usage::fine_cpu(server.pid)?;
        let found = search(&mut inquirer).await?;
        let cost = process_usage::fine_cpu(server.pid)?.saturating_sub(before);
        ensure!(found == expected, "{found} matches where ripgrep finds {expected}");
        let before = process_usage::children_cpu()?;
        for _ in 0..RIPGREP_RUNS {
            ripgrep(&folder)?;
        }
        // The first run warms the caches.
        if run > 0 {
            let all = process_usage::children_cpu()?.saturating_sub(before);
            ours.push(cost.as_secs_f64());
            theirs.push((all / RIPGREP_RUNS).as_secs_f64());
        }
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    let ratio = ours / theirs;
    Ok(vec![ScalingRow {
        work,
        figure: format!("CPU {}", time(Duration::from_secs_f64(ours))),
        reference: format!("ripgrep {}", time(Duration::from_secs_f64(theirs))),
        ratio: Some(ratio),
        target: "CPU within 3",
        met: ratio <= 3.0,
    }])
}

/// Follows the cursors to the end; returns the number of matching lines.
async fn search(inquirer: &mut VerifyingClient) -> anyhow::Result<usize> {
    let mut found = 0;
    let mut arguments = json!({ "pattern": PATTERN, "max_matches": 1000, "context": 0 });
    loop {
        let answer = inquirer.request(&BenchRequest::call("resources_grep", &arguments)).await?;
        let mut answer: Value = serde_json::from_slice(&answer).context("decode a response")?;
        let mut told = answer["result"]["structuredContent"].take();
        let matches = told["matches"].as_object().context("response without matches")?;
        found += matches.values().filter_map(Value::as_array).map(Vec::len).sum::<usize>();
        match told["cursor"].take() {
            Value::Null => return Ok(found),
            cursor => arguments["cursor"] = cursor,
        }
    }
}

/// Runs ripgrep; returns the number of matching lines.
fn ripgrep(folder: &Path) -> anyhow::Result<usize> {
    let mut command = Command::new("rg");
    command.args(["--no-config", "--line-number", "--no-heading", PATTERN, "."]);
    let output = command.current_dir(folder).stdin(Stdio::null()).output();
    let output = output.context("start ripgrep, which must be installed")?;
    Ok(memchr::memchr_iter(b'\n', &output.stdout).count())
}
