//! What happens when somebody edits the settings while they are served?
//!
//! What did not change goes on; what is new is mounted, what is gone is not, and whoever listens
//! hears of it. An edit that is not in order changes nothing, and the log says why.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use server::Watchers;

use crate::args::Source;
use crate::assemble::{Assembly, Made, assemble};
use crate::settings::Settings;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_millis(500);

/// What tells one version of a file from another.
type Stamp = Option<(u64, i64, i64, u64)>;

/// Keeps what is served as the settings say, for as long as it runs.
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
                    tracing::warn!("what [server] says takes a restart");
                    server = settings.server;
                }
                tracing::info!(mounts = fresh.made.len(), "the settings were read again");
                assembly.catalog.replace(fresh.catalog.mounts().to_vec());
                made = fresh.made;
                for made in made.clone() {
                    tokio::spawn(async move { made.reach().await });
                }
            }
            Err(error) => {
                tracing::error!("the settings were changed, and are not in order: {error:#}");
            }
        }
    }
}

/// What the settings amount to now; mounts of which they say the same are the same.
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
