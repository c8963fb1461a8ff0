//! Audit log: one line of JSON per request, written by a thread of its own, rotated by size.
//!
//! A request never waits for the disk. Lines that the disk does not take, or takes too slowly, are
//! dropped, counted and logged.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use redaction::{Redactor, Syntax};
use resource::uri;
use serde_json::json;
use server::{AuditRecord, AuditSink};

use crate::rotating_file::RotatingFile;

/// Lines that may wait for the disk.
const QUEUE: usize = 4096;

/// The shortest time between two messages about dropped lines.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// An open audit log. Dropping it writes what is queued.
#[derive(Debug)]
pub(crate) struct AuditLog {
    queue: Option<SyncSender<(SystemTime, AuditRecord)>>,
    dropped: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

impl AuditLog {
    /// Opens the log, whose files have at most about `max_size` bytes, and starts its writer. It
    /// keeps the `keep` latest full files beside the current one.
    pub(crate) fn open(path: PathBuf, max_size: u64, keep: u16) -> anyhow::Result<Self> {
        let shown = path.display().to_string();
        let file = RotatingFile::open(path, max_size, keep)
            .with_context(|| format!("cannot write the audit log {shown}"))?;
        let (queue, records) = mpsc::sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&dropped);
        let writer = thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || write_records(&records, file, &count))?;
        Ok(Self { queue: Some(queue), dropped, writer: Some(writer) })
    }
}

impl AuditSink for AuditLog {
    fn record(&self, record: AuditRecord) {
        let line = (SystemTime::now(), record);
        let is_queued = self.queue.as_ref().is_some_and(|queue| queue.try_send(line).is_ok());
        if !is_queued {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write_records(
    records: &Receiver<(SystemTime, AuditRecord)>,
    mut file: RotatingFile,
    dropped: &AtomicU64,
) {
    let mut warned = None;
    let mut warn = |failure: Option<io::Error>| {
        let is_due = warned.is_none_or(|at: SystemTime| {
            at.elapsed().is_ok_and(|elapsed| elapsed >= WARNING_INTERVAL)
        });
        let lines = if is_due { dropped.swap(0, Ordering::Relaxed) } else { 0 };
        if lines > 0 {
            warned = Some(SystemTime::now());
            let cause = failure.map_or("it is slow".to_owned(), |error| error.to_string());
            tracing::warn!(
                "the audit log cannot be written: {cause}; {lines} lines are lost, and requests go on"
            );
        }
    };
    while let Ok((time, record)) = records.recv() {
        let written = file.write_line(format_line(time, &record).as_bytes());
        if written.is_err() {
            dropped.fetch_add(1, Ordering::Relaxed);
        }
        warn(written.err());
    }
    warn(None);
}

/// Masks a secret in a URI that a client sent: a log keeps it longer than the client does.
pub(crate) fn mask_target(target: &str) -> Cow<'_, str> {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);
    let decoded = uri::percent_decode(target);
    let decoded = String::from_utf8_lossy(&decoded);
    match REDACTOR.mask(&decoded, Syntax::Text) {
        Cow::Owned(masked) => Cow::Owned(masked),
        Cow::Borrowed(_) => Cow::Borrowed(target),
    }
}

fn format_line(time: SystemTime, record: &AuditRecord) -> String {
    let AuditRecord { principal, is_encrypted, method, status, error, bytes, .. } = record;
    let target = record.target.as_deref().map(mask_target);
    let resources: Vec<_> = record.resources.iter().map(|uri| mask_target(uri)).collect();
    let peer = match (&record.http_method, record.peer) {
        (None, _) => "stdio".to_owned(),
        (Some(_), None) => "unix".to_owned(),
        (Some(_), Some(peer)) => peer.to_string(),
    };
    let outcome = match (status, error) {
        (0, _) => "cancelled",
        (200..300, None) if !record.has_failed_tool => "ok",
        (401 | 403, _) => "refused",
        _ => "error",
    };
    let mut line = json!({
        "time": humantime::format_rfc3339_millis(time).to_string(),
        "principal": principal.as_deref(),
        "peer": peer,
        "tls": is_encrypted,
        "method": method,
        "target": target,
        "outcome": outcome,
        "status": record.http_method.as_ref().map(|_| status),
        "code": error,
        "bytes": bytes,
    });
    if !resources.is_empty() {
        line["resources"] = json!(resources);
    }
    format!("{line}\n")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::time::Duration;

    use server::{AuditRecord, AuditSink};

    use super::AuditLog;

    fn record(target: &str) -> AuditRecord {
        AuditRecord {
            principal: Some("ada".into()),
            peer: Some([192, 0, 2, 1].into()),
            is_encrypted: true,
            http_method: Some("POST".to_owned()),
            client: None,
            revision: None,
            method: Some("m".to_owned()),
            target: Some(target.to_owned()),
            resources: Vec::new(),
            status: 200,
            error: None,
            has_failed_tool: false,
            bytes: 7,
            elapsed: Duration::ZERO,
        }
    }

    #[test]
    fn files_are_rotated_by_size_and_only_so_many_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let log = AuditLog::open(path.clone(), 4096, 2).unwrap();
        for _ in 0..100 {
            log.record(record(&"x".repeat(100)));
        }
        drop(log);
        let size = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
        assert!((1..=4096).contains(&size("audit.log")));
        assert!(size("audit.log.1") <= 4096 && size("audit.log.2") <= 4096);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["principal"], &line["outcome"]), (&"ada".into(), &"ok".into()));
        }
    }

    /// `/dev/full` is a disk that is always full.
    #[test]
    fn a_full_disk_loses_lines_and_nothing_else() {
        let log = AuditLog::open(PathBuf::from("/dev/full"), 4096, 1).unwrap();
        for _ in 0..10_000 {
            log.record(record("x"));
        }
        drop(log);
    }

    #[test]
    fn a_file_that_cannot_be_written_stops_the_start() {
        let error = AuditLog::open(PathBuf::from("/nowhere/audit.log"), 4096, 1).unwrap_err();
        assert!(error.to_string().contains("cannot write the audit log /nowhere/audit.log"));
    }
}
