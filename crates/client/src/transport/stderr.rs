//! Stderr of a child process: drained without limit, logged in lines, its end kept for errors.
//!
//! Whatever is cut here is masked at the cut too, so that no secret appears in part.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::pending::PendingRequests;
use crate::secret_mask::SecretMask;

/// How much of the end of stderr is kept, and how much of a line is logged.
const STDERR_BYTES: usize = 4 << 10;

/// The end of a program's stderr.
#[derive(Default)]
pub(super) struct StderrTail(Mutex<Vec<u8>>);

impl StderrTail {
    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock();
        let fresh = &bytes[bytes.len().saturating_sub(STDERR_BYTES)..];
        let excess = (kept.len() + fresh.len()).saturating_sub(STDERR_BYTES);
        kept.drain(..excess);
        kept.extend_from_slice(fresh);
    }

    /// The last line that says something, without secrets: programs end with the reason.
    pub(super) fn last_line(&self, mask: &SecretMask) -> String {
        let kept = self.0.lock();
        let mut lines = kept.split(|byte| *byte == b'\n').enumerate().collect::<Vec<_>>();
        lines.retain(|(_, line)| !line.trim_ascii().is_empty());
        let Some((number, line)) = lines.last() else { return String::new() };
        let line = String::from_utf8_lossy(line);
        // The start of the first line may have been dropped.
        let is_cut = *number == 0 && kept.len() == STDERR_BYTES;
        let masked = if is_cut { mask.apply_cut_start(&line) } else { mask.apply(&line).into() };
        masked.trim().to_owned()
    }
}

/// Lines of stderr, for the log.
#[derive(Default)]
struct StderrLines {
    line: Vec<u8>,
    /// How many bytes of the line are left out.
    left_out: usize,
}

impl StderrLines {
    /// Takes the next bytes, and gives each line that they complete to `log`, without secrets.
    fn push(&mut self, bytes: &[u8], mask: &SecretMask, mut log: impl FnMut(&str)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.extend(&rest[..end]);
            self.finish(mask, &mut log);
            rest = &rest[end + 1..];
        }
        self.extend(rest);
    }

    fn extend(&mut self, bytes: &[u8]) {
        let (kept, dropped) = bytes.split_at(bytes.len().min(STDERR_BYTES - self.line.len()));
        self.line.extend_from_slice(kept);
        self.left_out = self.left_out.saturating_add(dropped.len());
    }

    /// Ends the line.
    fn finish(&mut self, mask: &SecretMask, mut log: impl FnMut(&str)) {
        let said = String::from_utf8_lossy(&self.line);
        match self.left_out {
            0 => log(&mask.apply(&said)),
            more => log(&format!("{}… ({more} more bytes)", mask.apply_cut_end(&said))),
        }
        self.line.clear();
        self.left_out = 0;
    }
}

/// Drains stderr without limit; otherwise the program would block when the pipe is full.
pub(super) async fn drain_stderr(
    mut errors: impl AsyncRead + Unpin,
    tail: Arc<StderrTail>,
    pending: Arc<PendingRequests>,
) {
    let log = |said: &str| tracing::debug!(%said, "stderr");
    let mut buffer = vec![0; 16 << 10];
    let mut lines = StderrLines::default();
    while let Ok(read @ 1..) = errors.read(&mut buffer).await {
        tail.push(&buffer[..read]);
        lines.push(&buffer[..read], pending.mask(), log);
    }
    if !lines.line.is_empty() {
        lines.finish(pending.mask(), log);
    }
}

#[cfg(test)]
mod tests {
    use super::{STDERR_BYTES, StderrLines, StderrTail};
    use crate::options::ServerTarget;
    use crate::secret_mask::SecretMask;

    const SECRET: &str = "t0k3n-t0k3n";

    fn mask() -> SecretMask {
        let target = ServerTarget::Http { url: String::new(), headers: Vec::new() };
        SecretMask::new(&target, &[SECRET.to_owned()])
    }

    #[test]
    fn the_last_of_the_complaints_is_kept() {
        let complaints = StderrTail::default();
        let last_line = || complaints.last_line(&SecretMask::default());
        assert_eq!(last_line(), "");
        complaints.push(&[b'a'; 10]);
        complaints.push(&vec![b'b'; STDERR_BYTES - 5]);
        assert_eq!(last_line(), "a".repeat(5) + &"b".repeat(STDERR_BYTES - 5));
        complaints.push(&vec![b'c'; STDERR_BYTES * 3]);
        assert_eq!(last_line(), "c".repeat(STDERR_BYTES));
        complaints.push(b"\nTraceback\n  at line 1\nno such table \n\n");
        assert_eq!(last_line(), "no such table");
    }

    #[test]
    fn half_a_secret_at_the_start_of_the_last_line_is_masked() {
        for behind in STDERR_BYTES - SECRET.len()..STDERR_BYTES {
            let complaints = StderrTail::default();
            complaints.push(format!("bad {SECRET}").as_bytes());
            complaints.push(&vec![b' '; behind - 3]);
            complaints.push(b"end");
            let line = complaints.last_line(&mask());
            assert!(line.starts_with("[masked] ") && line.ends_with("end"), "{behind} {line}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_and_no_part_of_a_secret_is_logged() {
        for before in STDERR_BYTES - SECRET.len() - 2..STDERR_BYTES + 2 {
            let text = format!("{}{SECRET} and so on\nnext line\nlast", "-".repeat(before));
            for piece in [1, 7, text.len()] {
                let (mut lines, mut logged) = (StderrLines::default(), Vec::new());
                for bytes in text.as_bytes().chunks(piece) {
                    lines.push(bytes, &mask(), |said| logged.push(said.to_owned()));
                }
                let [long, next] = &logged[..] else { panic!("{logged:?}") };
                let said = long.trim_start_matches('-');
                assert!(!said.contains("t0") && said.ends_with(" more bytes)"), "{before} {said}");
                assert_eq!(next, "next line");
            }
        }
    }
}
