//! Limit of open files: raised as far as the connections need, or the connections fitted to it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::Limits;

/// Makes sure that the connections take at most half of the files that the process may open. Else
/// silent connections would use up all of them, and no file could be read any more.
pub(crate) fn fit_connections(limits: Limits) -> Limits {
    // A quarter more may wait for a place.
    let needed = (limits.connections as u64).saturating_mul(5) / 2;
    let before = getrlimit(Resource::Nofile);
    let allowed = before.maximum.unwrap_or(u64::MAX).min(needed);
    if before.current.is_some_and(|current| current < allowed) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), ..before });
    }
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let fitting = usize::try_from(files / 5 * 2).unwrap_or(usize::MAX).max(1);
    if fitting >= limits.connections {
        return limits;
    }
    tracing::warn!(
        files,
        "the process may open too few files for {} connections, so it serves {fitting}; raise the \
         limit (ulimit -n) or lower max_connections",
        limits.connections
    );
    Limits { connections: fitting, ..limits }
}
