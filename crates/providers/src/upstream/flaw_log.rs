//! Log of the flaws in a server's lists, each once.

use std::collections::HashSet;

use client::DecodedPage;
use parking_lot::Mutex;

/// How many remarks are logged.
const MAX_REMARKS: usize = 64;

/// The flaws of one server that are already in the log.
pub(super) struct FlawLog {
    /// What the log calls the server.
    server: String,
    logged: Mutex<LoggedFlaws>,
}

#[derive(Default)]
struct LoggedFlaws {
    has_skipped: bool,
    has_contradictory: bool,
    remarks: HashSet<String>,
}

impl FlawLog {
    /// A log with nothing in it, of the server that the log calls `server`.
    pub(super) fn new(server: String) -> Self {
        Self { server, logged: Mutex::default() }
    }

    /// Logs what is wrong with a page, unless it was logged before.
    pub(super) fn record<T>(&self, page: &DecodedPage<T>) {
        let server = &self.server;
        {
            let mut logged = self.logged.lock();
            let (skipped, contradictory) = (page.skipped, page.contradictory);
            if skipped > 0 && !std::mem::replace(&mut logged.has_skipped, true) {
                tracing::warn!("{server}: {skipped} invalid entries of a list are left out");
            }
            if contradictory > 0 && !std::mem::replace(&mut logged.has_contradictory, true) {
                tracing::warn!("{server}: {contradictory} entries of a list contradict themselves");
            }
        }
        page.remarks.iter().for_each(|remark| self.remark(remark));
    }

    /// Logs why an entry was left out.
    pub(super) fn remark(&self, remark: &str) {
        if self.is_new(remark) {
            tracing::warn!("{}: an entry of a list is left out: {remark}", self.server);
        }
    }

    /// Logs that a list was cut, and why.
    pub(super) fn record_cut(&self, why: &str) {
        if self.is_new(why) {
            tracing::warn!("{}: {why}", self.server);
        }
    }

    fn is_new(&self, remark: &str) -> bool {
        let remarks = &mut self.logged.lock().remarks;
        remarks.len() < MAX_REMARKS && remarks.insert(remark.to_owned())
    }
}
