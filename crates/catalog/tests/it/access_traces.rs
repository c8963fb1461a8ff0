//! Tests of access rules: completions, absences, health and counts keep no trace of what is denied.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use catalog::{AccessRule, Catalog};
use resource::{
    Absence, Completion, CompletionRequest, Content, Context, ErrorKind, Facets, Health,
    HealthFact, HealthStatus, Page, PageRequest, Principal, Provider, ReadRequest, Reading,
    Resource, Template, Uri,
};
use testkit::MemoryProvider;

use crate::access::{bob, mount_of, uri};

fn rule(allows: bool, globs: &[&str]) -> AccessRule {
    let globs = globs.iter().copied().map(str::to_owned).collect();
    AccessRule { allows, globs, ..AccessRule::default() }
}

fn deny(globs: &[&str]) -> Vec<AccessRule> {
    vec![rule(false, globs)]
}

fn catalog(provider: impl Provider + 'static, rules: Vec<AccessRule>) -> Catalog {
    Catalog::new(vec![mount_of("m", Arc::new(provider), rules)])
}

async fn completed(catalog: &Catalog, typed: &str) -> Completion {
    let (template, variable, resolved) = ("file:///m/{+path}", "path", &BTreeMap::new());
    let request = CompletionRequest { template, variable, typed, resolved };
    catalog.facets().complete.unwrap().complete(&bob(), &request).await.unwrap()
}

#[tokio::test]
async fn values_that_are_denied_are_neither_counted_nor_said_to_be_more() {
    let names = |folder: &str, count: usize| -> Vec<String> {
        (0..count).map(|at| format!("{folder}/{at:03}")).collect()
    };
    let all = [names("docs", 150), names("mixed", 90), names("secret", 150)].concat();
    let all = all.into_iter().chain((0..90).map(|at| format!("mixed/z{at}.key")));
    let all: Vec<String> = all.collect();
    let values: Vec<&str> = all.iter().map(String::as_str).collect();
    let memory = || {
        let values: [(&str, &[&str]); 1] = [("path", &values)];
        MemoryProvider::new().template("file:///{+path}", "{path}", &values)
    };
    let with = catalog(memory(), deny(&["secret/**", "mixed/*.key"]));
    for typed in ["secret/", "secret/0", "none/"] {
        assert_eq!(completed(&with, typed).await, Completion::default(), "{typed}");
    }
    let docs = completed(&with, "docs/").await;
    assert_eq!((docs.values.len(), docs.total), (100, 150), "nothing is denied there");
    let mixed = completed(&with, "mixed/").await;
    assert_eq!((mixed.values.len(), mixed.total), (90, 90));
    let top = completed(&with, "").await;
    assert_eq!((top.values.len(), top.total), (100, 100), "more may be denied");
}

/// Tells of parts of its list that are missing, and fails in the completion of some folders.
struct Broken(MemoryProvider);

#[async_trait]
impl Provider for Broken {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> resource::Result<Page<Resource>> {
        let names = ["secret", "docs/deep", "docs/a.key", "file:///secret/x.zip", "file:///x.zip"];
        let gap = |name: &str| Absence { name: name.to_owned(), reason: "cannot be read".into() };
        let absent = names.into_iter().map(gap).collect();
        Ok(Page { absent, ..self.0.list(ctx, parent, paging).await? })
    }

