//! Test that memory does not grow with the size of a read.

use std::fs;
use std::io::Write;

use serde_json::json;

use crate::program::{HttpProgram, project};

/// Peak memory of a process in bytes.
pub(crate) fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn a_large_file_passes_through_in_pieces() {
    const SIZE: usize = 96 << 20;
    let folder = project();
    let mut file = fs::File::create(folder.path().join("project/large.txt")).unwrap();
    let line = "0123456789abcdef \"日本語\" \\ 0123456789abcdef\n".as_bytes();
    let mut written = 0;
    for block in std::iter::repeat_n(line.repeat(1 << 12), SIZE / (line.len() << 12)) {
        file.write_all(&block).unwrap();
        written += block.len();
    }
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
