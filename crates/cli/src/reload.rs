//! Live reload of the settings files and the TLS files, detected by polling.
//!
//! Unchanged mounts keep running, new ones are mounted, removed ones are unmounted, and the
//! catalog notifies subscribers. Invalid settings change nothing and are logged.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::access::Access;
use crate::args::SourceArgs;
use crate::assemble::{Assembly, assemble};
use crate::settings::Settings;

/// Polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Size, modification time and inode: identifies one version of a file.
type SettingsFileStamp = Option<(u64, i64, i64, u64)>;

/// Polls the settings files and applies each valid change. Never returns.
pub(crate) async fn watch_settings(
    source: &SourceArgs,
    settings: &Settings,
    assembly: &Assembly,
    access: Option<&Access>,
) {
    let files = settings_files(source, settings);
    // The same file again, also if it is away for a moment: the defaults would have no tokens.
    let file = settings.text.as_ref().map(|text| text.file.clone());
    let source = SourceArgs { settings: file, ..source.clone() };
    let tls = access.and_then(|access| access.tls.as_ref());
    let tls_files = access.map(Access::files).unwrap_or_default();
    let mut tls_seen = file_stamps(&tls_files);
    let mut made = assembly.mounts.clone();
    let mut server = (settings.server.clone(), settings.tls.clone());
    let mut seen = file_stamps(&files);
    if files.is_empty() && tls_files.is_empty() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let tls_now = file_stamps(&tls_files);
        if let Some(tls) = tls.filter(|_| tls_now != tls_seen) {
            tls_seen = tls_now;
            tls.reload();
        }
        let now = file_stamps(&files);
        if now == seen {
            continue;
        }
        seen = now;
        let loaded = Settings::load(&source).and_then(|settings| {
            // Before the mounts: a folder that is gone must not keep a revoked token alive.
            if let Some(access) = access {
                access.apply(&settings);
            }
            let fresh = assemble(&settings, &made, &assembly.watchers)?;
            Ok((settings, fresh))
        });
        match loaded {
            Ok((settings, fresh)) => {
                if (&settings.server, &settings.tls) != (&server.0, &server.1) {
                    tracing::warn!("changes to [server] and [tls] take effect after a restart");
                    server = (settings.server, settings.tls);
                }
                tracing::info!(mounts = fresh.mounts.len(), "settings reloaded");
                assembly.catalog.replace(fresh.catalog.mounts().to_vec());
                made = fresh.mounts;
                for made in made.clone() {
                    tokio::spawn(async move { made.connect().await });
                }
            }
            Err(error) => {
                tracing::error!("the changed settings are invalid and were not applied: {error:#}");
            }
        }
    }
}

fn settings_files(source: &SourceArgs, settings: &Settings) -> Vec<PathBuf> {
    let own = settings.text.iter().map(|text| text.file.clone());
    own.chain(source.mcp_config.iter().cloned()).collect()
}

fn file_stamps(files: &[PathBuf]) -> Vec<SettingsFileStamp> {
    let stamp = |file: &PathBuf| {
        let data = fs::metadata(file).ok()?;
        Some((data.len(), data.mtime(), data.mtime_nsec(), data.ino()))
    };
    files.iter().map(stamp).collect()
}
