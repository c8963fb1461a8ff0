//! Scaling benchmarks: refdesk's cost must not grow with the size of what it serves.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use crate::{
    dirwatch::DirWatch,
    fixture::{self, ListingOption},
    load_client::{HttpClient, LoadClient},
    measure::{Contender, Figures, measure, median, ratio},
    message::BenchRequest,
    options::{Options, TreeSize},
    peer_bench, process_usage,
    report::{bytes, count, progress, time},
    server_process::{self, ServerCommand, ServerProcess},
    verify::{self, VerifyingClient},
};

const WALK_PAGE: usize = 1_000;
const MAX_MEMORY: u64 = 100_000_000;
const WINDOW: u64 = 4 << 10;
const STARTS: usize = 5;
const UNCHANGED: &str = "page of 100 of an unchanged folder";

/// One line of the table.
#[derive(Clone, Debug)]
pub struct ScalingRow {
    /// The workload.
    pub work: String,
    /// The measurement.
    pub figure: String,
    /// The reference.
    pub reference: String,
    /// Measurement over reference, where both are costs.
    pub ratio: Option<f64>,
    /// The target.
    pub target: &'static str,
    /// Whether the target is met.
    pub met: bool,
}

/// Measures the selected workloads.
///
/// # Errors
/// When refdesk does not start, or responds incorrectly.
pub async fn run(options: &Options) -> anyhow::Result<Vec<ScalingRow>> {
    let scratch = options.scratch()?;
    std::fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let bench = ScalingBench { options, scratch: &scratch, refdesk: &options.refdesk()? };
    let mut rows = Vec::new();
    if options.wants("walk") {
        rows.extend(bench.walk().await.context("measure: walk a tree")?);
    }
    if options.wants(UNCHANGED) {
        rows.push(bench.unchanged().await.context("measure: an unchanged folder")?);
    }
    if options.wants("window") {
        rows.push(bench.window().await.context("measure: read a window")?);
    }
    if options.wants("first answer") {
        for listing in [ListingOption::Flat, ListingOption::Default] {
            rows.push(bench.first_answer(listing).await.context("measure: first answer")?);
        }
    }
    Ok(rows)
}

struct ScalingBench<'a> {
    options: &'a Options,
    scratch: &'a Path,
    refdesk: &'a Path,
}

impl ScalingBench<'_> {
    fn launch(
        &self,
        folder: &Path,
        listing: ListingOption,
        page_size: usize,
    ) -> anyhow::Result<ServerCommand> {
        let path = self.scratch.join("itself.toml");
        let settings = fixture::fs_settings(&path, folder, listing, page_size)?;
        Ok(ServerCommand::refdesk(self.refdesk, &settings))
    }

    async fn open_client(
        &self,
        server: &ServerProcess,
        address: std::net::SocketAddr,
        (message, length): (BenchRequest, usize),
    ) -> anyhow::Result<Contender> {
        let at_once = self.options.plan().at_once;
        let client = HttpClient::open(address, at_once, &[message], length).await?;
        Ok(Contender { pid: server.pid, client: LoadClient::Http(client) })
    }

    async fn walk(&self) -> anyhow::Result<[ScalingRow; 2]> {
        let size = self.options.wide_tree();
        progress(&format!("walk a tree of {} files", count(size.total())));
        let folder = fixture::tree(self.scratch, size)?;
        let launch = self.launch(&folder, ListingOption::Flat, WALK_PAGE)?;
        let (server, address) = server_process::start_http(&launch).await?;
        let start = Instant::now();
        let walked = walk(&mut VerifyingClient::open(address).await?, size).await?;
        let elapsed = start.elapsed();
        let peak = process_usage::peak_memory(server.pid)?;
        let last = self.open_client(&server, address, walked.last).await?;
        let first = self.open_client(&server, address, walked.first).await?;
        let figures = measure(&mut [last, first], self.options.plan()).await?;
        let memory = ScalingRow {
            work: format!("walk a tree of {} files", count(size.total())),
            figure: format!("peak memory {}", bytes(peak)),
            reference: format!("{} pages in {}", count(walked.pages), time(elapsed)),
            ratio: None,
            target: "under 100 MB",
            met: peak < MAX_MEMORY,
        };
        let work = format!("last page of {} files", count(size.total()));
        Ok([comparison_row(work, "first page", &figures, "CPU under 2"), memory])
    }

    async fn unchanged(&self) -> anyhow::Result<ScalingRow> {
        let work = format!("{UNCHANGED} of {} files", count(crate::test_data::RESOURCES));
        progress(&work);
        let catalogue = fixture::write_catalogue(self.scratch)?;
        let of_folder = fixture::folder_settings(self.scratch, &catalogue)?;
        let of_statics = fixture::static_settings(self.scratch, &catalogue)?;
        let (mut servers, mut contenders) = (Vec::new(), Vec::new());
        for settings in [of_folder, of_statics] {
            let launch = ServerCommand::refdesk(self.refdesk, &settings);
            let (server, address) = server_process::start_http(&launch).await?;
            let (messages, length) =
                peer_bench::full_page_requests(&mut VerifyingClient::open(address).await?).await?;
            let at_once = self.options.plan().at_once;
            let client = HttpClient::open(address, at_once, &messages, length).await?;
            contenders.push(Contender { pid: server.pid, client: LoadClient::Http(client) });
            servers.push(server);
        }
        let figures = measure(&mut contenders, self.options.plan()).await?;
        let row = comparison_row(work, "of a static mount", &figures, "CPU within 1.5");
        Ok(ScalingRow { met: row.ratio.is_some_and(|ratio| ratio <= 1.5), ..row })
    }

    async fn window(&self) -> anyhow::Result<ScalingRow> {
        progress("read a window of 4 KiB");
        let folder = fixture::windowed_folder(self.scratch)?;
        let launch = self.launch(&folder, ListingOption::Flat, WALK_PAGE)?;
        let (server, address) = server_process::start_http(&launch).await?;
        let mut inquirer = VerifyingClient::open(address).await?;
        let mut contenders = Vec::new();
        for (name, size) in fixture::WINDOWED {
            let message = BenchRequest::window(&fixture::file_uri(name), size / 2, WINDOW);
            let answer = inquirer.request(&message).await?;
            verify::check_read(&answer, &vec![0; usize::try_from(WINDOW)?])?;
            contenders.push(self.open_client(&server, address, (message, answer.len())).await?);
        }
        let figures = measure(&mut contenders, self.options.plan()).await?;
        let work = "window of 4 KiB out of 2 GiB".to_owned();
        Ok(comparison_row(work, "out of 64 KiB", &figures, "CPU within 2"))
    }

    async fn first_answer(&self, listing: ListingOption) -> anyhow::Result<ScalingRow> {
        let size = TreeSize::START;
        let kind = if listing == ListingOption::Flat { "flat" } else { "default" };
        let work = format!("first answer on {} files, {kind} listing", count(size.total()));
        progress(&work);
        let folder = fixture::tree(self.scratch, size)?;
        let launch = self.launch(&folder, listing, crate::test_data::PAGE)?;
        let (mut times, mut cpus) = (Vec::new(), Vec::new());
        let (mut most, mut all) = (0, 0);
        for _ in 0..STARTS {
            let watch = DirWatch::start(&folder)?;
            let (elapsed, cpu) = start_and_list(&launch).await?;
            times.push(elapsed.as_secs_f64());
            cpus.push(cpu.as_secs_f64());
            (most, all) = (watch.looked_into()?.max(most), watch.folders());
        }
        let seconds = |values: &mut [f64]| time(Duration::from_secs_f64(median(values)));
        Ok(ScalingRow {
            work,
            figure: format!("{}, CPU {}", seconds(&mut times), seconds(&mut cpus)),
            reference: format!("{} of {} folders read", count(most), count(all)),
            ratio: None,
            target: "under 1/20 of the folders",
            met: most * 20 < all,
        })
    }
}

