//! The index on disk: locks, damage, other versions, folders that cannot be written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use search::IndexHome;
use testkit::MemoryProvider;

use crate::Indexed;
use crate::freshness::reopened;

fn provider() -> MemoryProvider {
    MemoryProvider::new().text("a:/1", "alpha words").text("a:/2", "beta words")
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn only_the_owner_may_read_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let index = Indexed::new(provider(), Some(&place)).await;
    assert_eq!(index.index.home(), IndexHome::Folder(place.clone()));
    assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_second_process_searches_without_writing() {
    let folder = tempfile::tempdir().unwrap();
    let first = Indexed::new(provider(), Some(folder.path())).await;
    let second = Indexed::new(provider(), Some(folder.path())).await;
    assert_eq!(second.index.home(), IndexHome::Shared(folder.path().to_owned()));
    assert_eq!(second.uris("alpha").await, ["a:/1"]);
    assert_eq!(second.provider.counts().reads(), 1, "one passage of a hit and nothing else");
    assert_eq!(first.uris("alpha").await, ["a:/1"]);
}

#[tokio::test]
async fn a_damaged_index_is_built_anew() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(provider());
    drop(Indexed::shared(Arc::clone(&shared), Some(folder.path())).await);
    let lock = fs::File::open(folder.path().join("lock")).unwrap();
    tokio::task::spawn_blocking(move || lock.lock().unwrap()).await.unwrap();
    for file in files_below(&folder.path().join("passages")) {
        let mut bytes = fs::read(&file).unwrap();
        if file.extension().is_some_and(|kind| kind == "term" || kind == "idx") && !bytes.is_empty()
        {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x55;
            fs::write(&file, bytes).unwrap();
        }
    }
    let index = Indexed::shared(shared, Some(folder.path())).await;
    index.settles("alpha", &["a:/1"]).await;
    index.settles("beta", &["a:/2"]).await;
}

#[tokio::test]
async fn an_index_of_another_version_is_built_anew() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(provider());
    drop(Indexed::shared(Arc::clone(&shared), Some(folder.path())).await);
    fs::write(folder.path().join("format"), "refdesk index 0").unwrap();
    let reads = shared.counts().reads();
    let index = reopened(&shared, folder.path()).await;
    assert_eq!(shared.counts().reads() - reads, 2);
    assert_eq!(index.uris("alpha").await, ["a:/1"]);
}

#[tokio::test]
async fn without_a_usable_folder_the_index_is_in_memory_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("file");
    fs::write(&place, "in the way").unwrap();
    let index = Indexed::new(provider(), Some(&place)).await;
    let IndexHome::Memory(reason) = index.index.home() else { panic!("{:?}", index.index.home()) };
    assert!(reason.contains("cannot be used"), "{reason}");
    assert_eq!(index.uris("alpha").await, ["a:/1"]);
}

#[tokio::test]
async fn no_text_is_kept_but_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let text = "an unusual sentence whose order nobody needs";
    let index = Indexed::new(MemoryProvider::new().text("a:/1", text), Some(folder.path())).await;
    assert_eq!(index.uris("unusual sentence").await, ["a:/1"]);
    for file in files_below(folder.path()) {
        let bytes = fs::read(&file).unwrap();
        let found = bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!found, "{}", file.display());
    }
}

#[tokio::test]
async fn an_index_that_nobody_uses_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let [old, used] = ["old", "used"].map(|name| root.path().join(name));
    drop(Indexed::new(provider(), Some(&old)).await);
    let lock = fs::File::open(old.join("lock")).unwrap();
    tokio::task::spawn_blocking(move || lock.lock().unwrap()).await.unwrap();
    let _used = Indexed::new(provider(), Some(&used)).await;
    let month = std::time::Duration::from_secs(30 * 86_400);
    for folder in [&old, &used] {
        let lock = fs::File::options().append(true).open(folder.join("lock")).unwrap();
        lock.set_modified(std::time::SystemTime::now() - 2 * month).unwrap();
    }
    search::remove_unused(root.path(), month).unwrap();
    assert!(!old.exists() && used.exists());
}
