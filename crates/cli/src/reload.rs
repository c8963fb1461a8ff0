//! Live reload of the settings files, detected by polling.
//!
//! Unchanged mounts keep running, new ones are mounted, removed ones are unmounted, and the
//! catalog notifies subscribers. Invalid settings change nothing and are logged.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use server::Watchers;

use crate::args::Source;
use crate::assemble::{Assembly, Made, assemble};
use crate::settings::Settings;

/// Polling interval.
const EVERY: Duration = Duration::from_millis(500);

/// Size, modification time and inode: identifies one version of a file.
type Stamp = Option<(u64, i64, i64, u64)>;

/// Polls the settings files and applies each valid change. Never returns.
pub(crate) async fn keep(source: &Source, settings: &Settings, assembly: &Assembly) {
    let files = files(source, settings);
    let mut made = assembly.made.clone();
    let mut server = settings.server.clone();
    let mut seen = stamps(&files);
    if files.is_empty() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(EVERY).await;
        let now = stamps(&files);
        if now == seen {
            continue;
        }
        seen = now;
        match again(source, &made, &assembly.watchers) {
            Ok((settings, fresh)) => {
                if settings.server != server {
                    tracing::warn!("changes to [server] take effect after a restart");
                    server = settings.server;
                }
                tracing::info!(mounts = fresh.made.len(), "settings reloaded");
                assembly.catalog.replace(fresh.catalog.mounts().to_vec());
                made = fresh.made;
                for made in made.clone() {
                    tokio::spawn(async move { made.reach().await });
                }
            }
            Err(error) => {
                tracing::error!("the changed settings are invalid and were not applied: {error:#}");
            }
        }
    }
}

/// Reads and assembles the settings again; reuses the mounts whose settings did not change.
fn again(
    source: &Source,
    made: &[Made],
    watchers: &Arc<Watchers>,
) -> anyhow::Result<(Settings, Assembly)> {
    let settings = Settings::find(source)?;
    let assembly = assemble(&settings, made, watchers)?;
    Ok((settings, assembly))
}

fn files(source: &Source, settings: &Settings) -> Vec<PathBuf> {
    let own = settings.text.iter().map(|text| text.file.clone());
    own.chain(source.mcp_config.iter().cloned()).collect()
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |file: &PathBuf| {
        let data = fs::metadata(file).ok()?;
        Some((data.len(), data.mtime(), data.mtime_nsec(), data.ino()))
    };
    files.iter().map(stamp).collect()
}
