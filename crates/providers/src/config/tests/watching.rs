//! Tests of change notifications: a key and its parents, not its siblings.

use std::collections::BTreeSet;
use std::fs;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use futures_util::{FutureExt as _, StreamExt as _};
use resource::{Change, ErrorKind, Interest, Watch as _};
use testkit::local_context;

use super::super::{ConfigFiles, ConfigLayer, Options};
use super::{ConfigFolder, read, stat, uri};

pub(super) type Changes = Pin<Box<dyn Stream<Item = Change> + Send>>;

async fn watch(served: &ConfigFiles, at: &str) -> Changes {
    let interest = Interest::Resource(uri(at));
    served.watch(&local_context(), interest).await.unwrap()
}

pub(super) async fn next(changes: &mut Changes) -> Change {
    let next = tokio::time::timeout(Duration::from_secs(60), changes.next());
    next.await.expect("no change within a minute").expect("the stream ended")
}

/// The changes up to the one about `last`, as text.
pub(super) async fn until(changes: &mut Changes, last: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    loop {
        let change = next(changes).await;
        let is_last =
            matches!(&change, Change::Updated(uri) | Change::Removed(uri) if uri.as_str() == last);
        seen.insert(match change {
            Change::Updated(uri) => format!("{uri}"),
            Change::Removed(uri) => format!("removed {uri}"),
            other => format!("{other:?}"),
        });
        if is_last {
            return seen;
        }
    }
}

fn updated(at: &str) -> Change {
    Change::Updated(uri(at))
}

#[tokio::test]
async fn a_changed_key_updates_itself_its_parents_and_the_effective_one() {
    let base = "a = 1\n[db]\nhost = 'x'\nport = 1\n[other]\nz = 1\n";
    let folder = ConfigFolder::of(&[("base.toml", base), ("prod.toml", "[db]\nport = 2\n")]);
    let served = folder.serve_layers(&["base.toml", "prod.toml"], &[]);
    let ctx = local_context();
    let mut all = served.watch(&ctx, Interest::Everything).await.unwrap();
    let mut listing = served.watch(&ctx, Interest::Listing).await.unwrap();
    let mut host = watch(&served, "config:///keys/base.toml/db/host").await;
    let mut port = watch(&served, "config:///keys/base.toml/db/port").await;
    let mut table = watch(&served, "config:///keys/base.toml/db").await;
    let mut other = watch(&served, "config:///effective/other").await;
    // A comment above moves every line, and changes no value.
    folder.write("base.toml", base.replace("[db]\nhost = 'x'", "# note\n[db]\nhost = 'y'"));
    assert_eq!(next(&mut host).await, updated("config:///keys/base.toml/db/host"));
    assert_eq!(read(&served, "config:///keys/base.toml/db/host").await, "y");
    let told = until(&mut table, "config:///keys/base.toml/db/host").await;
    assert!(told.contains("config:///keys/base.toml/db"));
    let seen = until(&mut all, "config:///diff/prod.toml..base.toml").await;
    let expected = [
        "config:///base.toml",
        "config:///diff/base.toml..prod.toml",
        "config:///diff/prod.toml..base.toml",
        "config:///effective",
        "config:///effective/db",
        "config:///effective/db/host",
        "config:///keys/base.toml",
        "config:///keys/base.toml/db",
        "config:///keys/base.toml/db/host",
    ];
    assert_eq!(seen, expected.map(str::to_owned).into());
    // A value that another layer hides changes its own key, and not the effective one.
    folder.write("base.toml", base.replace("port = 1", "port = 9"));
    let seen = until(&mut all, "config:///diff/prod.toml..base.toml").await;
    assert!(seen.contains("config:///keys/base.toml/db/port"));
    assert!(!seen.contains("config:///effective/db/port"));
    assert_eq!(next(&mut port).await, updated("config:///keys/base.toml/db/port"));
    assert_eq!(port.next().now_or_never(), None);
    assert_eq!(other.next().now_or_never(), None);
    assert_eq!(listing.next().now_or_never(), None);
}

