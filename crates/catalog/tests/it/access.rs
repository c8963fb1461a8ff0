//! Tests of access rules: what is denied to a principal is as if it had never been there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use catalog::layers::Layer as _;
use catalog::layers::allowed::Allowed;
use catalog::{AccessRule, AccessRules, Address, Catalog, MetadataRules, Mount, MountOptions};
use futures_util::{FutureExt, StreamExt};
use resource::{
    CompletionRequest, ComponentCall, ComponentKind, Content, Context, Error, Interest, Page,
    PageRequest, Principal, PromptCompletionRequest, Provider, ReadRequest, SearchRequest, Uri,
    UriRewrite,
};
use testkit::memory::{Fault, FaultPoint};
use testkit::{Expectations, MemoryProvider, contract};

struct Unchanged;

impl UriRewrite for Unchanged {
    fn to_public(&self, _: &str) -> Option<String> {
        None
    }

    fn to_local(&self, _: &str) -> Option<String> {
        None
    }
}

pub(crate) fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

pub(crate) fn bob() -> Context {
    Context::new(Principal::authenticated("bob"))
}

fn rule(allows: bool, globs: &[&str], principals: &[&str]) -> AccessRule {
    let owned = |texts: &[&str]| texts.iter().copied().map(str::to_owned).collect();
    let (globs, principals) = (owned(globs), owned(principals));
    AccessRule { allows, globs, principals, ..AccessRule::default() }
}

pub(crate) fn mount(name: &str, provider: Arc<MemoryProvider>, rules: Vec<AccessRule>) -> Mount {
    mount_of(name, provider, rules)
}

pub(crate) fn mount_of(name: &str, provider: Arc<dyn Provider>, rules: Vec<AccessRule>) -> Mount {
    let address = Address::Path { scheme: "file", name: name.to_owned() };
    Mount::new(name, address, provider, options(rules))
}

pub(crate) fn options(rules: Vec<AccessRule>) -> MountOptions {
    MountOptions {
        access: Arc::new(AccessRules::new(rules).unwrap()),
        rules: MetadataRules::default(),
        tools: None,
        max_read: 1 << 20,
        timeout: Duration::from_secs(30),
        required: false,
        rendering: None,
        work_pool: Arc::default(),
        unpack: false,
        masks_itself: false,
        redaction: Default::default(),
    }
}

