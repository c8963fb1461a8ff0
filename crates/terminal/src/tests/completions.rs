//! Completion of URIs, as a shell asks for it.

use std::sync::Arc;

use client::PipeOpener;
use testkit::MemoryProvider;

use super::OneServer;
use super::servers::{Desk, Stranger};
use crate::args::{ColorChoice, ServerArgs};
use crate::connection::ServerConnection;

async fn completed(server: &Arc<impl PipeOpener + 'static>, typed: &str) -> Vec<String> {
    let args = ServerArgs {
        server: None,
        header: Vec::new(),
        revision: None,
        timeout: super::PATIENCE,
        json: false,
        color: ColorChoice::Never,
    };
    let resolver = OneServer(Arc::clone(server) as _);
    let connection = ServerConnection::open(&args, &resolver).await.unwrap();
    let found = connection.complete_uri(typed).await.unwrap();
    found.into_iter().map(|(text, _)| text).collect()
}

#[tokio::test]
async fn a_uri_is_completed_in_the_form_that_is_typed() {
    let encoded = "mem:///d/%E8%B3%87%E6%96%99";
    let desk = Desk::new(
        MemoryProvider::new()
            .collection("mem:///d", &[encoded, "mem:///d/a%20b"])
            .collection(encoded, &[&format!("{encoded}/x")])
            .text(&format!("{encoded}/x"), "x")
            .text("mem:///d/a%20b", "y"),
    );
    assert_eq!(completed(&desk, "mem:///d/資").await, ["mem:///d/資料/"]);
    assert_eq!(completed(&desk, "mem:///d/資料/").await, ["mem:///d/資料/x"]);
    assert_eq!(completed(&desk, "mem:///d/%E8").await, [format!("{encoded}/")]);
    assert_eq!(completed(&desk, "mem:///d/").await, ["mem:///d/資料/", "mem:///d/a%20b"]);
    assert!(completed(&desk, "mem:///d/none").await.is_empty());
}

#[tokio::test]
async fn the_uris_of_a_flat_list_are_completed_a_level_at_a_time() {
    let stranger = Stranger::listing(&["a://h/x/1", "a://h/x/y/2", "a://h/z", "b:c"]);
    assert_eq!(completed(&stranger, "a://h/").await, ["a://h/x/", "a://h/z"]);
    assert_eq!(completed(&stranger, "a://h/x/y").await, ["a://h/x/y/"]);
    assert_eq!(completed(&stranger, "b").await, ["b:c"]);
}
