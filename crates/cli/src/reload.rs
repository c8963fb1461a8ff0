//! Live reload of the settings files and the TLS files, detected by polling.
//!
//! Unchanged mounts keep running, new ones are mounted, removed ones are unmounted, and the
//! catalog notifies subscribers. Invalid settings change nothing and are logged. Files are read and
//! mounts are built on a blocking thread: a slow disk delays no client.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;

use crate::access::Access;
use crate::args::{ServeArgs, SourceArgs};
use crate::assemble::{Assembly, BuiltMount, assemble};
use crate::search_index::Searching;
use crate::settings::{Diagnostic, Settings};

/// Polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Size, modification time and inode: identifies one version of a file.
type SettingsFileStamp = Option<(u64, i64, i64, u64)>;

/// Polls the settings files and applies each valid change. Never returns.
pub(crate) async fn watch_settings(
    args: &ServeArgs,
    settings: &Settings,
    (assembly, searching): (&Assembly, Option<&Searching>),
    access: Option<&Access>,
) {
    let files: Arc<[PathBuf]> = settings_files(&args.source, settings).into();
    // The same file again, also if it is away for a moment: the defaults would have no tokens.
    let file = settings.text.as_ref().map(|text| text.file.clone());
    let source = SourceArgs { settings: file, ..args.source.clone() };
    let args = Arc::new(ServeArgs { source, ..args.clone() });
    let tls = access.and_then(|access| access.tls.as_ref());
    let tls_files: Arc<[PathBuf]> = access.map(Access::files).unwrap_or_default().into();
    let mut tls_seen = file_stamps(&tls_files);
    let mut made = assembly.mounts.clone();
    let mut server = (settings.server.clone(), settings.tls.clone());
    let mut seen = file_stamps(&files);
    let mut last = seen.clone();
    if files.is_empty() && tls_files.is_empty() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let both = (Arc::clone(&files), Arc::clone(&tls_files));
        let stamps = spawn_blocking(move || (file_stamps(&both.0), file_stamps(&both.1)));
        let Ok((now, tls_now)) = stamps.await else { continue };
        if let Some(tls) = tls.filter(|_| tls_now != tls_seen) {
            tls_seen = tls_now;
            tls.reload();
        }
        // An editor may be in the midst of writing: an empty file would unmount everything.
        let is_settled = !is_being_written(&now) && now == last;
        last = now;
        if last == seen || !is_settled {
            continue;
        }
        seen.clone_from(&last);
        match reload(&args, &made, (assembly, searching), access).await {
            Ok((settings, fresh)) => {
                if (&settings.server, &settings.tls) != (&server.0, &server.1) {
                    tracing::warn!("changes to [server] and [tls] take effect after a restart");
                    server = (settings.server, settings.tls);
                }
                log_changes(&made, &fresh.mounts);
                assembly.catalog.replace(fresh.catalog.mounts().to_vec());
                made = fresh.mounts;
                if let Some(searching) = searching {
                    searching.keep(&made);
                }
                for made in made.clone() {
                    tokio::spawn(async move { made.connect().await });
                }
            }
            Err(error) => {
                let why = match error.downcast_ref::<Diagnostic>() {
                    Some(diagnostic) => diagnostic.one_line(),
                    None => format!("{error:#}"),
                };
                tracing::error!("the changed settings are invalid and were not applied: {why}");
            }
        }
    }
}

/// Loads the settings and builds the mounts that changed.
async fn reload(
    args: &Arc<ServeArgs>,
    built: &[BuiltMount],
    (assembly, searching): (&Assembly, Option<&Searching>),
    access: Option<&Access>,
) -> anyhow::Result<(Settings, Assembly)> {
    let args = Arc::clone(args);
    let settings = spawn_blocking(move || Settings::load_for_serving(&args)).await??;
    // Before the mounts: a folder that is gone must not keep a revoked token alive.
    if let Some(access) = access {
        access.apply(&settings);
    }
    let (built, own) = (built.to_vec(), assembly.own.clone());
    let search = searching.map(|searching| searching.parts().clone());
    let building = spawn_blocking(move || {
        let fresh = assemble(&settings, &built, &own, search.as_ref())?;
        Ok((settings, fresh))
    });
    building.await?
}

/// Logs which mounts came, went or were built again.
fn log_changes(before: &[BuiltMount], after: &[BuiltMount]) {
    let find = |mounts: &[BuiltMount], one: &BuiltMount| {
        mounts.iter().find(|other| other.summary.name == one.summary.name).cloned()
    };
    for mount in before.iter().filter(|mount| find(after, mount).is_none()) {
        tracing::info!("mount {}: removed by the settings", mount.summary.name);
    }
    for mount in after {
        match find(before, mount) {
            None => tracing::info!("mount {}: added by the settings", mount.summary.name),
            Some(known) if !known.is_same(mount) => {
                tracing::info!("mount {}: changed by the settings", mount.summary.name);
            }
            Some(_) => {}
        }
    }
}

fn settings_files(source: &SourceArgs, settings: &Settings) -> Vec<PathBuf> {
    let own = settings.text.iter().map(|text| text.file.clone());
    own.chain(source.mcp_config.iter().cloned()).collect()
}

/// Whether a file is empty, as between its truncation and the first write.
fn is_being_written(stamps: &[SettingsFileStamp]) -> bool {
    stamps.iter().flatten().any(|(size, ..)| *size == 0)
}

fn file_stamps(files: &[PathBuf]) -> Vec<SettingsFileStamp> {
    let stamp = |file: &PathBuf| {
        let data = fs::metadata(file).ok()?;
        Some((data.len(), data.mtime(), data.mtime_nsec(), data.ino()))
    };
    files.iter().map(stamp).collect()
}
