//! Log of the flaws in a server's lists, each once.

use std::collections::HashSet;

use client::DecodedPage;
use parking_lot::Mutex;

/// How many remarks are logged.
const MAX_REMARKS: usize = 64;

/// The flaws that are already in the log.
#[derive(Default)]
pub(super) struct FlawLog(Mutex<LoggedFlaws>);

#[derive(Default)]
struct LoggedFlaws {
    has_invalid_entries: bool,
    remarks: HashSet<String>,
}

impl FlawLog {
    /// Logs what is wrong with a page, unless it was logged before.
    pub(super) fn record<T>(&self, page: &DecodedPage<T>) {
        let (left_out, contradictory) = (page.skipped, page.contradictory);
        if left_out + contradictory > 0
            && !std::mem::replace(&mut self.0.lock().has_invalid_entries, true)
        {
            tracing::warn!(left_out, contradictory, "a server lists invalid entries");
        }
        page.remarks.iter().for_each(|remark| self.remark(remark));
    }

    /// Logs why an entry was left out.
    pub(super) fn remark(&self, remark: &str) {
        let remarks = &mut self.0.lock().remarks;
        if remarks.len() < MAX_REMARKS && remarks.insert(remark.to_owned()) {
            tracing::warn!(remark, "left out an entry of a server's list");
        }
    }
}
