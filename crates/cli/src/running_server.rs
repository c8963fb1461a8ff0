//! The servers of this user that run now: where each listens, and from which folder it was started.
//!
//! Each server keeps a locked file in the state folder. The kernel releases the lock when the
//! process ends, however it ends, so a file without a lock is a leftover.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::state_file::{replace_file, state_folder};

/// Most bytes of such a file.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// A server that runs now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunningServer {
    pub(crate) url: String,
    /// The folder in which it was started.
    pub(crate) folder: PathBuf,
    /// The folders that it serves: what their URIs begin with, and where they are.
    #[serde(default)]
    pub(crate) folders: Vec<(String, PathBuf)>,
    #[serde(default)]
    pub(crate) process: i32,
    /// Whether its clients need a token.
    #[serde(default)]
    pub(crate) wants_token: bool,
}

/// Announces a server until it is dropped.
pub(crate) struct Announcement {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl RunningServer {
    /// Announces a server at `url`. Without a writable state folder, commands do not find it.
    pub(crate) fn announce(
        url: &str,
        folders: Vec<(String, PathBuf)>,
        wants_token: bool,
    ) -> Option<Announcement> {
        let folder = std::env::current_dir().ok()?;
        let process = rustix::process::getpid().as_raw_nonzero().get();
        let running = Self { url: url.to_owned(), folder, folders, process, wants_token };
        let announced = announce_in(&servers_folder()?, &running);
        announced.inspect_err(|error| tracing::debug!(%error, "the server is not announced")).ok()
    }

    /// All servers that run now, in a fixed order.
    pub(crate) fn find_all() -> Vec<Self> {
        servers_folder().map_or_else(Vec::new, |folder| find_in(&folder))
    }
}

fn servers_folder() -> Option<PathBuf> {
    Some(state_folder()?.join("servers"))
}

fn announce_in(folder: &Path, running: &RunningServer) -> anyhow::Result<Announcement> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{}.json", std::process::id()));
    replace_file(&path, &serde_json::to_vec(running)?)?;
    let file = File::open(&path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(Announcement { path, _file: file })
}

fn find_in(folder: &Path) -> Vec<RunningServer> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().filter_map(|path| read_locked(path)).collect()
}

/// The server of a file that a process holds locked.
fn read_locked(path: &Path) -> Option<RunningServer> {
    let file = File::open(path).ok()?;
    if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
        // Left by a process that was killed.
        let _ = fs::remove_file(path);
        return None;
    }
    let mut content = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut content).ok()?;
    serde_json::from_slice(&content).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{RunningServer, announce_in, find_in};

    #[test]
    fn a_server_is_found_while_it_runs_and_a_leftover_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let running = RunningServer {
            url: "http://127.0.0.1:1/mcp".to_owned(),
            folder: "/a".into(),
            folders: Vec::new(),
            process: 1,
            wants_token: false,
        };
        fs::write(folder.path().join("1.json"), serde_json::to_vec(&running).unwrap()).unwrap();
        assert_eq!(find_in(folder.path()), []);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let announcement = announce_in(folder.path(), &running).unwrap();
        assert_eq!(find_in(folder.path()), [running]);
        drop(announcement);
        assert_eq!(find_in(folder.path()), []);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
