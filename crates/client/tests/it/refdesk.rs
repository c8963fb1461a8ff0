//! Tests of the client against refdesk's own server, over pipes and over HTTP.

use std::io;
use std::sync::Arc;

use client::{Client, PipeOpener, PipeReader, PipeWriter, Request, ServerTarget};
use serde_json::Value;
use server::transport::{http, stdio};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use tokio::io::{duplex, split};
use tokio::net::TcpListener;

use crate::scripted_pipe::{fast_options, in_time};

fn server() -> Arc<Server> {
    let memory = MemoryProvider::new()
        .text("mem://café", "plain \"text\"\n日本語")
        .blob("mem://blob", &[0, 255])
        .collection("mem://folder", &["mem://folder/a"])
        .text("mem://folder/a", "aaa");
    Arc::new(Server::new(Arc::new(memory), Limits::default(), [7; 32], CollectionsMode::Always))
}

struct RefdeskPipes;

impl PipeOpener for RefdeskPipes {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let (ours, theirs) = duplex(1 << 16);
        let (input, output) = split(theirs);
        tokio::spawn(stdio::serve(server(), input, output, std::future::pending()));
        let (read, write) = split(ours);
        Ok((Box::new(read), Box::new(write)))
    }
}

async fn served() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let guard = http::OriginGuard { loopback: true, ..http::OriginGuard::default() };
    tokio::spawn(http::serve(server(), listener, guard, std::future::pending()));
    format!("http://127.0.0.1:{port}/mcp")
}

async fn check(client: &Client) {
    let peer = in_time(client.peer()).await.unwrap();
    assert_eq!(peer.revision(), "2026-07-28");
    assert_eq!(peer.name.as_deref(), Some("refdesk"));
    assert!(peer.capabilities.has_resources && peer.capabilities.has_metadata);
    let listed = in_time(client.send_request(&Request::new("resources/list"))).await.unwrap();
    assert!(listed.get().contains("mem://café"));
    for uri in ["mem://café", "mem://blob", "mem://folder/a"] {
        let answer =
            in_time(client.send_request(&Request::new("resources/read").uri(uri))).await.unwrap();
        let result: Value = serde_json::from_str(answer.get()).unwrap();
        assert_eq!(result["contents"][0]["uri"], uri);
    }
    let missing =
        in_time(client.send_request(&Request::new("resources/read").uri("mem://nope"))).await;
    assert!(missing.unwrap_err().is_resource_not_found());
    let metadata = Request::new("resources/metadata").uri("mem://folder");
    let answer = in_time(client.send_request(&metadata)).await.unwrap();
    assert!(answer.get().contains("\"isCollection\":true"));
}

#[tokio::test]
async fn it_is_spoken_with_over_pipes() {
    check(&Client::new(ServerTarget::Pipes(Arc::new(RefdeskPipes)), fast_options())).await;
}

#[tokio::test]
async fn it_is_spoken_with_over_http() {
    let url = served().await;
    check(&Client::new(ServerTarget::Http { url, headers: Vec::new() }, fast_options())).await;
}