struct WalkSummary {
    first: (BenchRequest, usize),
    last: (BenchRequest, usize),
    pages: usize,
}

/// Lists all pages; returns the requests of the first and the last full page.
async fn walk(inquirer: &mut VerifyingClient, size: TreeSize) -> anyhow::Result<WalkSummary> {
    let mut message = BenchRequest::list(None);
    let (mut first, mut last) = (None, None);
    let (mut pages, mut listed) = (0, 0);
    loop {
        let page = verify::check_page(&inquirer.request(&message).await?)?;
        pages += 1;
        listed += page.count;
        if page.count == WALK_PAGE {
            first.get_or_insert_with(|| (message.clone(), page.length));
            last = Some((message, page.length));
        }
        let Some(cursor) = page.next else { break };
        message = BenchRequest::list(Some(&cursor));
    }
    // The list may also contain the folders and the root.
    let most = size.total() + size.folders + 1;
    ensure!(
        (size.total()..=most).contains(&listed),
        "{listed} resources were listed in a tree of {}",
        size.total()
    );
    let (first, last) = (first.context("no full page")?, last.context("no full page")?);
    Ok(WalkSummary { first, last, pages })
}

/// Wall time and CPU time from the start of the process to its first list.
async fn start_and_list(launch: &ServerCommand) -> anyhow::Result<(Duration, Duration)> {
    let start = Instant::now();
    let (server, address) = server_process::start_http(launch).await?;
    let answer = VerifyingClient::open(address).await?.request(&BenchRequest::list(None)).await?;
    let elapsed = start.elapsed();
    let cpu = process_usage::fine_cpu(server.pid)?;
    ensure!(verify::check_page(&answer)?.count > 0, "the first list was empty");
    Ok((elapsed, cpu))
}

fn comparison_row(work: String, other: &str, figures: &[Figures], bar: &'static str) -> ScalingRow {
    let nanos = |figures: &Figures| u64::try_from(figures.cpu.as_nanos()).unwrap_or(u64::MAX);
    let [one, two] = [&figures[0], &figures[1]];
    let ratio = ratio(nanos(one), nanos(two));
    ScalingRow {
        work,
        figure: format!("CPU {} a request", time(one.cpu)),
        reference: format!("{other}: {}", time(two.cpu)),
        ratio: Some(ratio),
        target: bar,
        met: ratio < 2.0,
    }
}
