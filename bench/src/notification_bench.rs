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
    fixture::{self, ListingOption},
    measure::{percentile, ratio},
    message::BenchRequest,
    options::{NotificationPlan, Options},
    process_usage,
    report::{bytes, count, progress, time},
    scaling_bench::ScalingRow,
    server_process::{self, ServerCommand, ServerProcess},
    sse::{NotificationEvents, StreamEvent},
    test_data::{PAGE, entry_name},
    verify::{self, VerifyingClient},
};

/// The default debounce time of refdesk.
const DEBOUNCE: Duration = Duration::from_millis(50);
const TIMEOUT: Duration = Duration::from_secs(30);
/// After this time idle worker threads have exited and no longer cost anything.
const SETTLE_TIME: Duration = Duration::from_secs(12);
/// After this long without a notification, all are considered received.
const SILENCE: Duration = Duration::from_secs(2);
const MAX_MEMORY: u64 = 20_000;
const MAX_IDLE_CPU: f64 = 0.001;

const NOTICE: &str = "write to notice";
const IDLE: &str = "idle listeners";
const FAN_OUT: &str = "changes to listeners";

/// Measures the selected workloads.
///
/// # Errors
/// When refdesk does not start, or sends no notifications.
pub async fn run(options: &Options) -> anyhow::Result<Vec<ScalingRow>> {
    let scratch = options.scratch()?;
    std::fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let (refdesk, plan) = (options.refdesk()?, options.notification_plan());
    let bench = NotificationBench { plan, scratch: &scratch, refdesk: &refdesk };
    let mut rows = Vec::new();
    if options.wants(NOTICE) {
        rows.push(bench.measure_latency().await.context("measure: write to notice")?);
    }
    if options.wants(IDLE) {
        rows.extend(bench.measure_idle().await.context("measure: idle listeners")?);
    }
    if options.wants(FAN_OUT) {
        for order in [ChangeOrder::InTurn, ChangeOrder::InBursts] {
            rows.push(bench.measure_fan_out(order).await.context("measure: changes to listeners")?);
        }
    }
    Ok(rows)
}

struct NotificationBench<'a> {
    plan: NotificationPlan,
    scratch: &'a Path,
    refdesk: &'a Path,
}

/// A server of a fresh folder, without subscriptions.
struct WatchedServer {
    server: ServerProcess,
    address: SocketAddr,
    folder: PathBuf,
}

/// The order in which files are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeOrder {
    /// Every file once, then every file again.
    InTurn,
    /// All changes of one file, then those of the next.
    InBursts,
}

