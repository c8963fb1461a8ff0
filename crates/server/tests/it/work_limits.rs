//! Tests of the bounds on patterns, and of work that must not keep others waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use resource::{
    Context, Error, Facets, Page, PageRequest, Provider, ReadRequest, Reading, Resource, Result,
    Template, Uri,
};
use serde_json::{Value, json};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

use crate::fixture::{StdioClient, stateless};
use crate::grep::{call, matches, open};

/// A pattern whose automaton has more states than a search can remember, so that each byte costs a
/// look at 8,000 positions. It matches nowhere in text that repeats after 8,001 letters.
const COSTLY: &str = "(?-u:[a-m][a-y]{8000}[l-z])";

fn pipe(memory: MemoryProvider) -> (Arc<MemoryProvider>, StdioClient) {
    let memory = Arc::new(memory);
    let pipe = open(&memory, Limits::default());
    (memory, pipe)
}

fn tool_call(id: usize, tool: &str, arguments: &Value) -> Value {
    stateless(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

async fn error_text(pipe: &mut StdioClient, tool: &str, arguments: &Value) -> String {
    let result = call(pipe, tool, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// A line of letters from `a` to `y` in no order.
fn random_line(length: usize) -> String {
    let mut state = 1_u32;
    let letter = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 25)
    };
    (0..length).map(letter).collect()
}

#[tokio::test]
async fn a_glob_that_is_nested_or_too_long_is_refused_by_every_tool() {
    let (_, mut pipe) = pipe(MemoryProvider::new().text("test://a", "x"));
    for (glob, words) in [
        ("{a,".repeat(30_000), "limit of 1024"),
        ("?".repeat(1 << 20), "limit of 1024"),
        ("{a,".repeat(300), "more than 32 braces"),
    ] {
        let list = json!({ "uri": glob });
        let told = error_text(&mut pipe, "resources_list", &list).await;
        assert!(told.contains(words) && told.len() < 300, "{told}");
        let grep = json!({ "uri": glob, "pattern": "x" });
        let told = error_text(&mut pipe, "resources_grep", &grep).await;
        assert!(told.contains(words) && told.len() < 300, "{told}");
    }
    let listed = call(&mut pipe, "resources_list", &json!({ "uri": "test://{a,b}" })).await;
    assert_eq!(listed["structuredContent"]["resources"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_pattern_that_is_too_long_is_refused_with_the_limit() {
    let (_, mut pipe) = pipe(MemoryProvider::new().text("test://a", "x"));
    for (pattern, words) in [
        (r"\w".repeat(200_000), "over the limit of 4096; search for a part of it"),
        (r"\w".repeat(2_000), "over the limit of 1048576 bytes; use fewer repetitions"),
        ("(?-u:[a-m][a-y]{20000}[l-z])".to_owned(), "over the limit of 1048576 bytes"),
        ("(?-u:[a-y]{900}){900}".to_owned(), "over the limit of 1048576 bytes"),
    ] {
        let grep = json!({ "pattern": pattern });
        let told = error_text(&mut pipe, "resources_grep", &grep).await;
        assert!(told.contains(words), "{told}");
    }
}

/// The tests run on one thread, so a search on it would keep every other request waiting.
#[tokio::test]
async fn a_costly_search_keeps_nobody_waiting_and_ends_when_it_is_cancelled() {
    let line: String = random_line(8001).replace(['l', 'm'], "k").repeat(130);
    let memory = MemoryProvider::new().text("test://a", &line).text("test://b", &line);
    let (_, mut pipe) = pipe(memory);
    let ids = 1..=8;
    for id in ids.clone() {
        pipe.send_message(&tool_call(id, "resources_grep", &json!({ "pattern": COSTLY }))).await;
    }
    pipe.send_message(&stateless(20, "server/discover", json!({}))).await;
    assert_eq!(pipe.receive().await["id"], 20, "no search has ended before");
    for id in ids {
        let params = json!({ "requestId": id });
        let notice =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        pipe.send_message(&notice).await;
    }
    // It needs the place of a search that was cancelled.
    let pattern = format!("^{}", &line[..20]);
    let result = call(&mut pipe, "resources_grep", &json!({ "pattern": pattern })).await;
    assert_eq!(result["structuredContent"]["searched"], 2, "{result}");
}

#[tokio::test]
async fn a_long_line_is_searched_as_a_short_one_is() {
    let long = random_line(1 << 20);
    let text = format!("first\n{long} needle\nlast\n{long}日needle");
    let (_, mut pipe) = pipe(MemoryProvider::new().text("test://a", &text));
    for (pattern, lines) in [
        (r"(?-u:[a-y]){400} needle$", vec![2]),
        (r"\w{20} needle$", vec![2]),
        (r"[a-y]+.needle", vec![2, 4]),
        (r"^last$", vec![3]),
        (r"日needle\z", vec![4]),
        (r"\bneedle$", vec![2]),
        (r"z", vec![]),
    ] {
        let result = call(&mut pipe, "resources_grep", &json!({ "pattern": pattern })).await;
        let told = &result["structuredContent"];
        let found: Vec<u64> = matches(&result).into_iter().map(|(_, line)| line).collect();
        assert_eq!((found, &told["searched"]), (lines, &json!(1)), "{pattern}: {told}");
    }
}

#[tokio::test]
async fn a_long_walk_lets_others_in_between() {
    let mut memory = MemoryProvider::new();
    for at in 0..5_000 {
        memory = memory.text(&format!("test://{at}"), "x");
    }
    let (_, mut pipe) = pipe(memory);
    let sorted = json!({ "sort": "size", "recursive": true });
    for id in 1..=4 {
        pipe.send_message(&tool_call(id, "resources_list", &sorted)).await;
    }
    pipe.send_message(&stateless(20, "server/discover", json!({}))).await;
    assert_eq!(pipe.receive().await["id"], 20, "a short request is answered first");
}

#[tokio::test(start_paused = true)]
async fn sorted_lists_have_a_share_and_an_end() {
    let (memory, mut pipe) = pipe(MemoryProvider::new().text("test://a", "x"));
    memory.inject_fault(FaultPoint::List, Fault::Hangs);
    let sorted = json!({ "sort": "name" });
    for id in 1..=3 {
        pipe.send_message(&tool_call(id, "resources_list", &sorted)).await;
    }
    let mut told = Vec::new();
    for _ in 1..=3 {
        let answer = pipe.receive().await;
        told.push(answer["result"]["content"][0]["text"].as_str().unwrap().to_owned());
    }
    assert_eq!(memory.counts().lists(), 2, "the third has waited");
    let is_told = |told: &String| told.contains("too many resources to sort in 10 s; narrow");
    assert!(told.iter().filter(|told| is_told(told)).count() >= 2, "{told:?}");
    memory.clear_faults();
    assert_ne!(call(&mut pipe, "resources_list", &sorted).await["isError"], true);
}

/// Folders that link to each other: each holds all of them again, without end.
struct LinkedFolders(AtomicUsize);

#[async_trait]
impl Provider for LinkedFolders {
    async fn list(
        &self,
        _: &Context,
        parent: Option<&Uri>,
        _: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let parent = parent.map_or("test:/", Uri::as_str);
        let folder = |at: usize| {
            let mut folder =
                Resource::new(Uri::parse(&format!("{parent}/{at}")).unwrap(), "folder");
            folder.listable = Some(true);
            Arc::new(folder)
        };
        Ok(Page { items: (0..14).map(folder).collect(), ..Page::empty() })
    }

    async fn templates(&self, _: &Context, _: &PageRequest) -> Result<Page<Template>> {
        Ok(Page::empty())
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        Err(Error::not_found(uri))
    }

    async fn read(&self, _: &Context, uri: &Uri, _: &ReadRequest) -> Result<Reading> {
        Err(Error::not_found(uri))
    }

    fn facets(&self) -> Facets<'_> {
        Facets::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_walk_through_folders_that_link_to_each_other_ends() {
    let folders = Arc::new(LinkedFolders(AtomicUsize::new(0)));
    let provider = Arc::clone(&folders) as Arc<dyn Provider>;
    let server = Server::new(provider, Limits::default(), [7; 32], CollectionsMode::Always);
    let mut pipe = StdioClient::open(Arc::new(server));
    let walk = json!({ "sort": "name", "recursive": true, "name": "nothing" });
    let listed = call(&mut pipe, "resources_list", &walk).await;
    let words = listed["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("over 10,000 collections in one call"), "{words}");
    assert!(folders.0.load(Ordering::Relaxed) <= 10_001);
}
