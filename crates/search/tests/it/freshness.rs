//! The index follows its source.

use std::sync::Arc;

use testkit::MemoryProvider;

use crate::Indexed;

#[tokio::test]
async fn changes_additions_and_removals_arrive() {
    let provider =
        MemoryProvider::new().text("a:/1", "alpha words").text("a:/2", "beta words").with_watches();
    let index = Indexed::new(provider, None).await;
    assert_eq!(index.uris("alpha").await, ["a:/1"]);
    index.provider.write("a:/1", "gamma words");
    index.settles("gamma", &["a:/1"]).await;
    assert!(index.uris("alpha").await.is_empty());
    index.provider.write("a:/3", "delta words");
    index.settles("delta", &["a:/3"]).await;
    index.provider.remove("a:/2");
    index.settles("beta", &[]).await;
}

#[tokio::test]
async fn after_a_restart_only_what_changed_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut provider = MemoryProvider::new();
    for letter in 'a'..='t' {
        provider = provider.text(&format!("a:/{letter}"), &format!("words of {letter}onyx"));
    }
    let provider = Arc::new(provider);
    let first = Indexed::shared(Arc::clone(&provider), Some(folder.path())).await;
    assert_eq!(first.provider.counts().reads(), 20);
    drop(first);
    provider.write("a:/g", "changed meanwhile");
    provider.remove("a:/h");
    let reads = provider.counts().reads();
    let second = reopened(&provider, folder.path()).await;
    assert_eq!(provider.counts().reads() - reads, 1);
    assert_eq!(second.uris("meanwhile").await, ["a:/g"]);
    assert!(second.uris("gonyx").await.is_empty());
    assert!(second.uris("honyx").await.is_empty());
    assert_eq!(second.uris("ionyx").await, ["a:/i"]);
}

/// Opens the index once the thread of the first one has let go of it.
pub(crate) async fn reopened(provider: &Arc<MemoryProvider>, folder: &std::path::Path) -> Indexed {
    let lock = std::fs::File::open(folder.join("lock")).unwrap();
    tokio::task::spawn_blocking(move || lock.lock().unwrap()).await.unwrap();
    Indexed::shared(Arc::clone(provider), Some(folder)).await
}

#[tokio::test]
async fn a_mount_that_is_gone_leaves_the_index() {
    let index = Indexed::new(MemoryProvider::new().text("a:/1", "alpha"), None).await;
    assert_eq!(index.uris("alpha").await, ["a:/1"]);
    index.index.retain_mounts(&["other"]).await;
    assert!(index.uris("alpha").await.is_empty());
    assert!(index.index.mount_coverage("m").is_none());
}
