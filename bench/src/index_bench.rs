//! Benchmark of the search index: filling it, asking it, and catching up after a restart.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    document_set, fixture,
    measure::percentile,
    message::BenchRequest,
    options::Options,
    process_usage,
    report::{count, progress, time},
    scaling_bench::ScalingRow,
    server_process::{self, ServerCommand, ServerProcess},
    verify::VerifyingClient,
};

/// Documents, in a whole run and in a quick one.
const DOCUMENTS: [usize; 2] = [100_000, 2_000];
const QUERIES: usize = 400;
/// How long the index may take to be complete.
const FILL_TIMEOUT: Duration = Duration::from_mins(60);
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How long the size of the index stays the same once no merge of it is under way.
const SETTLE_TIME: Duration = Duration::from_secs(5);
const MAX_MEMORY: u64 = 300_000_000;
const MAX_SHARE: f64 = 0.6;
const MAX_QUERY: Duration = Duration::from_millis(20);
/// The part of the text that a restart may read.
const MAX_READ_AGAIN: f64 = 0.05;

/// Measures the index, if selected.
///
/// # Errors
/// When refdesk does not start, does not complete the index, or does not find a document.
pub async fn run(options: &Options) -> anyhow::Result<Vec<ScalingRow>> {
    let documents = DOCUMENTS[usize::from(options.quick)];
    let name = count(documents);
    let works = ["index", "search an index of", "catch up with"];
    let [fill, ask, again] = works.map(|work| format!("{work} {name} documents"));
    if ![&fill, &ask, &again].iter().any(|work| options.wants(work)) {
        return Ok(Vec::new());
    }
    progress(&fill);
    let scratch = options.scratch()?;
    fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let folder = document_set::make_folder(&scratch, documents)?;
    let text = folder_bytes(&folder)?;
    let cache = scratch.join("index-cache");
    if cache.exists() {
        fs::remove_dir_all(&cache).context("remove an earlier index")?;
    }
    let settings = fixture::indexed_settings(&scratch.join("index.toml"), &folder)?;
    let launch = ServerCommand::refdesk(&options.refdesk()?, &settings);
    let launch = launch.with_environment("XDG_CACHE_HOME", &cache);
    let (server, mut client, filled) = fill_index(&launch).await?;
    let index = settled_bytes(&cache).await?;
    progress(&ask);
    let asked = ask_index(&server, &mut client, documents).await?;
    drop((server, client));
    progress(&again);
    let (server, _client, caught_up) = fill_index(&launch).await?;
    let read = process_usage::read_bytes(server.pid)?;
    let share = |bytes: u64| bytes as f64 / text as f64;
    Ok(vec![
        ScalingRow {
            work: fill,
            figure: format!("{filled}, index {}", megabytes(index)),
            reference: format!("text {}", megabytes(text)),
            ratio: Some(share(index)),
            target: "index under 0.6 of the text, 300 MB of its own",
            met: share(index) < MAX_SHARE && filled.own_memory <= MAX_MEMORY,
        },
        ScalingRow {
            work: ask,
            figure: format!("CPU p95 {}, median {}", time(asked.p95), time(asked.median)),
            reference: String::new(),
            ratio: None,
            target: "p95 under 20 ms",
            met: asked.p95 < MAX_QUERY,
        },
        ScalingRow {
            work: again,
            figure: format!("CPU {}, {} read", time(caught_up.cpu), megabytes(read)),
            reference: format!("text {}", megabytes(text)),
            ratio: Some(share(read)),
            target: "without reading the text: under 0.05",
            met: share(read) < MAX_READ_AGAIN,
        },
    ])
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

/// What it took to complete the index.
struct FillCost {
    cpu: Duration,
    /// The most memory that no file backs.
    own_memory: u64,
    /// The most resident memory, with the files of the index that are mapped.
    resident: u64,
}

impl fmt::Display for FillCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [own, resident] = [self.own_memory, self.resident].map(megabytes);
        write!(f, "CPU {}, {own} of its own ({resident} resident)", time(self.cpu))
    }
}

/// Starts the server and waits until its index is complete.
async fn fill_index(
    launch: &ServerCommand,
) -> anyhow::Result<(ServerProcess, VerifyingClient, FillCost)> {
    let (server, address) = server_process::start_http(launch).await?;
    let mut client = VerifyingClient::open(address).await?;
    let (deadline, mut own_memory) = (Instant::now() + FILL_TIMEOUT, 0);
    loop {
        own_memory = own_memory.max(process_usage::own_memory(server.pid)?);
        let found = search(&mut client, "name:document_00001").await?;
        let note = found["note"].as_str().unwrap_or_default();
        if !note.contains("still indexing") {
            break;
        }
        ensure!(Instant::now() < deadline, "the index is not complete: {note}");
        sleep(POLL_INTERVAL).await;
    }
    let cpu = process_usage::fine_cpu(server.pid)?;
    let resident = process_usage::peak_memory(server.pid)?;
    Ok((server, client, FillCost { cpu, own_memory, resident }))
}

struct QueryCost {
    p95: Duration,
    median: Duration,
}

/// Asks for words of the documents; each query has other ones.
async fn ask_index(
    server: &ServerProcess,
    client: &mut VerifyingClient,
    documents: usize,
) -> anyhow::Result<QueryCost> {
    let mut costs = Vec::new();
    for number in 0..QUERIES {
        let (query, name) = document_set::query(number, documents);
        // Not `fine_cpu`: once a thread has ended, it counts in hundredths of a second.
        let before = process_usage::live_cpu(server.pid)?;
        let found = search(client, &query).await?;
        costs.push(process_usage::live_cpu(server.pid)?.saturating_sub(before));
        let hits = found["hits"].as_array().map_or(0, Vec::len);
        ensure!(hits > 0, "nothing is found for {query:?}, which is in {name}");
        ensure!(number > 0 || found.to_string().contains(&name), "{query:?} does not find {name}");
    }
    costs.sort_unstable();
    Ok(QueryCost { p95: percentile(&costs, 95), median: percentile(&costs, 50) })
}

async fn search(client: &mut VerifyingClient, query: &str) -> anyhow::Result<Value> {
    let request = BenchRequest::call("resources_search", &json!({ "query": query }));
    let answer = client.request(&request).await?;
    let mut answer: Value = serde_json::from_slice(&answer).context("decode a response")?;
    let result = &mut answer["result"];
    ensure!(result["isError"] != json!(true), "the search failed: {result}");
    Ok(result["structuredContent"].take())
}

/// The bytes of the index once its merges have ended: until then, it has the old files and the new.
async fn settled_bytes(folder: &Path) -> anyhow::Result<u64> {
    let (deadline, mut bytes) = (Instant::now() + FILL_TIMEOUT, folder_bytes(folder)?);
    loop {
        sleep(SETTLE_TIME).await;
        let before = std::mem::replace(&mut bytes, folder_bytes(folder)?);
        if bytes == before {
            return Ok(bytes);
        }
        ensure!(Instant::now() < deadline, "the index still merges its files");
    }
}

/// The bytes of all files in a folder and the folders in it.
fn folder_bytes(folder: &Path) -> anyhow::Result<u64> {
    let (mut bytes, mut folders): (u64, Vec<PathBuf>) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).context("list a folder")? {
            let entry = entry.context("list a folder")?;
            match entry.file_type().context("look at a file")?.is_dir() {
                true => folders.push(entry.path()),
                // The index removes files while it works.
                false => bytes += entry.metadata().map_or(0, |metadata| metadata.len()),
            }
        }
    }
    Ok(bytes)
}
