//! Runs the provider contract against a folder.

use std::sync::Arc;

use testkit::{Expectations, WatchCounter, contract};

use super::{ListingMode, Tree, uri};

#[tokio::test]
async fn a_folder_is_a_provider_like_any_other() {
    let tree =
        Tree::of(["a.txt", "docs/guide.md", "docs/deep/er/x", "sp ace/\u{65e5}\u{672c}.md", "z"]);
    tree.write("blob.bin", [0, 159, 146, 150, 255]);
    tree.write("long.txt", "\u{65e5}\u{672c}\u{8a9e} and \u{1f38c}\r\n".repeat(200));
    for listing in [ListingMode::Flat, ListingMode::Tree, ListingMode::Auto] {
        let known = Expectations {
            leaves: vec![
                (uri("file:///a.txt"), b"a.txt".to_vec()),
                (uri("file:///docs/guide.md"), b"docs/guide.md".to_vec()),
                (uri("file:///blob.bin"), vec![0, 159, 146, 150, 255]),
            ],
            collections: vec![(
                uri("file:///docs"),
                vec![uri("file:///docs/guide.md"), uri("file:///docs/deep")],
            )],
            missing: vec![uri("file:///none"), uri("file:///docs/none"), uri("file:///a.txt/x")],
            prefix: Some("file:///".to_owned()),
            outside: vec!["../secret.txt".to_owned()],
            open_watches: None,
        };
        let served = tree.serve(listing).0;
        let root = Arc::clone(&served.root);
        let count = move || usize::from(root.rescan_loop.is_running());
        let open_watches = Some(WatchCounter(Arc::new(count)));
        contract(&served, &Expectations { open_watches, ..known }).await;
    }
}
