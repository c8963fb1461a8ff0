//! The 32-byte key that signs cursors.
//!
//! The key is stored per user, so a cursor stays valid across restarts and in other processes of
//! the same user. Several servers of a team share one key with `[server] secret`.

use anyhow::Context;

use crate::state_file::{read_or_write, state_folder};

/// Name of the key's file in the state folder.
const FILE_NAME: &str = "cursor.key";

/// The key from the settings, else the user's stored key, else a random one for this process.
pub(crate) fn load_cursor_key(secret: Option<&str>) -> anyhow::Result<[u8; 32]> {
    if let Some(secret) = secret {
        return Ok(blake3::derive_key("refdesk 2026 cursors", secret.as_bytes()));
    }
    let mut fresh = [0; 32];
    getrandom::fill(&mut fresh).context("the operating system returned no random bytes")?;
    Ok(read_or_store(fresh).unwrap_or(fresh))
}

/// Reads the stored key; stores `fresh` if there is none yet. `None` if neither is possible.
fn read_or_store(fresh: [u8; 32]) -> Option<[u8; 32]> {
    let folder = state_folder()?;
    let kept = read_or_write(&folder, FILE_NAME, &fresh);
    let kept = kept.inspect_err(|error| {
        let file = folder.join(FILE_NAME);
        let file = file.display();
        tracing::warn!("{file} cannot be used: {error}; cursors will end with this process");
    });
    kept.ok()?.try_into().ok()
}
