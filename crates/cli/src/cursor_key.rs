//! The 32-byte key that signs cursors.
//!
//! The key is stored per user, so a cursor stays valid across restarts and in other processes of
//! the same user. Several servers of a team share one key with `[server] secret`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use anyhow::Context;

/// The key from the settings, else the user's stored key, else a random one for this process.
pub(crate) fn load_cursor_key(secret: Option<&str>) -> anyhow::Result<[u8; 32]> {
    if let Some(secret) = secret {
        return Ok(blake3::derive_key("refdesk 2026 cursors", secret.as_bytes()));
    }
    let mut fresh = [0; 32];
    getrandom::fill(&mut fresh).context("the operating system returned no random bytes")?;
    Ok(read_or_store(fresh).unwrap_or(fresh))
}

/// Reads the stored key; stores `fresh` if there is none yet.
fn read_or_store(fresh: [u8; 32]) -> Option<[u8; 32]> {
    let folder = state_dir()?;
    let file = folder.join("cursor.key");
    fs::create_dir_all(&folder).ok()?;
    let mut options = OpenOptions::new();
    if let Ok(mut new) = options.write(true).create_new(true).mode(0o600).open(&file) {
        new.write_all(&fresh).ok()?;
    }
    let kept = fs::read(&file).ok()?.try_into().ok();
    if kept.is_none() {
        let file = file.display();
        tracing::warn!(%file, "not a 32-byte key; cursors will end with this process");
    }
    kept
}

fn state_dir() -> Option<PathBuf> {
    let given = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    given.or_else(home).map(|folder| folder.join("refdesk"))
}