impl NotificationBench<'_> {
    async fn start(&self) -> anyhow::Result<WatchedServer> {
        let folder = fixture::watched_folder(self.scratch, self.plan.files)?;
        let settings = self.scratch.join("listening.toml");
        let settings = fixture::fs_settings(&settings, &folder, ListingOption::Flat, PAGE)?;
        let launch = ServerCommand::refdesk(self.refdesk, &settings);
        let (server, address) = server_process::start_http(&launch).await?;
        let answer =
            VerifyingClient::open(address).await?.request(&BenchRequest::list(None)).await?;
        ensure!(verify::check_page(&answer)?.count == PAGE, "the first page is not full");
        Ok(WatchedServer { server, address, folder })
    }

    async fn measure_latency(&self) -> anyhow::Result<ScalingRow> {
        let NotificationPlan { files, notices, .. } = self.plan;
        let work = format!("{NOTICE}, one of {} files", count(files));
        progress(&work);
        let watched = self.start().await?;
        let mut events = NotificationEvents::open(watched.address, &uris(0..files)).await?;
        let before = process_usage::fine_cpu(watched.server.pid)?;
        let mut times = Vec::new();
        for turn in 0..notices {
            let file = turn % files;
            std::fs::write(watched.folder.join(entry_name(file)), changed_content(turn))
                .context("change a file")?;
            let start = Instant::now();
            let uri = uri(file);
            timeout(TIMEOUT, wait_for_update(&mut events, &uri))
                .await
                .map_err(|_| anyhow!("no notice of {uri} came within {TIMEOUT:?}"))??;
            times.push(start.elapsed());
        }
        let cpu = process_usage::fine_cpu(watched.server.pid)?.saturating_sub(before);
        times.sort_unstable();
        let [p50, p99] = [50, 99].map(|percent| percentile(&times, percent));
        let [more50, more99] = [p50, p99].map(|all| time(all.saturating_sub(DEBOUNCE)));
        let each = cpu / u32::try_from(notices.max(1))?;
        Ok(ScalingRow {
            work,
            figure: format!("p50 {}, p99 {}", time(p50), time(p99)),
            reference: format!(
                "beyond the {} of quiet: {more50}, {more99}; CPU {} a change",
                time(DEBOUNCE),
                time(each)
            ),
            ratio: None,
            target: "a notice of each",
            met: times.len() == notices,
        })
    }

    async fn measure_idle(&self) -> anyhow::Result<[ScalingRow; 2]> {
        let NotificationPlan { files, listeners, idle, .. } = self.plan;
        let [memory, cpu] =
            ["memory", "CPU"].map(|what| format!("{what} of {} {IDLE}", count(listeners)));
        progress(&memory);
        let WatchedServer { server, address, .. } = self.start().await?;
        let before = process_usage::memory(server.pid)?;
        let mut streams = Vec::new();
        // One in ten listeners shares its file with another.
        let apart = (files.min(listeners) * 9 / 10).max(1);
        for listener in 0..listeners {
            streams.push(NotificationEvents::open(address, &[uri(listener % apart)]).await?);
        }
        let after = process_usage::memory(server.pid)?;
        let each = |before: u64, after: u64| after.saturating_sub(before) / listeners as u64;
        let resident = each(before.resident, after.resident);
        let memory = ScalingRow {
            work: memory,
            figure: format!("{} each", kilobytes(resident)),
            reference: format!(
                "{} before, {} with them; {} each of private pages",
                bytes(before.resident),
                bytes(after.resident),
                kilobytes(each(before.private, after.private))
            ),
            ratio: None,
            target: "under 20 kB each",
            met: resident < MAX_MEMORY,
        };
        progress(&cpu);
        tokio::time::sleep(SETTLE_TIME).await;
        let comments = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for events in streams {
            tasks.spawn(count_comments(events, Arc::clone(&comments)));
        }
        let (start, spent) = (Instant::now(), process_usage::live_cpu(server.pid)?);
        tokio::time::sleep(idle).await;
        let spent = process_usage::live_cpu(server.pid)?.saturating_sub(spent);
        let share = spent.as_secs_f64() / start.elapsed().as_secs_f64();
        ensure!(tasks.try_join_next().is_none(), "a stream ended or reported a change");
        let comments = comments.load(Ordering::Relaxed);
        let cpu = ScalingRow {
            work: cpu,
            figure: format!("{:.3} % of a core", share * 100.0),
            reference: format!("{} in {}, {comments} keep-alives", time(spent), time(idle)),
            ratio: None,
            target: "under 0.1 %",
            met: share < MAX_IDLE_CPU,
        };
        Ok([memory, cpu])
    }

    async fn measure_fan_out(&self, order: ChangeOrder) -> anyhow::Result<ScalingRow> {
        let NotificationPlan { files, fan_out: crowd, changes, duration: spell, .. } = self.plan;
        let how = if order == ChangeOrder::InTurn { "in turn" } else { "in bursts" };
        let work = format!(
            "{} {FAN_OUT}, {} on {} files each, {how}",
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
            let events = NotificationEvents::open(watched.address, &uris(0..files)).await?;
            let tally: Arc<[AtomicU64]> = (0..files).map(|_| AtomicU64::new(0)).collect();
            tasks.spawn(count_notices(events, Arc::clone(&tally), Arc::clone(&told)));
            tallies.push(tally);
        }
        let before = process_usage::fine_cpu(watched.server.pid)?;
        let folder = watched.folder;
        let writing = move || change_files(&folder, (files, changes, spell), order);
        let taken = tokio::task::spawn_blocking(writing).await.context("change files")??;
        let last = wait_until_silent(&told).await;
        ensure!(tasks.try_join_next().is_none(), "a stream ended or sent an unexpected event");
        let cpu = process_usage::fine_cpu(watched.server.pid)?.saturating_sub(before);
        let sent = told.load(Ordering::Relaxed);
        let missed = tallies.iter().flat_map(|tally| tally.iter());
        let missed = missed.filter(|times| times.load(Ordering::Relaxed) == 0).count();
        let each = ratio(u64::try_from(cpu.as_nanos())?, sent.max(1)) / 1e3;
        Ok(ScalingRow {
            work,
            figure: format!("CPU {} in all, {each:.1} µs a notice", time(cpu)),
            reference: format!(
                "{} notices; changed in {}, last heard {} later",
                count(usize::try_from(sent)?),
                time(taken),
                time(last)
            ),
            ratio: None,
            target: "every listener gets every file",
            met: missed == 0,
        })
    }
}

