//! Tests of merged tools and prompts: public names, shortened names, routing of calls.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use catalog::{Address, Catalog, MetadataRules, Mount, MountOptions, ToolSelection};
use futures_util::StreamExt;
use resource::{
    Change, Component, ComponentCall, ComponentKind, ErrorKind, Interest, Page, PageRequest,
    PromptCompletionRequest, Provider, Relay, UriRewrite,
};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

struct Unchanged;

impl UriRewrite for Unchanged {
    fn to_public(&self, _local: &str) -> Option<String> {
        None
    }

    fn to_local(&self, _public: &str) -> Option<String> {
        None
    }
}

fn mount(name: &str, provider: impl Provider) -> Mount {
    mount_at(name, Address::Path { scheme: "file", name: name.to_owned() }, provider)
}

fn mount_at(name: &str, address: Address, provider: impl Provider) -> Mount {
    mount_with(name, address, provider, None)
}

fn mount_with(
    name: &str,
    address: Address,
    provider: impl Provider,
    tools: Option<ToolSelection>,
) -> Mount {
    let (timeout, rules) = (Duration::from_secs(30), MetadataRules::default());
    let terms = MountOptions {
        access: Arc::default(),
        rules,
        tools,
        max_read: 1 << 20,
        timeout,
        required: false,
        rendering: None,
        work_pool: Arc::default(),
        unpack: false,
        masks_itself: false,
        redaction: Default::default(),
    };
    Mount::new(name, address, provider, terms)
}

