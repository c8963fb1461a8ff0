//! Tests of the tools' bounds: how much one call gives, sorts and waits for.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Context, Facets, HealthStatus, MountInfo, MountLookup, Page, PageRequest, Provider,
    ReadRequest, Reading, Resource, Result, Template, Uri,
};
use serde_json::{Value, json};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

use crate::tool_host::{ToolHost, serve_with_page_size};

#[tokio::test]
async fn embedded_resources_have_64_kib_together_unless_the_call_says_more() {
    let text = "x".repeat(40 << 10);
    let memory = MemoryProvider::new().text("test://a", &text).text("test://b", &text);
    let mut host = ToolHost::modern(serve_with_page_size(memory, 100)).await;
    let uris = json!(["test://a", "test://b"]);
    let embedded = |result: &Value| {
        let blocks = result["content"].as_array().unwrap();
        blocks.iter().filter(|block| block["type"] == "resource").count()
    };
    let result = host.call("resources_read_embedded", json!({ "uris": uris })).await;
    assert_eq!(embedded(&result), 1);
    let link = &result["content"][1];
    assert_eq!((&link["type"], &link["uri"]), (&json!("resource_link"), &json!("test://b")));
    let more = json!({ "uris": uris, "max_bytes": 80 << 10 });
    assert_eq!(embedded(&host.call("resources_read_embedded", more).await), 2);
    let one = MemoryProvider::new().text("test://a", &"x".repeat(64 << 10));
    let mut host = ToolHost::modern(serve_with_page_size(one, 100)).await;
    let whole = json!({ "uris": ["test://a"] });
    assert_eq!(embedded(&host.call("resources_read_embedded", whole).await), 1);
    let tools = host.ask("tools/list", json!({})).await;
    let tools = tools["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "resources_read_embedded").unwrap();
    let told = &tool["inputSchema"]["properties"]["max_bytes"]["description"];
    assert_eq!(told, "Maximum bytes in total; default 65536");
}

#[tokio::test(start_paused = true)]
async fn a_list_of_20000_resources_is_sorted_and_a_longer_one_is_refused() {
    let with = |memory: MemoryProvider, at: usize| memory.text(&format!("test://{at:05}"), "");
    let memory = (0..20_000).fold(MemoryProvider::new(), with);
    let sorted = json!({ "sort": "name" });
    let mut host = ToolHost::modern(serve_with_page_size(memory, 100)).await;
    let listed = host.structured("resources_list", sorted.clone()).await;
    assert_eq!(listed["resources"].as_array().unwrap().len(), 100);
    drop(host);
    let memory = (0..20_001).fold(MemoryProvider::new(), with);
    let mut host = ToolHost::modern(serve_with_page_size(memory, 100)).await;
    let words = host.error_text("resources_list", sorted).await;
    assert!(words.contains("too many resources to sort (limit 20000); narrow the filter"));
}

/// Resources in memory as a catalog names them: the first folder of a path is the mount.
struct MountedMemory {
    memory: MemoryProvider,
    mounts: Vec<&'static str>,
}

#[async_trait]
impl Provider for MountedMemory {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.memory.list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.memory.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.memory.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.memory.read(ctx, uri, request).await
    }

    fn facets(&self) -> Facets<'_> {
        Facets { mounts: Some(self), ..self.memory.facets() }
    }
}

impl MountLookup for MountedMemory {
    fn mount_of(&self, uri: &Uri) -> Option<String> {
        let path = uri.as_str().strip_prefix("file:///")?;
        path.split('/').next().map(str::to_owned)
    }

    fn mounts(&self, _ctx: &Context) -> Vec<MountInfo> {
        let info = |name: &&str| MountInfo {
            name: (*name).to_owned(),
            kind: "folder",
            root: Uri::parse(&format!("file:///{name}/")).ok(),
            description: None,
            folder: None,
            health: HealthStatus::ready(),
            is_restricted: false,
        };
        self.mounts.iter().map(info).collect()
    }
}

fn mounted(memory: MemoryProvider) -> Arc<MountedMemory> {
    Arc::new(MountedMemory { memory, mounts: vec!["slow", "quick"] })
}

async fn host_of(provider: &Arc<MountedMemory>) -> ToolHost {
    let provider: Arc<dyn Provider> = Arc::clone(provider) as _;
    let server = Server::new(provider, Limits::default(), [7; 32], CollectionsMode::Always);
    ToolHost::modern(Arc::new(server)).await
}

#[tokio::test(start_paused = true)]
async fn a_mount_that_does_not_answer_delays_the_lookup_of_a_path_only_for_a_moment() {
    let provider = mounted(MemoryProvider::new().text("file:///quick/src/main.rs", "fn main() {}"));
    let stat = |uri: &str| FaultPoint::Stat(Uri::parse(uri).unwrap());
    provider.memory.inject_fault(stat("file:///slow/src/main.rs"), Fault::Hangs);
    let mut host = host_of(&provider).await;
    let begun = tokio::time::Instant::now();
    let read = host.structured("resources_read", json!({ "uri": "src/main.rs" })).await;
    assert_eq!(read["uri"], "file:///quick/src/main.rs");
    assert!(begun.elapsed().as_secs_f64() < 1.5, "{:?}", begun.elapsed());
    // Nor does one that cannot be listed delay the suggestions.
    provider.memory.inject_fault(stat("file:///slow/src/mian.rs"), Fault::Hangs);
    provider.memory.inject_fault(FaultPoint::List, Fault::Hangs);
    let begun = tokio::time::Instant::now();
    let words = host.error_text("resources_read", json!({ "uri": "src/mian.rs" })).await;
    assert!(words.contains("the mounts are slow, quick"), "{words}");
    assert!(begun.elapsed().as_secs_f64() < 2.5, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_instructions_say_what_a_mount_holds_and_never_wait_long_for_it() {
    let memory = MemoryProvider::new().collection("file:///quick/", &["file:///quick/src"]);
    let memory = memory.collection("file:///quick/src", &[]);
    let provider = mounted(memory);
    let mut host = host_of(&provider).await;
    let told = host.ask("server/discover", json!({})).await;
    let words = told["instructions"].as_str().unwrap();
    assert!(words.contains("\n- quick: folder file:///quick/ – src/\n"), "{words}");
    provider.memory.inject_fault(FaultPoint::List, Fault::Hangs);
    let begun = tokio::time::Instant::now();
    let told = host.ask("server/discover", json!({})).await;
    let words = told["instructions"].as_str().unwrap();
    assert!(words.contains("\n- quick: folder file:///quick/\n"), "{words}");
    assert!(begun.elapsed().as_secs_f64() < 0.5, "{:?}", begun.elapsed());
}
