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

/// How many further looks see an empty file before it counts: it may be between its truncation and
/// the first write.
const EMPTY_LOOKS: usize = 5;

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
    let mut settled = SettledFiles::new(file_stamps(&files));
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
            tls.reload().await;
        }
        if !settled.has_changed(now) {
            continue;
        }
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

/// Tells changes of files that are written to the end: an editor may be in the midst of a write, and
/// half a file, or an empty one, would unmount what is served.
struct SettledFiles {
    /// What was applied.
    applied: Vec<SettingsFileStamp>,
    /// What the last look saw, and how many looks in a row saw the same.
    last: Vec<SettingsFileStamp>,
    looks: usize,
}

impl SettledFiles {
    fn new(stamps: Vec<SettingsFileStamp>) -> Self {
        Self { applied: stamps.clone(), last: stamps, looks: 0 }
    }

    /// Whether looks in a row saw the same new files. Tells each change once.
    fn has_changed(&mut self, now: Vec<SettingsFileStamp>) -> bool {
        self.looks = if now == self.last { self.looks + 1 } else { 0 };
        self.last = now;
        let is_empty = self.last.iter().flatten().any(|(size, ..)| *size == 0);
        let is_settled = self.looks >= if is_empty { EMPTY_LOOKS } else { 1 };
        let has_changed = is_settled && self.last != self.applied;
        if has_changed {
            self.applied.clone_from(&self.last);
        }
        has_changed
    }
}

fn file_stamps(files: &[PathBuf]) -> Vec<SettingsFileStamp> {
    let stamp = |file: &PathBuf| {
        let data = fs::metadata(file).ok()?;
        Some((data.len(), data.mtime(), data.mtime_nsec(), data.ino()))
    };
    files.iter().map(stamp).collect()
}

#[cfg(test)]
mod tests {
    use super::{EMPTY_LOOKS, SettledFiles};

    #[test]
    fn a_file_in_the_midst_of_a_write_is_not_applied() {
        let stamp = |size: u64, second: i64| vec![Some((size, second, 0, 1))];
        let mut files = SettledFiles::new(stamp(90, 1));
        let looks = [
            (stamp(90, 1), false),
            (stamp(0, 2), false),
            (stamp(0, 2), false),
            (stamp(40, 3), false),
            (stamp(120, 3), false),
            (stamp(120, 3), true),
            (stamp(120, 3), false),
            (vec![None], false),
            (vec![None], true),
        ];
        let emptied = (0..=EMPTY_LOOKS).map(|look| (stamp(0, 4), look == EMPTY_LOOKS));
        let looks = looks.into_iter().chain(emptied);
        for (at, (now, is_change)) in looks.enumerate() {
            assert_eq!(files.has_changed(now), is_change, "look {at}");
        }
    }
}
