//! Benchmarks of change notifications: latency, cost of idle listeners, fan-out.

use std::{
    fs::File,
    io::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, ensure};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    child::{self, Launch, Server},
    content::{PAGE, entry_name},
    events::{Events, Heard},
    fixture::{self, Listing},
    itself::Row,
    measure::{percentile, ratio},
    message::Message,
    options::{ListeningPlan, Options},
    report::{bytes, count, progress, time},
    usage,
    verify::{self, Inquirer},
};

/// The default debounce time of refdesk.
const QUIET: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(30);
/// After this time idle worker threads have exited and no longer cost anything.
const SETTLED: Duration = Duration::from_secs(12);
/// After this long without a notification, all are considered received.
const SILENCE: Duration = Duration::from_secs(2);
const MOST_MEMORY: u64 = 20_000;
const MOST_IDLE: f64 = 0.001;

const NOTICE: &str = "write to notice";
const IDLE: &str = "idle listeners";
const CROWD: &str = "changes to listeners";

/// Measures the selected workloads.
///
/// # Errors
/// When refdesk does not start, or sends no notifications.
pub async fn run(options: &Options) -> anyhow::Result<Vec<Row>> {
    let scratch = options.scratch()?;
    std::fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let (refdesk, plan) = (options.refdesk()?, options.listening());
    let bench = Bench { plan, scratch: &scratch, refdesk: &refdesk };
    let mut rows = Vec::new();
    if options.wants(NOTICE) {
        rows.push(bench.notice().await.context("measure: write to notice")?);
    }
    if options.wants(IDLE) {
        rows.extend(bench.idle().await.context("measure: idle listeners")?);
    }
    if options.wants(CROWD) {
        for order in [Order::InTurn, Order::InBursts] {
            rows.push(bench.crowd(order).await.context("measure: changes to listeners")?);
        }
    }
    Ok(rows)
}

struct Bench<'a> {
    plan: ListeningPlan,
    scratch: &'a Path,
    refdesk: &'a Path,
}

/// A server of a fresh folder, without subscriptions.
struct Watched {
    server: Server,
    address: SocketAddr,
    folder: PathBuf,
}

/// The order in which files are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Every file once, then every file again.
    InTurn,
    /// All changes of one file, then those of the next.
    InBursts,
}

impl Bench<'_> {
    async fn start(&self) -> anyhow::Result<Watched> {
        let folder = fixture::watched_folder(self.scratch, self.plan.files)?;
        let settings = self.scratch.join("listening.toml");
        let settings = fixture::fs_settings(&settings, &folder, Listing::Flat, PAGE)?;
        let launch = Launch::refdesk(self.refdesk, &settings);
        let (server, address) = child::over_http(&launch).await?;
        let answer = Inquirer::open(address).await?.ask(&Message::list(None)).await?;
        ensure!(verify::page(&answer)?.count == PAGE, "the first page is not full");
        Ok(Watched { server, address, folder })
    }

    async fn notice(&self) -> anyhow::Result<Row> {
        let ListeningPlan { files, notices, .. } = self.plan;
        let work = format!("{NOTICE}, one of {} files", count(files));
        progress(&work);
        let watched = self.start().await?;
        let mut events = Events::open(watched.address, &uris(0..files)).await?;
        let before = usage::fine_cpu(watched.server.pid)?;
        let mut times = Vec::new();
        for turn in 0..notices {
            let file = turn % files;
            std::fs::write(watched.folder.join(entry_name(file)), changed(turn))
                .context("change a file")?;
            let start = Instant::now();
            let uri = uri(file);
            timeout(PATIENCE, until(&mut events, &uri))
                .await
                .map_err(|_| anyhow!("no notice of {uri} came within {PATIENCE:?}"))??;
            times.push(start.elapsed());
        }
        let cpu = usage::fine_cpu(watched.server.pid)?.saturating_sub(before);
        times.sort_unstable();
        let [p50, p99] = [50, 99].map(|percent| percentile(&times, percent));
        let [more50, more99] = [p50, p99].map(|all| time(all.saturating_sub(QUIET)));
        let each = cpu / u32::try_from(notices.max(1))?;
        Ok(Row {
            work,
            figure: format!("p50 {}, p99 {}", time(p50), time(p99)),
            against: format!(
                "beyond the {} of quiet: {more50}, {more99}; CPU {} a change",
                time(QUIET),
                time(each)
            ),
            ratio: None,
            bar: "a notice of each",
            met: times.len() == notices,
        })
    }

    async fn idle(&self) -> anyhow::Result<[Row; 2]> {
        let ListeningPlan { files, listeners, idle, .. } = self.plan;
        let [memory, cpu] =
            ["memory", "CPU"].map(|what| format!("{what} of {} {IDLE}", count(listeners)));
        progress(&memory);
        let Watched { server, address, .. } = self.start().await?;
        let before = usage::memory(server.pid)?;
        let mut streams = Vec::new();
        // One in ten listeners shares its file with another.
        let apart = (files.min(listeners) * 9 / 10).max(1);
        for listener in 0..listeners {
            streams.push(Events::open(address, &[uri(listener % apart)]).await?);
        }
        let after = usage::memory(server.pid)?;
        let each = |before: u64, after: u64| after.saturating_sub(before) / listeners as u64;
        let resident = each(before.resident, after.resident);
        let memory = Row {
            work: memory,
            figure: format!("{} each", kilobytes(resident)),
            against: format!(
                "{} before, {} with them; {} each of private pages",
                bytes(before.resident),
                bytes(after.resident),
                kilobytes(each(before.private, after.private))
            ),
            ratio: None,
            bar: "under 20 kB each",
            met: resident < MOST_MEMORY,
        };
        progress(&cpu);
        tokio::time::sleep(SETTLED).await;
        let comments = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for events in streams {
            tasks.spawn(count_comments(events, Arc::clone(&comments)));
        }
        let (start, spent) = (Instant::now(), usage::live_cpu(server.pid)?);
        tokio::time::sleep(idle).await;
        let spent = usage::live_cpu(server.pid)?.saturating_sub(spent);
        let share = spent.as_secs_f64() / start.elapsed().as_secs_f64();
        ensure!(tasks.try_join_next().is_none(), "a stream ended or reported a change");
        let comments = comments.load(Ordering::Relaxed);
        let cpu = Row {
            work: cpu,
            figure: format!("{:.3} % of a core", share * 100.0),
            against: format!("{} in {}, {comments} keep-alives", time(spent), time(idle)),
            ratio: None,
            bar: "under 0.1 %",
            met: share < MOST_IDLE,
        };
        Ok([memory, cpu])
    }

    async fn crowd(&self, order: Order) -> anyhow::Result<Row> {
        let ListeningPlan { files, crowd, changes, spell, .. } = self.plan;
        let how = if order == Order::InTurn { "in turn" } else { "in bursts" };
        let work = format!(
            "{} {CROWD}, {} on {} files each, {how}",
            count(changes),
            count(crowd),
            count(files)
        );
        progress(&work);
        let watched = self.start().await?;
        let told = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        let mut tallies = Vec::new();
        for _ in 0..crowd {
            let events = Events::open(watched.address, &uris(0..files)).await?;
            let tally: Arc<[AtomicU64]> = (0..files).map(|_| AtomicU64::new(0)).collect();
            tasks.spawn(count_notices(events, Arc::clone(&tally), Arc::clone(&told)));
            tallies.push(tally);
        }
        let before = usage::fine_cpu(watched.server.pid)?;
        let folder = watched.folder;
        let writing = move || write_all(&folder, (files, changes, spell), order);
        let taken = tokio::task::spawn_blocking(writing).await.context("change files")??;
        let last = until_silent(&told).await;
        ensure!(tasks.try_join_next().is_none(), "a stream ended or sent an unexpected event");
        let cpu = usage::fine_cpu(watched.server.pid)?.saturating_sub(before);
        let sent = told.load(Ordering::Relaxed);
        let missed = tallies.iter().flat_map(|tally| tally.iter());
        let missed = missed.filter(|times| times.load(Ordering::Relaxed) == 0).count();
        let each = ratio(u64::try_from(cpu.as_nanos())?, sent.max(1)) / 1e3;
        Ok(Row {
            work,
            figure: format!("CPU {} in all, {each:.1} µs a notice", time(cpu)),
            against: format!(
                "{} notices; changed in {}, last heard {} later",
                count(usize::try_from(sent)?),
                time(taken),
                time(last)
            ),
            ratio: None,
            bar: "every listener gets every file",
            met: missed == 0,
        })
    }
}

