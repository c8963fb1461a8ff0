//! Tests of the health of a folder on a local disk.

use std::fs;

use resource::{Health as _, HealthState};

use crate::fs::tests::{ListingMode, Tree};

#[tokio::test]
async fn a_root_on_a_local_disk_is_known_to_be_gone_before_anybody_asks_for_a_file() {
    let tree = Tree::of(["a"]);
    let served = tree.serve(ListingMode::Flat);
    let state = || served.0.health(&testkit::local_context()).state;
    assert_eq!(state(), HealthState::Ready);
    fs::remove_dir_all(tree.root()).unwrap();
    assert_eq!(state(), HealthState::Failed);
    tree.write("b", "");
    assert_eq!(state(), HealthState::Ready);
}
