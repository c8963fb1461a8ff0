//! Test helper: runs a test in a process with a low limit on open files.

use std::fs::{self, File};
use std::process::Command;

/// The limit on open files in that process.
const ROOM: usize = 99;

/// Runs the test `name` in its own process with a low limit on open files. True inside it.
pub(crate) fn in_limited_process(name: &str) -> bool {
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let room = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    if room.split_whitespace().next() == Some(&ROOM.to_string()) {
        return true;
    }
    let script = format!("ulimit -n {ROOM} && exec \"$0\" --exact \"$1\" --nocapture");
    let program = fs::read_link("/proc/self/exe").unwrap();
    let output = Command::new("sh").arg("-c").arg(script).arg(program).arg(name).output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && words.contains("1 passed"), "{words}{errors}");
    false
}

/// Uses up all file descriptors until the result is dropped.
pub(crate) fn exhaust_descriptors() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}