/// Changes files, spread evenly over `spell`; returns the time it took.
fn change_files(
    folder: &Path,
    (files, changes, spell): (usize, usize, Duration),
    order: ChangeOrder,
) -> anyhow::Result<Duration> {
    let runtime = tokio::runtime::Handle::current();
    let start = Instant::now();
    let each = changes.div_ceil(files).max(1);
    for turn in 0..changes {
        let file = if order == ChangeOrder::InTurn { turn % files } else { turn / each };
        let due = spell.mul_f64(ratio(turn as u64, changes as u64));
        // Sleep is coarser than the interval, so all changes that are due happen at once.
        if due > start.elapsed() {
            runtime.block_on(tokio::time::sleep(Duration::from_millis(1)));
        }
        // Overwrite without truncating: some file systems would wait for the disk.
        let opened = File::options().write(true).open(folder.join(entry_name(file)));
        opened
            .and_then(|mut file| file.write_all(changed_content(turn).as_bytes()))
            .context("change a file")?;
    }
    Ok(start.elapsed())
}

/// Waits until notifications stop; returns when the last one came, counted from the start.
async fn wait_until_silent(told: &AtomicU64) -> Duration {
    let start = Instant::now();
    let (mut known, mut last) = (told.load(Ordering::Relaxed), start);
    while last.elapsed() < SILENCE && start.elapsed() < 4 * TIMEOUT {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let now = told.load(Ordering::Relaxed);
        if now != known {
            (known, last) = (now, Instant::now());
        }
    }
    last - start
}

async fn wait_for_update(events: &mut NotificationEvents, uri: &str) -> anyhow::Result<()> {
    while events.next().await? != StreamEvent::Updated(uri) {}
    Ok(())
}

async fn count_comments(
    mut events: NotificationEvents,
    comments: Arc<AtomicU64>,
) -> anyhow::Result<()> {
    while events.next().await? == StreamEvent::Comment {
        comments.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

async fn count_notices(
    mut events: NotificationEvents,
    tally: Arc<[AtomicU64]>,
    told: Arc<AtomicU64>,
) -> anyhow::Result<()> {
    loop {
        let StreamEvent::Updated(uri) = events.next().await? else { continue };
        let number = uri.strip_suffix(".txt").and_then(|uri| uri.rsplit('-').next());
        let number: usize =
            number.and_then(|number| number.parse().ok()).context("unexpected URI")?;
        tally.get(number).context("unknown file number")?.fetch_add(1, Ordering::Relaxed);
        told.fetch_add(1, Ordering::Relaxed);
    }
}

/// Different bytes for every turn, of the same length up to 999,999.
fn changed_content(turn: usize) -> String {
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