/// A provider of these tools, each of which returns the parameters of its call.
fn tools(names: &[&str]) -> MemoryProvider {
    let memory = MemoryProvider::new().text("file:///a", "").with_watches();
    names.iter().fold(memory, |memory, name| {
        let answer = format!(r#"{{"of":"{name}","uri":"file:///a","params":$params}}"#);
        memory.tool(name, &format!(r#"{{"name":"{name}","uri":"file:///a"}}"#), &answer)
    })
}

async fn page(catalog: &Catalog, paging: &PageRequest) -> Page<Component> {
    catalog
        .list_components(&testkit::local_context(), ComponentKind::Tool, &Unchanged, paging)
        .await
        .unwrap()
}

async fn walk(catalog: &Catalog, limit: usize) -> Vec<String> {
    let (mut names, mut ask) = (Vec::new(), PageRequest::first(limit));
    loop {
        let page = page(catalog, &ask).await;
        assert!(page.items.len() <= limit);
        names.extend(page.items.iter().map(|item| item.name.clone()));
        match page.next {
            Some(next) => ask.cursor = Some(next),
            None => return names,
        }
    }
}

async fn call(catalog: &Catalog, name: &str, params: &str) -> resource::Result<String> {
    let params = params.into();
    let calling =
        ComponentCall { kind: ComponentKind::Tool, name, params: &params, uri_rewrite: &Unchanged };
    let json = catalog.call_component(&testkit::local_context(), &calling).await?;
    Ok(json.as_str().to_owned())
}

#[tokio::test]
async fn two_mounts_with_equal_tools_are_told_apart() {
    let catalog = Catalog::new(vec![
        mount("notes", tools(&["echo", "b"])),
        mount("files", MemoryProvider::new().text("file:///x", "")),
        mount("tasks", tools(&["echo"])),
    ]);
    assert!(
        catalog.facets().relay.is_some()
            && catalog.may_have(&testkit::local_context(), ComponentKind::Tool)
    );
    assert!(!catalog.may_have(&testkit::local_context(), ComponentKind::Prompt));
    for limit in 1..5 {
        assert_eq!(walk(&catalog, limit).await, ["notes_echo", "notes_b", "tasks_echo"]);
    }
    let listed = page(&catalog, &PageRequest::first(9)).await;
    assert_eq!(listed.items[2].json.as_str(), r#"{"name":"echo","uri":"file:///tasks/a"}"#);
    let params = r#"{"uri":"file:///tasks/a"}"#;
    let told = r#"{"of":"echo","uri":"file:///tasks/a","params":{"uri":"file:///a"}}"#;
    assert_eq!(call(&catalog, "tasks_echo", params).await.unwrap(), told);
    for unknown in ["echo", "tasks_b", "files_echo", "", "tasks_", "other_echo"] {
        let error = call(&catalog, unknown, "{}").await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{unknown}");
    }
}

#[tokio::test]
async fn a_name_that_was_shortened_still_resolves() {
    let long = "x".repeat(200);
    let odd = [long.as_str(), "two words", "é"];
    let first = Catalog::new(vec![mount("a", tools(&odd)), mount("a_b", tools(&["c"]))]);
    let names = walk(&first, 2).await;
    assert_eq!((names.len(), names[3].as_str()), (4, "a_b_c"));
    // A catalog that has not listed anything yet resolves them too, as does one with other mounts.
    let again = Catalog::new(vec![mount("a", tools(&odd)), mount("z", tools(&["c"]))]);
    for (name, local) in names.iter().zip(odd) {
        assert!(name.len() <= 64 && name.starts_with("a_"), "{name}");
        for catalog in [&first, &again] {
            let told = call(catalog, name, "{}").await.unwrap();
            assert!(told.starts_with(&format!(r#"{{"of":"{local}""#)), "{told}");
        }
    }
    let gone = call(&again, "a_two-words_x000000000000", "{}").await.unwrap_err();
    assert_eq!(gone.kind, ErrorKind::Invalid);
}

#[tokio::test]
async fn a_name_that_two_mounts_could_have_is_the_longer_ones() {
    let catalog = Catalog::new(vec![mount("a", tools(&["b_c"])), mount("a_b", tools(&["c"]))]);
    let names = walk(&catalog, 9).await;
    assert_eq!(names[1], "a_b_c");
    for (name, local) in [(&names[0], "b_c"), (&names[1], "c")] {
        let told = call(&catalog, name, "{}").await.unwrap();
        assert!(told.starts_with(&format!(r#"{{"of":"{local}""#)), "{name}: {told}");
    }
}

#[tokio::test]
async fn a_mount_without_a_prefix_keeps_the_names_that_no_other_has() {
    let odd = "two words";
    let own = ["echo", "all_echo", "files_echo", "notes_echo", "notes_none", odd];
    let catalog = Catalog::new(vec![
        mount("notes", tools(&["echo"])),
        mount("files", MemoryProvider::new().text("file:///x", "")),
        mount_at("all", Address::Fallback, tools(&own)),
    ]);
    let listed = ["echo", "all_echo", "files_echo", odd, "notes_echo"];
    for limit in 1..7 {
        assert_eq!(walk(&catalog, limit).await, listed, "{limit}");
    }
    for (name, local) in listed.iter().zip(["echo", "all_echo", "files_echo", odd, "echo"]) {
        let told = call(&catalog, name, r#"{"uri":"file:///a"}"#).await.unwrap();
        assert!(told.starts_with(&format!(r#"{{"of":"{local}""#)), "{name}: {told}");
        assert!(told.ends_with(r#""params":{"uri":"file:///a"}}"#), "{name}: {told}");
    }
    let none = call(&catalog, "notes_none", "{}").await.unwrap_err();
    assert_eq!(none.kind, ErrorKind::Invalid, "it is asked of the mount that its name begins with");
    assert!(call(&catalog, "none", "{}").await.is_err());
}

#[tokio::test]
async fn a_mount_that_fails_is_named_and_does_not_hide_the_others() {
    let broken = Arc::new(tools(&["echo"]));
    broken.inject_fault(
        FaultPoint::Components(ComponentKind::Tool),
        Fault::Fails(ErrorKind::Unavailable),
    );
    broken.inject_fault(FaultPoint::Call("echo".to_owned()), Fault::Fails(ErrorKind::Unavailable));
    let catalog =
        Catalog::new(vec![mount("broken", Arc::clone(&broken)), mount("tasks", tools(&["echo"]))]);
    let listed = page(&catalog, &PageRequest::first(9)).await;
    assert_eq!((listed.items.len(), listed.absent[0].name.as_str()), (1, "broken"));
    let error = call(&catalog, "broken_echo", "{}").await.unwrap_err();
    assert_eq!(error.facts, [("upstream", "broken".to_owned())]);
    let shortened = call(&catalog, "broken_two-words_x000000000000", "{}").await.unwrap_err();
    assert_eq!(shortened.facts, [("upstream", "broken".to_owned())]);
    broken.clear_faults();
    assert_eq!(walk(&catalog, 9).await, ["broken_echo", "tasks_echo"]);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_hangs_is_given_up_and_a_call_is_not() {
    let slow = Arc::new(tools(&["echo"]));
    slow.inject_fault(FaultPoint::Components(ComponentKind::Tool), Fault::Hangs);
    slow.inject_fault(FaultPoint::Call("echo".to_owned()), Fault::Hangs);
    let catalog = Catalog::new(vec![mount("slow", Arc::clone(&slow))]);
    assert_eq!(page(&catalog, &PageRequest::first(9)).await.absent.len(), 1);
    let long = tokio::time::timeout(Duration::from_secs(3600), call(&catalog, "slow_echo", "{}"));
    assert!(long.await.is_err());
    assert_eq!(slow.counts().in_flight(), 0, "what is dropped ends where it runs");
}

#[tokio::test]
async fn prompts_are_completed_where_they_are() {
    let prompts = |values: &[&str]| {
        MemoryProvider::new().prompt("greet", r#"{"name":"greet"}"#, "{}").with_suggestions(values)
    };
    let first = Arc::new(prompts(&["Ada"]));
    let catalog =
        Catalog::new(vec![mount("a", Arc::clone(&first)), mount("b", prompts(&["Grace"]))]);
    let settled = BTreeMap::new();
    let blank =
        |prompt| PromptCompletionRequest { prompt, argument: "who", typed: "", resolved: &settled };
    for (prompt, value) in [("a_greet", "Ada"), ("b_greet", "Grace")] {
        let told =
            catalog.complete_prompt(&testkit::local_context(), &blank(prompt)).await.unwrap();
        assert_eq!(told.values, [value]);
    }
    let ctx = testkit::local_context();
    assert!(catalog.complete_prompt(&ctx, &blank("greet")).await.is_err());
    first.inject_fault(FaultPoint::Call("greet".to_owned()), Fault::Fails(ErrorKind::Unavailable));
    let error = catalog.complete_prompt(&ctx, &blank("a_greet")).await.unwrap_err();
    assert_eq!(error.facts, [("upstream", "a".to_owned())]);
}

#[tokio::test]
async fn changes_of_offers_are_heard_from_those_who_have_them() {
    let (one, other) = (Arc::new(tools(&["a"])), Arc::new(tools(&["b"])));
    let silent = Arc::new(MemoryProvider::new().text("file:///x", "").with_watches());
    let catalog = Catalog::new(vec![
        mount("one", Arc::clone(&one)),
        mount("other", Arc::clone(&other)),
        mount("silent", Arc::clone(&silent)),
    ]);
    let watch = catalog.facets().watch.unwrap();
    let interest = Interest::Components(ComponentKind::Tool);
    let mut changes = watch.watch(&testkit::local_context(), interest).await.unwrap();
    assert_eq!((one.watch_count(), other.watch_count(), silent.watch_count()), (1, 1, 0));
    one.write("file:///fresh", "nobody asked");
    other.add_component(ComponentKind::Tool, "more", r#"{"name":"more"}"#, "{}");
    assert_eq!(changes.next().await, Some(Change::Components(ComponentKind::Tool)));
    drop(changes);
    assert_eq!((one.watch_count(), other.watch_count()), (0, 0));
}

fn selected(name: &str, names: &[&str], selection: ToolSelection) -> Mount {
    let address = Address::Path { scheme: "file", name: name.to_owned() };
    mount_with(name, address, tools(names), Some(selection))
}

#[tokio::test]
async fn tools_are_left_out_and_renamed() {
    let globs = |text: &str| vec![text.to_owned()];
    let chosen = ToolSelection::new(Some(&globs("get_*")), &globs("*_secret")).unwrap();
    let rename = BTreeMap::from([("get_me".to_owned(), "whoami".to_owned())]);
    let names = ["get_me", "get_it", "get_secret", "drop"];
    let catalog = Catalog::new(vec![
        selected("hub", &names, ToolSelection { rename, ..chosen }),
        mount("files", tools(&["drop"])),
    ]);
    for limit in 1..5 {
        assert_eq!(walk(&catalog, limit).await, ["files_drop", "hub_whoami", "hub_get_it"]);
    }
    let told = call(&catalog, "hub_whoami", "{}").await.unwrap();
    assert!(told.starts_with(r#"{"of":"get_me""#), "{told}");
    for hidden in ["hub_get_me", "hub_get_secret", "hub_drop"] {
        assert_eq!(call(&catalog, hidden, "{}").await.unwrap_err().kind, ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn tools_that_are_searched_for_are_not_in_the_list_and_can_be_called() {
    let by_search = ToolSelection { by_search: true, ..ToolSelection::default() };
    let catalog =
        Catalog::new(vec![selected("hub", &["a", "b"], by_search), mount("files", tools(&["c"]))]);
    assert_eq!(walk(&catalog, 1).await, ["files_c"]);
    assert!(catalog.has_searched_tools(&testkit::local_context()));
    let (ctx, ask) = (testkit::local_context(), PageRequest::first(9));
    let found = catalog.list_searched_tools(&ctx, &Unchanged, &ask).await.unwrap();
    let names: Vec<&str> = found.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["hub_a", "hub_b"]);
    assert!(call(&catalog, "hub_b", "{}").await.is_ok());
}