    async fn templates(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> resource::Result<Page<Template>> {
        self.0.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> resource::Result<Arc<Resource>> {
        self.0.stat(ctx, uri).await
    }

    /// Counts too few parts.
    async fn read(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> resource::Result<Reading> {
        let mut reading = self.0.read(ctx, uri, request).await?;
        let denied = self.0.read(ctx, &self::uri("file:///secret/b"), request).await?;
        if let (Content::Parts(parts), Content::Parts(more)) =
            (&mut reading.content, denied.content)
        {
            parts.extend(more);
        }
        reading.total_parts = 0;
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        Facets { complete: Some(self), health: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl resource::Complete for Broken {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(
        &self,
        _: &Context,
        request: &CompletionRequest<'_>,
    ) -> resource::Result<Completion> {
        match request.typed.starts_with("secret/") {
            true => Err(resource::Error::new(ErrorKind::Denied, "no permission")),
            false => Ok(Completion::default()),
        }
    }
}

impl Health for Broken {
    fn health(&self, _: &Context) -> HealthStatus {
        let group = |name, fact| HealthFact::Group(vec![(name, fact)]);
        let mut status = HealthStatus::degraded("the last request failed");
        status.cause = Some("no secret/b".to_owned());
        status.facts = vec![
            ("era", HealthFact::Text("modern".to_owned())),
            ("capabilities", group("prompts", HealthFact::Flag(true))),
            ("counts", group("resources", HealthFact::Count(3))),
            ("last_error", group("words", HealthFact::Text("no secret/b".to_owned()))),
        ];
        status
    }

    fn is_available(&self, _: &Context) -> bool {
        true
    }
}

fn broken() -> Broken {
    let memory = MemoryProvider::new().template("file:///{+path}", "{path}", &[]);
    Broken(memory.text("file:///a.md", "a").text("file:///secret/b", "b"))
}

async fn absent(catalog: &Catalog, ctx: &Context) -> Vec<String> {
    let page = catalog.list(ctx, None, &PageRequest::first(9)).await.unwrap();
    page.absent.into_iter().map(|gap| gap.name).collect()
}

#[tokio::test]
async fn a_part_of_a_list_that_is_denied_is_not_told_to_be_missing() {
    let denying = catalog(broken(), deny(&["secret/**", "*.key"]));
    assert_eq!(absent(&denying, &bob()).await, ["m/docs/deep"]);
    let internal = Context::new(Principal::internal());
    assert_eq!(absent(&denying, &internal).await.len(), 5);
    let denying = catalog(broken(), deny(&["file:///m/secret", "file:///m/docs"]));
    assert_eq!(absent(&denying, &bob()).await, ["m/file:///x.zip"]);
    let allowing = catalog(broken(), vec![rule(true, &["docs/**"]), rule(false, &["**"])]);
    assert_eq!(absent(&allowing, &bob()).await, ["m/docs/deep", "m/docs/a.key"]);
}

#[tokio::test]
async fn a_denied_folder_that_cannot_be_completed_is_as_one_that_is_not_there() {
    let catalog = catalog(broken(), deny(&["secret/**"]));
    assert_eq!(completed(&catalog, "secret/").await, completed(&catalog, "none/").await);
}

#[tokio::test]
async fn health_neither_counts_nor_names_what_is_denied() {
    let mut rules = deny(&["secret/**"]);
    rules[0].principals = vec!["bob".to_owned()];
    let no_prompts = AccessRule {
        classes: vec![catalog::MethodClass::Prompt],
        principals: vec!["bob".to_owned()],
        ..rule(false, &[])
    };
    rules
        .extend([no_prompts, AccessRule { principals: vec!["ada".to_owned()], ..rule(true, &[]) }]);
    rules.push(AccessRule { principals: vec!["bob".to_owned()], ..rule(true, &[]) });
    let mount = mount_of("m", Arc::new(broken()), rules);
    let told = mount.health(&bob());
    let expected = [
        ("era", HealthFact::Text("modern".to_owned())),
        ("capabilities", HealthFact::Group(Vec::new())),
    ];
    assert_eq!(told.facts, expected);
    assert_eq!(told.words().as_deref(), Some("the last request failed"));
    let told = mount.health(&Context::new(Principal::authenticated("ada")));
    assert_eq!(told.facts.len(), 4, "nothing is denied to her");
    assert_eq!(told.words().as_deref(), Some("the last request failed: no secret/b"));
}

#[tokio::test]
async fn parts_that_are_denied_are_counted_off_whatever_the_source_counted() {
    let catalog = catalog(broken(), deny(&["secret/**"]));
    let reading = catalog.read(&bob(), &uri("file:///m/a.md"), &ReadRequest::whole(9)).await;
    assert_eq!(reading.unwrap().total_parts, 1);
}