/// Changes files, spread evenly over `spell`; returns the time it took.
fn write_all(
    folder: &Path,
    (files, changes, spell): (usize, usize, Duration),
    order: Order,
) -> anyhow::Result<Duration> {
    let runtime = tokio::runtime::Handle::current();
    let start = Instant::now();
    let each = changes.div_ceil(files).max(1);
    for turn in 0..changes {
        let file = if order == Order::InTurn { turn % files } else { turn / each };
        let due = spell.mul_f64(ratio(turn as u64, changes as u64));
        // Sleep is coarser than the interval, so all changes that are due happen at once.
        if due > start.elapsed() {
            runtime.block_on(tokio::time::sleep(Duration::from_millis(1)));
        }
        // Overwrite without truncating: some file systems would wait for the disk.
        let opened = File::options().write(true).open(folder.join(entry_name(file)));
        opened
            .and_then(|mut file| file.write_all(changed(turn).as_bytes()))
            .context("change a file")?;
    }
    Ok(start.elapsed())
}

/// Waits until notifications stop; returns when the last one came, counted from the start.
async fn until_silent(told: &AtomicU64) -> Duration {
    let start = Instant::now();
    let (mut known, mut last) = (told.load(Ordering::Relaxed), start);
    while last.elapsed() < SILENCE && start.elapsed() < 4 * PATIENCE {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let now = told.load(Ordering::Relaxed);
        if now != known {
            (known, last) = (now, Instant::now());
        }
    }
    last - start
}

async fn until(events: &mut Events, uri: &str) -> anyhow::Result<()> {
    while events.next().await? != Heard::Updated(uri) {}
    Ok(())
}

async fn count_comments(mut events: Events, comments: Arc<AtomicU64>) -> anyhow::Result<()> {
    while events.next().await? == Heard::Comment {
        comments.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

async fn count_notices(
    mut events: Events,
    tally: Arc<[AtomicU64]>,
    told: Arc<AtomicU64>,
) -> anyhow::Result<()> {
    loop {
        let Heard::Updated(uri) = events.next().await? else { continue };
        let number = uri.strip_suffix(".txt").and_then(|uri| uri.rsplit('-').next());
        let number: usize =
            number.and_then(|number| number.parse().ok()).context("unexpected URI")?;
        tally.get(number).context("unknown file number")?.fetch_add(1, Ordering::Relaxed);
        told.fetch_add(1, Ordering::Relaxed);
    }
}

/// Different bytes for every turn, of the same length up to 999,999.
fn changed(turn: usize) -> String {
    format!("changed {turn:06}\n")
}

fn uri(file: usize) -> String {
    fixture::file_uri(&entry_name(file))
}

fn uris(files: std::ops::Range<usize>) -> Vec<String> {
    files.map(uri).collect()
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.1} kB", ratio(bytes, 1_000))
}
