//! Tests of what both file APIs must agree on.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::{DirHandle, FileApi, is_not_found};
use crate::fs::stamp::FileKind;

const BOTH: [FileApi; 2] = [FileApi::Native, FileApi::Portable];

/// A folder with one entry of each kind.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "content").unwrap();
    let old = File::create(at("old")).unwrap();
    old.set_modified(UNIX_EPOCH - Duration::from_millis(1_500)).unwrap();
    fs::create_dir(at("folder")).unwrap();
    symlink("/nowhere/at all", at("link")).unwrap();
    symlink("folder", at("to-folder")).unwrap();
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    folder
}

fn names_of(folder: &DirHandle) -> BTreeMap<Vec<u8>, FileKind> {
    let mut names = BTreeMap::new();
    let visited = folder.visit_names(|name, kind| {
        let kind = kind.unwrap_or_else(|| folder.stat_child(name).unwrap().kind);
        names.insert(name.to_vec(), kind);
        Ok(ControlFlow::Continue(()))
    });
    visited.unwrap();
    names
}

fn has_no(done: io::Result<()>) -> bool {
    done.is_err_and(|error| is_not_found(&error))
}

#[test]
fn both_file_apis_see_the_same() {
    let folder = folder();
    let [native, portable] = BOTH.map(|api| api.open_root(folder.path()).unwrap());
    assert_eq!(names_of(&native), names_of(&portable));
    assert_eq!(names_of(&native).len(), 6);
    assert_eq!(native.stat().unwrap(), portable.stat().unwrap());
    for name in names_of(&native).keys() {
        assert_eq!(native.stat_child(name).unwrap(), portable.stat_child(name).unwrap());
    }
    for path in ["file", "old", "folder", "to-folder", "pipe", ""] {
        let [native, portable] = BOTH.map(|api| api.stat(&folder.path().join(path)).unwrap());
        assert_eq!(native, portable, "{path}");
    }
    let [native, portable] = BOTH.map(|api| api.stat(Path::new("/")).unwrap());
    assert_eq!(native, portable);
}

#[test]
fn both_file_apis_open_files_and_folders_only_and_follow_no_link() {
    let folder = folder();
    for root in BOTH.map(|api| api.open_root(folder.path()).unwrap()) {
        assert_eq!(root.read_link(b"link").unwrap(), b"/nowhere/at all");
        assert!(root.open_folder(b"folder").is_ok() && root.open_file(b"file").is_ok());
        for name in ["link", "to-folder", "pipe", "file", "none", "folder/..", "..", "/", "/etc"] {
            let opened = root.open_folder(name.as_bytes()).map(drop);
            // The native one is asked for single names alone.
            assert!(has_no(opened) || matches!(root, DirHandle::Linux(_)), "{name}");
        }
        for name in ["link", "to-folder", "pipe", "folder", "none"] {
            assert!(has_no(root.open_file(name.as_bytes()).map(drop)), "{name}");
        }
    }
}

#[test]
fn both_file_apis_read_any_part_and_know_a_file_without_a_name() {
    let folder = folder();
    for root in BOTH.map(|api| api.open_root(folder.path()).unwrap()) {
        fs::write(folder.path().join("file"), "content").unwrap();
        let (file, stamp) = root.open_file(b"file").unwrap();
        let mut bytes = b"> ".to_vec();
        file.read_at(3, 3, &mut bytes).unwrap();
        file.read_at(0, 2, &mut bytes).unwrap();
        file.read_at(5, 100, &mut bytes).unwrap();
        file.read_at(100, 1, &mut bytes).unwrap();
        assert_eq!(bytes, b"> tencont");
        assert!(stamp.has_content_of(&file.stat().unwrap()) && !file.stat().unwrap().is_unlinked);
        fs::remove_file(folder.path().join("file")).unwrap();
        assert!(stamp.has_content_of(&file.stat().unwrap()) && file.stat().unwrap().is_unlinked);
    }
}
