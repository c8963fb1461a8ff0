//! File descriptors: raises the process's limit, and divides it among connections and open folders.
//!
//! Connections get two fifths of the limit, those that wait for a place a tenth, and cached folders a
//! quarter, so that the rest suffices for the files that requests read.

use providers::fs::DEFAULT_OPEN_FOLDERS;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Raises the soft limit on open files to the hard one.
pub(crate) fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::info!("the limit on open files cannot be raised: {error}");
    }
}

/// Most connections, of the `wanted` ones.
pub(crate) fn max_connections(wanted: usize) -> usize {
    // A quarter more may wait for a place.
    let most = wanted.min(limit() / 5 * 2).max(1);
    if most < wanted {
        tracing::warn!(
            "the process may open too few files for {wanted} connections, so it serves {most}; \
             raise the limit (ulimit -n) or lower max_connections"
        );
    }
    most
}

/// Most folders that each of `mounts` mounts keeps open.
pub(crate) fn open_folders_per_mount(mounts: usize) -> usize {
    DEFAULT_OPEN_FOLDERS.min(limit() / 4 / mounts.max(1))
}

fn limit() -> usize {
    let soft = getrlimit(Resource::Nofile).current;
    soft.and_then(|soft| usize::try_from(soft).ok()).unwrap_or(usize::MAX)
}
