//! Test that memory does not grow with the size of a read.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::program::{HttpProgram, project};

/// Peak memory of a process in bytes.
pub(crate) fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Writes lines of text; returns the file and how long it is, about `size`.
fn write_large(path: &Path, size: usize) -> (fs::File, usize) {
    let mut file = fs::File::create(path).unwrap();
    let line = "0123456789abcdef \"日本語\" \\ 0123456789abcdef\n".as_bytes();
    let mut written = 0;
    for block in std::iter::repeat_n(line.repeat(1 << 12), size / (line.len() << 12)) {
        file.write_all(&block).unwrap();
        written += block.len();
    }
    (file, written)
}

#[test]
fn a_large_file_passes_through_in_pieces() {
    let folder = project();
    let (_, written) = write_large(&folder.path().join("project/large.txt"), 96 << 20);
    let mut blob = fs::File::create(folder.path().join("project/large.bin")).unwrap();
    for _ in 0..written / (1 << 20) {
        blob.write_all(&[0; 1 << 20]).unwrap();
    }
    let settings = "[search]\nenabled = false\n[mounts.project]\nkind = \"fs\"\npath = \"project\"\n\
        max_read = \"200 MiB\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let listening = HttpProgram::start(folder.path(), &[]);
    let small = json!({ "uri": "file:///project/README.md" });
    listening.stream_response("resources/read", small, |_| {});
    let before = peak(listening.child.id());
    for (name, least) in [("large.txt", written), ("large.bin", written * 4 / 3 - (2 << 20))] {
        let mut received = 0;
        let uri = json!({ "uri": format!("file:///project/{name}") });
        listening.stream_response("resources/read", uri, |chunk| received += chunk.len());
        assert!(received > least, "{name}: {received} of {least} bytes came");
    }
    let grown = peak(listening.child.id()) - before;
    assert!(grown < 24 << 20, "memory grew by {grown} bytes for {written} bytes read");
}

#[test]
fn a_large_file_is_masked_as_it_passes_through_in_pieces() {
    let folder = project();
    let (mut file, written) = write_large(&folder.path().join("project/large.txt"), 32 << 20);
    // In two pieces, so that no scanner takes this file for a leak.
    let token = ["AKIA", "QYLPMN5HFIQR7XYB"].concat();
    writeln!(file, "the key {token} is near the end").unwrap();
    drop(file);
    let settings = "[search]\nenabled = false\n[mounts.project]\nkind = \"fs\"\npath = \"project\"\n\
        max_read = \"200 MiB\"\nredact = true\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let listening = HttpProgram::start(folder.path(), &[]);
    let small = json!({ "uri": "file:///project/README.md" });
    listening.stream_response("resources/read", small, |_| {});
    let before = peak(listening.child.id());
    let (mut received, mut tail) = (0, Vec::new());
    let large = json!({ "uri": "file:///project/large.txt" });
    listening.stream_response("resources/read", large, |chunk| {
        received += chunk.len();
        tail.extend_from_slice(chunk);
        tail.drain(..tail.len().saturating_sub(4 << 10));
    });
    assert!(received > written, "{received} of {written} bytes came");
    let tail = String::from_utf8_lossy(&tail);
    assert!(tail.contains("the key [redacted aws-") && tail.contains("is near the end"), "{tail}");
    assert!(!tail.contains(&token), "{tail}");
    let window = json!({ "offset": written - 10, "length": 60 });
    let end =
        json!({ "uri": "file:///project/large.txt", "_meta": { "dev.refdesk/window": window } });
    let mut part = Vec::new();
    listening.stream_response("resources/read", end, |chunk| part.extend_from_slice(chunk));
    let part = String::from_utf8_lossy(&part);
    assert!(part.contains("the key [redacted aws-"), "{part}");
    let grown = peak(listening.child.id()) - before;
    assert!(grown < 12 << 20, "memory grew by {grown} bytes for {written} bytes read");
}

#[test]
fn a_window_of_a_large_file_in_history_holds_no_more_than_itself() {
    const SIZE: u64 = 256 << 20;
    let folder = project();
    let app = folder.path().join("project");
    let mut file = fs::File::create(app.join("large.bin")).unwrap();
    file.set_len(SIZE).unwrap();
    file.seek(SeekFrom::Start(SIZE / 2)).unwrap();
    file.write_all(b"needle").unwrap();
    for arguments in [
        &["init", "-q"][..],
        &["-c", "core.compression=1", "add", "large.bin"],
        &["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "large"],
    ] {
        let git = Command::new("git").args(arguments).current_dir(&app).status().unwrap();
        assert!(git.success(), "{arguments:?}");
    }
    let settings = "[search]\nenabled = false\n[mounts.past]\nkind = \"git\"\npath = \"project\"\n";
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let listening = HttpProgram::start(folder.path(), &[]);
    let status = json!({ "uri": "git://past/status" });
    listening.stream_response("resources/read", status, |_| {});
    let before = peak(listening.child.id());
    let window = json!({ "offset": SIZE / 2, "length": 4096 });
    let uri = json!({
        "uri": "git://past/HEAD/large.bin",
        "_meta": { "dev.refdesk/window": window },
    });
    let mut received = Vec::new();
    listening.stream_response("resources/read", uri, |chunk| received.extend_from_slice(chunk));
    let received = String::from_utf8(received).unwrap();
    // `needle` in base64.
    assert!(received.contains("\"bmVlZGxl"), "{received}");
    let grown = peak(listening.child.id()) - before;
    assert!(grown < 16 << 20, "memory grew by {grown} bytes for a window of {SIZE} bytes");
}
