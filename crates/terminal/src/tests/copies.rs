//! `cp`: what is copied again, and where a copy that was interrupted goes on.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::Parser as _;
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

use super::servers::{Desk, Stranger};
use super::{CommandLine, CommandRun, OneServer, PATIENCE, run};

const MIB: usize = 1 << 20;

/// A blob of so many windows, none like another.
fn content(windows: usize) -> Vec<u8> {
    (0..windows * MIB).map(|at| (at / MIB * 31 + at % 251) as u8).collect()
}

fn desk(bytes: &[u8]) -> Arc<Desk> {
    let memory = MemoryProvider::new()
        .collection("mem:///d", &["mem:///d/large.bin", "mem:///d/small.txt"])
        .blob("mem:///d/large.bin", bytes)
        .text("mem:///d/small.txt", "small");
    Desk::new(memory)
}

async fn copy(desk: &Arc<Desk>, folder: &Path) -> CommandRun {
    run(desk, &["cp", "-r", "mem:///d", folder.to_str().unwrap()]).await
}

/// Runs a copy and ends it, as Ctrl-C does, when the server has been asked for `reads` windows.
async fn interrupt(desk: &Arc<Desk>, folder: &Path, reads: usize) {
    let words = ["refdesk", "cp", "-r", "mem:///d", folder.to_str().unwrap()];
    let line = CommandLine::try_parse_from(words).unwrap();
    let resolver = OneServer(Arc::clone(desk) as _);
    let first = desk.memory.counts().reads();
    let has_read = async {
        while desk.memory.counts().reads() < first + reads {
            tokio::task::yield_now().await;
        }
    };
    let ended = async {
        tokio::select! {
            ended = crate::run(&line.command, &resolver) => panic!("{ended:?}"),
            () = has_read => {}
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_copy_that_was_interrupted_goes_on_in_the_middle_of_a_file() {
    let (bytes, folder) = (content(6), tempfile::tempdir().unwrap());
    let desk = desk(&bytes);
    interrupt(&desk, folder.path(), 5).await;
    assert_eq!(names(folder.path()), [".refdesk-copy", "large.bin.refdesk-part"]);
    let before = desk.memory.counts().reads();
    let seen = copy(&desk, folder.path()).await;
    assert_eq!(seen.status(), 0, "{:?}", seen.ended);
    assert_eq!(fs::read(folder.path().join("large.bin")).unwrap(), bytes);
    assert_eq!(names(folder.path()), ["large.bin", "small.txt"]);
    let reads = desk.memory.counts().reads() - before;
    assert!(reads <= 4, "{reads} reads for the rest of six windows and a small file");
}

#[tokio::test]
async fn a_part_of_another_version_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let desk = desk(&content(4));
    interrupt(&desk, folder.path(), 3).await;
    let new = vec![7; 3 * MIB + 1];
    desk.memory.write_blob("mem:///d/large.bin", &new);
    assert_eq!(copy(&desk, folder.path()).await.status(), 0);
    assert_eq!(fs::read(folder.path().join("large.bin")).unwrap(), new);
    assert_eq!(names(folder.path()), ["large.bin", "small.txt"]);
}

#[tokio::test]
async fn a_resource_that_cannot_be_read_leaves_no_part_and_the_others_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let desk = desk(&content(1));
    let uri = resource::Uri::parse("mem:///d/large.bin").unwrap();
    let fault = Fault::Fails(resource::ErrorKind::Internal);
    desk.memory.inject_fault(FaultPoint::Read(uri), fault);
    let seen = copy(&desk, folder.path()).await;
    assert_eq!(seen.status(), 1);
    assert_eq!(names(folder.path()), ["small.txt"]);
    assert!(seen.told.iter().any(|words| words.contains("mem:///d/large.bin")), "{:?}", seen.told);
    desk.memory.clear_faults();
    let seen = copy(&desk, folder.path()).await;
    assert_eq!(seen.told, ["copied 1 (1.0M), 1 were there"]);
}

#[tokio::test]
async fn a_time_tells_whether_a_resource_without_a_size_is_there() {
    let at = SystemTime::now() - Duration::from_secs(1_000);
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().to_str().unwrap().to_owned();
    let stamp = |time: SystemTime| humantime::format_rfc3339_millis(time).to_string();
    let stranger = |time: SystemTime| {
        Stranger::new(move |method, params| match method {
            "resources/list" => serde_json::json!({ "resources": [{
                "uri": "a://h/x", "name": "x", "annotations": { "lastModified": stamp(time) },
            }] }),
            _ => serde_json::json!({ "contents": [{ "uri": params["uri"], "text": "x" }] }),
        })
    };
    let words = ["cp", "-r", "a://h", target.as_str()];
    assert_eq!(run(&stranger(at), &words).await.told, ["copied 1 (1)"]);
    assert_eq!(run(&stranger(at), &words).await.told, ["copied 0 (0), 1 were there"]);
    let later = at + Duration::from_secs(500);
    assert_eq!(run(&stranger(later), &words).await.told, ["copied 1 (1)"]);
}

#[tokio::test]
async fn what_tells_nothing_is_copied_again_unless_a_copy_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().to_str().unwrap().to_owned();
    let uris = ["a://h/x", "a://h/y"];
    let words = ["cp", "-r", "a://h", target.as_str()];
    let whole = Stranger::listing(&uris);
    assert_eq!(run(&whole, &words).await.told, ["copied 2 (14)"]);
    assert_eq!(run(&whole, &words).await.told, ["copied 2 (14)"]);
    assert_eq!(names(folder.path()), ["x", "y"]);
    // This one gives nothing for the second, so that the copy is not whole.
    let listing = Stranger::listing(&uris);
    let half = Stranger::new(move |method, params| match params["uri"].as_str() {
        Some("a://h/y") => serde_json::json!({ "contents": "none" }),
        _ => listing.result(method, params),
    });
    assert_eq!(run(&half, &words).await.status(), 1);
    assert_eq!(names(folder.path()), [".refdesk-copy", "x", "y"]);
    assert_eq!(run(&whole, &words).await.told, ["copied 1 (7), 1 were there"]);
    assert_eq!(names(folder.path()), ["x", "y"]);
}