/// A provider with every facet, and with the secret things if `secrets`.
fn memory(secrets: bool) -> Arc<MemoryProvider> {
    let members = ["file:///docs/a.md", "file:///docs/secret", "file:///docs/z.md"];
    let open = [members[0], members[2]];
    let memory = MemoryProvider::new().with_watches().with_search();
    let mut memory = memory
        .text("file:///1.md", "word")
        .collection("file:///docs", if secrets { &members } else { &open })
        .text("file:///docs/a.md", "word a")
        .text("file:///docs/z.md", "word z");
    let mut values = vec!["a", "b"];
    if secrets {
        memory = memory
            .text("file:///docs/secret", "word")
            .text("file:///secret.txt", "word")
            .text("file:///secret2.txt", "word")
            .template("file:///secret/{id}", "{id}", &[("id", &["a"])])
            .tool("secret_tool", "{}", "{}")
            .prompt("secret_prompt", "{}", "{}");
        values.push("secret1");
    }
    memory = memory.text("file:///x.md", "word").tool("open_tool", "{}", r#"{"ok":1}"#);
    memory = memory.template("file:///t/{id}", "{id}", &[("id", &values)]);
    if secrets {
        memory = memory.text("file:///secret3.txt", "word");
    }
    Arc::new(memory)
}

/// What a catalog with secrets shows to bob, and what one without shows to him.
fn two_catalogs() -> [Catalog; 2] {
    let secret = ["secret*"];
    let denied = vec![
        rule(true, &["**"], &["ada"]),
        rule(false, &secret, &[]),
        rule(true, &["**"], &["bob"]),
    ];
    let vault = memory(true);
    vault.inject_fault(FaultPoint::List, Fault::Fails(resource::ErrorKind::Unavailable));
    let with = vec![
        mount("app", memory(true), denied),
        mount("vault", vault, vec![rule(true, &["**"], &["ada"])]),
    ];
    [Catalog::new(with), Catalog::new(vec![mount("app", memory(false), Vec::new())])]
}

fn wording(error: &Error) -> String {
    format!("{:?} {} {:?} {:?}", error.kind, error.message, error.uri, error.facts)
}

fn outcome<T>(result: resource::Result<T>, show: impl FnOnce(T) -> String) -> String {
    result.map_or_else(|error| wording(&error), show)
}

fn shown<T>(page: &Page<T>, name: impl Fn(&T) -> String) -> String {
    let items: Vec<String> = page.items.iter().map(|item| name(item)).collect();
    format!("{items:?} next {} absent {:?}", page.next.is_some(), page.absent)
}

/// Everything that can be asked of a catalog, in words.
async fn transcript(catalog: &Catalog, ctx: &Context) -> Vec<String> {
    let mut said = Vec::new();
    for limit in [1, 2, 3, 4, 100] {
        for parent in [None, Some(uri("file:///app/docs"))] {
            let mut request = PageRequest::first(limit);
            for _ in 0..20 {
                let listed = catalog.list(ctx, parent.as_ref(), &request).await;
                let next = listed.as_ref().ok().and_then(|page| page.next.clone());
                said.push(outcome(listed, |page| shown(&page, |item| format!("{item:?}"))));
                if next.is_none() {
                    break;
                }
                request.cursor = next;
            }
        }
    }
    let templates = catalog.templates(ctx, &PageRequest::first(10)).await.unwrap();
    said.push(shown(&templates, |one| one.uri.as_str().to_owned()));
    for path in [
        "app/1.md",
        "app/docs",
        "app/docs/secret",
        "app/secret.txt",
        "app/secret2.txt",
        "app/none",
        "vault/1.md",
        "vault/none",
        "none/x",
    ] {
        let uri = uri(&format!("file:///{path}"));
        said.push(outcome(catalog.stat(ctx, &uri).await, |resource| format!("{resource:?}")));
        let page = catalog.list(ctx, Some(&uri), &PageRequest::first(9)).await;
        said.push(outcome(page, |page| shown(&page, |item| item.uri.to_string())));
        let read = catalog.read(ctx, &uri, &ReadRequest::whole(100)).await;
        said.push(outcome(read, |reading| match reading.content {
            Content::Parts(parts) => format!("{parts:?}"),
            other => format!("{other:?}"),
        }));
        let watch = catalog.facets().watch.unwrap();
        let opened = watch.watch(ctx, Interest::Resource(uri)).await;
        said.push(outcome(opened, |_| "watched".to_owned()));
    }
    said.extend(facets_transcript(catalog, ctx).await);
    said
}

async fn facets_transcript(catalog: &Catalog, ctx: &Context) -> Vec<String> {
    let mut said = Vec::new();
    let facets = catalog.facets();
    let (complete, search, relay) =
        (facets.complete.unwrap(), facets.search.unwrap(), facets.relay.unwrap());
    let resolved = BTreeMap::new();
    for template in ["file:///app/t/{id}", "file:///vault/t/{id}", "file:///none/t/{id}"] {
        let request =
            CompletionRequest { template, variable: "id", typed: "", resolved: &resolved };
        said.push(outcome(complete.complete(ctx, &request).await, |found| format!("{found:?}")));
    }
    for limit in [1, 2, 100] {
        let (query, filter, cursor) = ("word".to_owned(), None, None);
        let request = SearchRequest { query, filter, cursor, limit };
        let hits = search.search(ctx, &request).await.unwrap();
        said.push(shown(&hits, |hit| hit.uri.to_string()));
        for kind in ComponentKind::ALL {
            let request = PageRequest::first(limit);
            let page = relay.list_components(ctx, kind, &Unchanged, &request).await.unwrap();
            said.push(shown(&page, |one| one.name.clone()));
        }
    }
    for name in ["app_open_tool", "vault_secret_tool", "none_tool"] {
        let (kind, params) = (ComponentKind::Tool, &"{}".into());
        let call = ComponentCall { kind, name, params, uri_rewrite: &Unchanged };
        said.push(outcome(relay.call_component(ctx, &call).await, |json| json.as_str().to_owned()));
    }
    let health = facets.health.unwrap();
    said.push(format!("{:?}", health.health(ctx)));
    said
}

#[tokio::test]
async fn what_is_denied_is_as_if_it_had_never_been_there() {
    let [with, without] = two_catalogs();
    let (seen, expected) = (transcript(&with, &bob()).await, transcript(&without, &bob()).await);
    for (seen, expected) in seen.iter().zip(&expected) {
        assert_eq!(seen, expected);
    }
    assert_eq!(seen.len(), expected.len());
    let ada = Context::new(Principal::authenticated("ada"));
    let whole = with.stat(&ada, &uri("file:///app/docs/secret")).await;
    assert!(whole.is_ok(), "{whole:?}");
    let nobody = transcript(&with, &testkit::local_context()).await;
    // Errors repeat what was asked for, and nothing else.
    let is_empty = |line: &String| {
        !line.contains("secret") || line.starts_with("NotFound") || line.starts_with("Invalid")
    };
    assert!(nobody.iter().all(is_empty), "{nobody:#?}");
}

#[tokio::test]
async fn a_denied_tool_or_prompt_is_neither_listed_nor_called() {
    let [with, _] = two_catalogs();
    let relay = with.facets().relay.unwrap();
    let params = "{}".into();
    for (kind, name) in
        [(ComponentKind::Tool, "app_secret_tool"), (ComponentKind::Prompt, "app_secret_prompt")]
    {
        let call = ComponentCall { kind, name, params: &params, uri_rewrite: &Unchanged };
        let error = relay.call_component(&bob(), &call).await.unwrap_err();
        assert!(error.message.starts_with("there is no "), "{error}");
        let ada = Context::new(Principal::authenticated("ada"));
        assert!(relay.call_component(&ada, &call).await.is_ok());
    }
    let resolved = BTreeMap::new();
    let (prompt, argument, typed) = ("app_secret_prompt", "a", "");
    let request = PromptCompletionRequest { prompt, argument, typed, resolved: &resolved };
    assert!(relay.complete_prompt(&bob(), &request).await.is_err());
}

#[tokio::test]
async fn changes_of_what_is_denied_are_not_reported() {
    let memory = memory(true);
    let rules = vec![rule(false, &["secret*"], &["bob"]), rule(true, &["**"], &["ada", "bob"])];
    let catalog = Catalog::new(vec![mount("app", Arc::clone(&memory), rules)]);
    let watch = catalog.facets().watch.unwrap();
    assert!(!watch.is_shared(&Interest::Everything), "principals see different changes");
    let mut seen = watch.watch(&bob(), Interest::Everything).await.unwrap();
    memory.write("file:///secret.txt", "new");
    memory.remove("file:///docs/secret");
    memory.write("file:///1.md", "new");
    let changes: Vec<_> = std::iter::from_fn(|| seen.next().now_or_never().flatten())
        .map(|one| format!("{one:?}"))
        .collect();
    assert!(changes.iter().any(|change| change.contains("app/1.md")), "{changes:?}");
    assert!(!changes.iter().any(|change| change.contains("secret")), "{changes:?}");
}

#[tokio::test]
async fn the_contract_holds_under_access_rules() {
    let rules = vec![rule(false, &["secret*"], &[])];
    let catalog = Catalog::new(vec![mount("app", memory(true), rules)]);
    let expected = Expectations {
        leaves: vec![(uri("file:///app/1.md"), b"word".to_vec())],
        missing: vec![uri("file:///app/secret.txt"), uri("file:///app/docs/secret")],
        ..Expectations::default()
    };
    contract(&catalog, &expected).await;
}

#[tokio::test]
async fn a_value_is_offered_if_some_uri_that_it_leads_to_is_allowed() {
    let template = "git:///{revision}/{+path}{?author}";
    let values: [(&str, &[&str]); 3] = [
        ("revision", &["main", "old", "draft"]),
        ("path", &["docs/a.md", "secret/b.md", "src/c.rs"]),
        ("author", &["ada"]),
    ];
    let memory = Arc::new(MemoryProvider::new().template(template, "{path}", &values));
    let offered = async |rules: Vec<AccessRule>, variable: &str, settled: &[(&str, &str)]| {
        let rules = Arc::new(AccessRules::new(rules).unwrap());
        let address = Arc::new(Address::Authority { scheme: "git", name: "app".to_owned() });
        let provider = Allowed { rules, address, unpacks: false }
            .around(Arc::clone(&memory) as Arc<dyn Provider>);
        let resolved = settled.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let request = CompletionRequest { template, variable, typed: "", resolved: &resolved };
        let complete = provider.facets().complete.unwrap();
        complete.complete(&testkit::local_context(), &request).await.unwrap().values
    };
    let deny = |glob: &str| rule(false, &[glob], &[]);
    let only = |glob: &str| vec![rule(true, &[glob], &[]), rule(false, &[], &[])];
    // In no revision is a file of `secret` allowed.
    let rules = || vec![deny("*/secret/**")];
    assert_eq!(offered(rules(), "path", &[]).await, ["docs/a.md", "src/c.rs"]);
    assert_eq!(offered(rules(), "path", &[("revision", "main")]).await, ["docs/a.md", "src/c.rs"]);
    assert_eq!(offered(rules(), "revision", &[]).await.len(), 3);
    // One revision is denied; what it has is in others.
    let rules = || vec![deny("draft/**")];
    assert_eq!(offered(rules(), "revision", &[]).await, ["main", "old"]);
    assert_eq!(offered(rules(), "path", &[]).await.len(), 3);
    assert_eq!(offered(rules(), "path", &[("revision", "draft")]).await.len(), 0);
    // Only one folder of one revision is allowed.
    let rules = || only("old/docs/**");
    assert_eq!(offered(rules(), "revision", &[]).await, ["old"]);
    assert_eq!(offered(rules(), "path", &[]).await, ["docs/a.md"]);
    assert_eq!(offered(rules(), "path", &[("revision", "main")]).await.len(), 0);
}
