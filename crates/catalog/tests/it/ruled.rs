//! Tests of the metadata-rules layer: filters for the source, results of tools, and what is missing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use catalog::layers::Layer as _;
use catalog::{MetadataRule, MetadataRules, RuleEffect};
use resource::{
    Absence, Completion, CompletionRequest, Component, ComponentCall, ComponentKind, Context,
    Facets, Filter, Json, Page, PageRequest, PromptCompletionRequest, Provider, ReadRequest,
    Reading, Relay, Resource, Result, Role, TaskAction, TaskCall, Template, Uri, UriRewrite,
};
use testkit::MemoryProvider;

fn ruled(glob: &str, effect: RuleEffect, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
    MetadataRules::new([MetadataRule { glob: glob.to_owned(), effect }]).unwrap().around(inner)
}

fn hide() -> RuleEffect {
    RuleEffect { hide: Some(true), ..RuleEffect::default() }
}

/// A source with absences. Remembers the filter of the last list, and answers a call with which of the
/// URIs in its parameters it may show.
#[derive(Default)]
struct Source {
    memory: MemoryProvider,
    filter: Mutex<Option<Filter>>,
}

#[async_trait]
impl Provider for Source {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        *self.filter.lock().unwrap() = paging.filter.as_deref().cloned();
        let names = ["docs", "private/deep", "file:///private/x.zip"];
        let gap = |name: &str| Absence { name: name.to_owned(), reason: "cannot be read".into() };
        let absent = names.into_iter().map(gap).collect();
        Ok(Page { absent, ..self.memory.list(ctx, parent, paging).await? })
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
        Facets { relay: Some(self), ..Facets::default() }
    }
}

fn shown(params: &Json, rewrite: &dyn UriRewrite) -> Json {
    let uris = params.as_str().split(' ').filter(|uri| rewrite.shows(uri));
    uris.collect::<Vec<_>>().join(" ").into()
}

#[async_trait]
impl Relay for Source {
    fn may_have(&self, _: &Context, _: ComponentKind) -> bool {
        true
    }

    fn emits_logs(&self, _: &Context) -> bool {
        true
    }

    async fn list_components(
        &self,
        _: &Context,
        _: ComponentKind,
        _: &dyn UriRewrite,
        _: &PageRequest,
    ) -> Result<Page<Component>> {
        Ok(Page::empty())
    }

    async fn call_component(&self, _: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        Ok(shown(call.params, call.uri_rewrite))
    }

    fn has_tasks(&self, _: &Context) -> bool {
        true
    }

    async fn call_task(&self, _: &Context, call: &TaskCall<'_>) -> Result<Json> {
        Ok(shown(call.params, call.uri_rewrite))
    }

    async fn complete_prompt(
        &self,
        _: &Context,
        _: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        Ok(Completion::default())
    }
}

struct Unchanged;

impl UriRewrite for Unchanged {
    fn to_public(&self, _: &str) -> Option<String> {
        None
    }

    fn to_local(&self, _: &str) -> Option<String> {
        None
    }
}

#[tokio::test]
async fn results_of_tools_and_tasks_do_not_show_what_is_hidden() {
    let ruled = ruled("private", hide(), Arc::new(Source::default()));
    let (relay, ctx) = (ruled.facets().relay.unwrap(), testkit::local_context());
    assert!(relay.may_have(&ctx, ComponentKind::Tool) && relay.emits_logs(&ctx));
    assert!(relay.has_tasks(&ctx));
    let params = &"file:///private/x file:///docs/a no-uri file:///docs/private/b".into();
    let (kind, name, uri_rewrite) = (ComponentKind::Tool, "t", &Unchanged);
    let call = ComponentCall { kind, name, params, uri_rewrite };
    let called = relay.call_component(&ctx, &call).await.unwrap();
    assert_eq!(called.as_str(), "file:///docs/a no-uri");
    let (action, tool, task) = (TaskAction::Get, "t", "1");
    let call = TaskCall { action, tool, task, params, uri_rewrite };
    assert_eq!(relay.call_task(&ctx, &call).await.unwrap(), called);
}

#[tokio::test]
async fn a_hidden_part_of_a_list_is_not_told_to_be_missing() {
    let ruled = ruled("private", hide(), Arc::new(Source::default()));
    let page = ruled.list(&testkit::local_context(), None, &PageRequest::first(9)).await.unwrap();
    let names: Vec<_> = page.absent.iter().map(|gap| gap.name.as_str()).collect();
    assert_eq!(names, ["docs"]);
}

#[tokio::test]
async fn a_source_is_given_the_conditions_that_no_rule_changes() {
    let effect = RuleEffect::default;
    for (effect, passed) in [
        (RuleEffect { description: Some("d".to_owned()), ..effect() }, [true, true, true]),
        (RuleEffect { title: Some("t".to_owned()), ..effect() }, [false, true, true]),
        (RuleEffect { audience: Some(Vec::new()), ..effect() }, [true, false, true]),
        (RuleEffect { priority: Some(0.5), ..effect() }, [true, true, false]),
    ] {
        let source = Arc::new(Source::default());
        let ruled = ruled("*.md", effect, Arc::clone(&source) as Arc<dyn Provider>);
        let filter = Filter {
            name: Some("a".to_owned()),
            audience: Some(Role::User),
            min_priority: Some(0.1),
            mime: Some("text/plain".to_owned()),
            ..Filter::default()
        };
        let request = PageRequest::first(9).with_filter(Some(Arc::new(filter)));
        ruled.list(&testkit::local_context(), None, &request).await.unwrap();
        let asked = source.filter.lock().unwrap().clone().unwrap();
        let seen = [asked.name.is_some(), asked.audience.is_some(), asked.min_priority.is_some()];
        assert_eq!((seen, asked.mime.as_deref()), (passed, Some("text/plain")));
    }
}

#[tokio::test]
async fn hidden_values_alone_are_not_said_to_be_more() {
    let names: Vec<String> = (0..150).map(|at| format!("n{at:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let template = "note://p/{id}";
    let memory = MemoryProvider::new().template(template, "{id}", &[("id", &names)]);
    let ruled = ruled("p/n*", hide(), Arc::new(memory));
    let resolved = &BTreeMap::new();
    let request = CompletionRequest { template, variable: "id", typed: "", resolved };
    let complete = ruled.facets().complete.unwrap();
    let completion = complete.complete(&testkit::local_context(), &request).await.unwrap();
    assert_eq!((completion.values.len(), completion.total), (0, 0));
}
