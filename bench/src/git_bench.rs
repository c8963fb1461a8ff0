//! Benchmark of files in git history against `git cat-file --batch`, over pipes.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};

use crate::{
    fastmcp::run_to_end,
    fixture,
    measure::median,
    message::BenchRequest,
    options::Options,
    process_usage,
    report::{progress, time},
    scaling_bench::ScalingRow,
    server_process::{self, ServerCommand},
    stdio_pipe::Pipe,
    test_data,
};

const FILES: usize = 1_000;
const FILE_BYTES: usize = 6_000;
/// Fresh servers; the median counts.
const RUNS: usize = 5;
/// Runs of git per measurement, because child CPU time is counted in 1/100 s.
const AT_A_TIME: u32 = 5;

/// Measures the reads, if selected.
///
/// # Errors
/// When refdesk or git does not start, or a read fails.
pub async fn run(options: &Options) -> anyhow::Result<Vec<ScalingRow>> {
    let works = ["git: 1,000 reads of HEAD:path, first time", "git: the same again"];
    if !works.iter().any(|work| options.wants(work)) {
        return Ok(Vec::new());
    }
    progress(works[0]);
    let scratch = options.scratch()?;
    let folder = fixture::create_once(&scratch, "repository", make_repository)?;
    let settings = fixture::git_settings(&scratch.join("git.toml"), &folder, &file_text(0))?;
    let launch = ServerCommand::refdesk(&options.refdesk()?, &settings);
    let [mut first, mut again, mut messages, mut theirs] = [const { Vec::new() }; 4];
    for _ in 0..RUNS {
        let (server, mut pipe) = server_process::start_stdio(&launch)?;
        pipe.send(&BenchRequest::discover().line(0)).await?;
        pipe.receive().await?;
        for (costs, source) in [
            (&mut first, ReadSource::History),
            (&mut again, ReadSource::History),
            (&mut messages, ReadSource::Memory),
        ] {
            let before = process_usage::fine_cpu(server.pid)?;
            read_all(&mut pipe, source).await?;
            let cost = process_usage::fine_cpu(server.pid)?.saturating_sub(before);
            costs.push(cost.as_secs_f64());
        }
        theirs.push(cat_file_cost(&folder)?);
    }
    let (git, messages) = (median(&mut theirs), median(&mut messages));
    let row = |work: &str, costs: &mut [f64]| {
        let ours = median(costs);
        let (spent, met) = (|cost| time(Duration::from_secs_f64(cost)), ours / git <= 0.2);
        // Why not: what the same messages cost where there is no repository to be read.
        let floor = format!("; the messages alone, from memory, {}", spent(messages));
        let floor = if met { String::new() } else { floor };
        ScalingRow {
            work: work.to_owned(),
            figure: format!("CPU {}", spent(ours)),
            reference: format!("cat-file --batch {}{floor}", spent(git)),
            ratio: Some(ours / git),
            target: "CPU within 1/5",
            met,
        }
    };
    Ok(vec![row(works[0], &mut first), row(works[1], &mut again)])
}

/// Where the texts are read from.
#[derive(Clone, Copy)]
enum ReadSource {
    /// The files of the repository.
    History,
    /// One text of the same size, which a static mount keeps in memory.
    Memory,
}

fn file_text(number: usize) -> String {
    format!("{number}\n{}", test_data::prose(FILE_BYTES))
}

fn file_name(number: usize) -> String {
    format!("part-{:02}/file-{number:04}.txt", number / 50)
}

fn make_repository(root: &Path) -> anyhow::Result<()> {
    for number in 0..FILES {
        let path = root.join(file_name(number));
        fs::create_dir_all(path.parent().context("a file in a folder")?)
            .context("make a folder")?;
        fs::write(path, file_text(number)).context("make a file")?;
    }
    let who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    for words in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "all"], &["gc", "-q"]] {
        run_to_end(Command::new("git").arg("-C").arg(root).args(who).args(words))?;
    }
    Ok(())
}

async fn read_all(pipe: &mut Pipe, source: ReadSource) -> anyhow::Result<()> {
    for number in 0..FILES {
        let (uri, first_line) = match source {
            ReadSource::History => (fixture::git_uri(&file_name(number)), number),
            ReadSource::Memory => (fixture::BESIDE_GIT.to_owned(), 0),
        };
        pipe.send(&BenchRequest::read(&uri).line(number)).await?;
        let answer = pipe.receive().await?;
        let start = format!("\"text\":\"{first_line}\\n");
        let has_text = memchr::memmem::find(answer, start.as_bytes()).is_some();
        ensure!(has_text, "{}", String::from_utf8_lossy(&answer[..answer.len().min(500)]));
    }
    Ok(())
}

/// Seconds of CPU that git takes for the same files.
fn cat_file_cost(folder: &Path) -> anyhow::Result<f64> {
    let names: String = (0..FILES).map(|at| format!("HEAD:{}\n", file_name(at))).collect();
    let before = process_usage::children_cpu()?;
    for _ in 0..AT_A_TIME {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut git = command.spawn().context("start git, which must be installed")?;
        let mut input = git.stdin.take().context("take git's input")?;
        let names = names.clone();
        let writer = std::thread::spawn(move || input.write_all(names.as_bytes()));
        let output = git.wait_with_output().context("wait for git")?;
        ensure!(matches!(writer.join(), Ok(Ok(()))), "git did not take all names");
        ensure!(output.stdout.len() > FILES * FILE_BYTES, "git gave fewer files");
    }
    let all = process_usage::children_cpu()?.saturating_sub(before);
    Ok((all / AT_A_TIME).as_secs_f64())
}