#[tokio::test]
async fn files_and_keys_that_come_and_go_change_the_list() {
    let folder = ConfigFolder::of(&[("a.toml", "x = 1\ny = 2\n")]);
    let served = folder.serve(&["*.toml"]);
    let ctx = local_context();
    let mut all = served.watch(&ctx, Interest::Everything).await.unwrap();
    let mut listing = served.watch(&ctx, Interest::Listing).await.unwrap();
    let mut key = watch(&served, "config:///keys/a.toml/y").await;
    let mut root = watch(&served, "config:///").await;
    folder.write("a.toml", "x = 1\n");
    assert_eq!(next(&mut key).await, Change::Removed(uri("config:///keys/a.toml/y")));
    assert_eq!(next(&mut listing).await, Change::Listing);
    folder.write("a.toml", "x = 1\ny = 3\n");
    assert_eq!(next(&mut key).await, updated("config:///keys/a.toml/y"));
    assert_eq!(next(&mut listing).await, Change::Listing);
    let _earlier = until(&mut all, "config:///keys/a.toml/y").await;
    // A file that is broken for a moment loses no key.
    folder.write("a.toml", "x = [");
    let broken = until(&mut all, "config:///keys/a.toml").await;
    assert!(broken.contains("config:///a.toml"));
    folder.write("a.toml", "x = 1\ny = 4\n");
    assert_eq!(next(&mut key).await, updated("config:///keys/a.toml/y"));
    folder.write("b.toml", "z = 1\n");
    let told = until(&mut root, "config:///b.toml").await;
    assert!(told.contains("config:///"), "{told:?}");
    fs::remove_file(folder.at("b.toml")).unwrap();
    let told = until(&mut root, "config:///b.toml").await;
    assert!(told.contains("removed config:///b.toml"), "{told:?}");
    let missing = served.watch(&ctx, Interest::Resource(uri("config:///none.toml"))).await;
    assert_eq!(missing.err().map(|error| error.kind), Some(ErrorKind::NotFound));
}

#[tokio::test]
async fn the_last_subscriber_ends_the_task_and_another_starts_it_again() {
    let folder = ConfigFolder::of(&[("a.toml", "x = 1\n")]);
    let served = folder.serve(&["*.toml"]);
    for round in 2..5 {
        let mut key = watch(&served, "config:///keys/a.toml/x").await;
        let same = watch(&served, "config:///keys/a.toml/x").await;
        drop(same);
        assert!(served.watchers.is_running());
        folder.write("a.toml", format!("x = {round}\n"));
        assert_eq!(next(&mut key).await, updated("config:///keys/a.toml/x"));
        drop(key);
        assert!(!served.watchers.is_running());
    }
}

#[tokio::test]
async fn a_changed_schema_alone_updates_the_keys_that_it_describes() {
    let schema = |title: &str| format!(r#"{{"properties": {{"port": {{"title": "{title}"}}}}}}"#);
    let folder = ConfigFolder::of(&[
        ("a.toml", "port = 1\n"),
        ("b.json", r#"{"$schema": "./schemas/own.json", "port": 2}"#),
        ("schemas/mount.json", &schema("one")),
        ("schemas/own.json", &schema("own")),
    ]);
    let options = folder.options(&["*.toml", "*.json"]);
    let layers = vec![ConfigLayer::parse("a.toml", &Default::default()).unwrap()];
    let schema_path = Some("schemas/mount.json".to_owned());
    let served = ConfigFiles::new(Options { schema: schema_path, layers, ..options });
    let keys = ["keys/a.toml/port", "effective/port", "keys/b.json/port"];
    let [a, effective, b] = keys.map(|key| format!("config:///{key}"));
    let mut of_a = watch(&served, &a).await;
    let mut of_effective = watch(&served, &effective).await;
    let mut of_b = watch(&served, &b).await;
    folder.write("schemas/mount.json", schema("two"));
    assert_eq!(next(&mut of_a).await, updated(&a));
    assert_eq!(next(&mut of_effective).await, updated(&effective));
    assert_eq!(stat(&served, &a).await.title.as_deref(), Some("two"));
    assert!(of_b.next().now_or_never().is_none(), "it has a schema of its own");
    folder.write("schemas/own.json", schema("mine"));
    assert_eq!(next(&mut of_b).await, updated(&b));
    assert_eq!(stat(&served, &b).await.title.as_deref(), Some("mine"));
}
