//! Tests of the redaction layer: what a source says while it works, and about itself.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use catalog::{Address, Mount, MountOptions};
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use redaction::{Redaction, RedactionScope, Redactor};
use resource::{
    Caller, Change, Completion, Component, ComponentCall, ComponentKind, Context, Error, Facets,
    HealthFact, HealthStatus, Interest, Json, MemberPlace, Page, PageRequest, ProgressSink,
    ProgressStep, PromptCompletionRequest, Provider, ReadRequest, Reading, Relay, Resource, Result,
    TaskAction, TaskCall, Template, UnknownMembers, Uri, UriRewrite, Watch,
};
use testkit::{MemoryProvider, local_context};

use crate::catalog::terms;
use crate::redacted::{PASSWORD, Unchanged, key, redacted, uri};

/// A source that logs, reports progress, asks and fails, with a secret in all of it.
struct Talker(MemoryProvider);

impl Talker {
    fn new() -> Self {
        let json = |kind: &str| format!(r#"{{"name":"p","description":"{kind} {}"}}"#, key());
        let answer = format!(
            r#"{{"messages":[{{"role":"user","content":{{"type":"text","text":"use {}"}}}},
                {{"role":"user","content":{{"type":"resource","resource":
                    {{"uri":"file:///app/.env","text":"PORT=80\nDB_PASSWORD={PASSWORD}"}}}}}}]}}"#,
            key()
        );
        let memory = MemoryProvider::new()
            .prompt("p", &json("prompt"), &answer)
            .with_suggestions(&["plain", &format!("token {}", key()), "other"]);
        Self(memory)
    }
}

#[async_trait]
impl Provider for Talker {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.0.list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.0.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.0.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.0.read(ctx, uri, request).await
    }

    fn facets(&self) -> Facets<'_> {
        Facets { relay: Some(self), watch: Some(self), ..self.0.facets() }
    }
}

#[async_trait]
impl Relay for Talker {
    fn may_have(&self, _: &Context, _: ComponentKind) -> bool {
        true
    }

    fn emits_logs(&self, _: &Context) -> bool {
        true
    }

    async fn list_components(
        &self,
        ctx: &Context,
        kind: ComponentKind,
        rewrite: &dyn UriRewrite,
        paging: &PageRequest,
    ) -> Result<Page<Component>> {
        self.0.facets().relay.unwrap().list_components(ctx, kind, rewrite, paging).await
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        if call.kind == ComponentKind::Prompt {
            return self.0.facets().relay.unwrap().call_component(ctx, call).await;
        }
        let caller = ctx.caller().unwrap();
        let log =
            format!(r#"{{"level":"info","data":{{"password":"{PASSWORD}","text":"{}"}}}}"#, key());
        caller.log(&log.into());
        let message = Some(format!("with {}", key()));
        ctx.progress_sink().unwrap().report(ProgressStep { done: 1.0, total: None, message });
        let question = format!(
            r#"{{"message":"is {} yours?","requestedSchema":{{"properties":{{"password":{{"type":"string"}}}}}}}}"#,
            key()
        );
        let answer = caller.send_request("elicitation/create", &question.into()).await?;
        Err(Error::unavailable(format!("failed with {} after {}", key(), answer.as_str())))
    }

    fn has_tasks(&self, _: &Context) -> bool {
        true
    }

    async fn call_task(&self, _: &Context, _: &TaskCall<'_>) -> Result<Json> {
        Ok(format!(r#"{{"status":"working","statusMessage":"{}"}}"#, key()).into())
    }

    async fn complete_prompt(
        &self,
        ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        self.0.facets().relay.unwrap().complete_prompt(ctx, request).await
    }
}

#[async_trait]
impl Watch for Talker {
    async fn watch(
        &self,
        _: &Context,
        _: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let mut extra = UnknownMembers::default();
        extra.set(MemberPlace::Meta, "example/token", format!("\"{PASSWORD}\""));
        extra.set(MemberPlace::Meta, "example/note", format!("\"{} {}\"", "from", key()));
        let change = Change::Updated(uri("file:///x")).with_extra(Some(Arc::new(extra)));
        Ok(Box::pin(stream::once(async move { change })))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        true
    }
}

/// Keeps everything that a caller is told.
#[derive(Default)]
struct Recorder {
    capabilities: Option<Json>,
    told: Mutex<Vec<String>>,
}

impl Recorder {
    fn new() -> Arc<Self> {
        Arc::new(Self { capabilities: Some("{}".into()), ..Self::default() })
    }
}

#[async_trait]
impl Caller for Recorder {
    fn id(&self) -> u64 {
        1
    }

    fn capabilities(&self) -> &Json {
        self.capabilities.as_ref().unwrap()
    }

    fn accepts_requests(&self) -> bool {
        true
    }

    async fn send_request(&self, method: &str, params: &Json) -> Result<Json> {
        self.told.lock().push(format!("{method} {}", params.as_str()));
        Ok(r#"{"action":"accept"}"#.into())
    }

    fn input_response(&self) -> Option<&Json> {
        None
    }

    fn log_level(&self) -> Option<&'static str> {
        Some("debug")
    }

    fn log(&self, message: &Json) {
        self.told.lock().push(message.as_str().to_owned());
    }
}

impl ProgressSink for Recorder {
    fn report(&self, step: ProgressStep) {
        self.told.lock().push(format!("{step:?}"));
    }
}

#[track_caller]
fn assert_masked(told: &str) {
    assert!(!told.contains(&key()) && !told.contains(PASSWORD), "{told}");
    assert!(told.contains("[redacted "), "{told}");
}

fn call(kind: ComponentKind, params: &Json) -> ComponentCall<'_> {
    ComponentCall { kind, name: "p", params, uri_rewrite: &Unchanged }
}

#[tokio::test]
async fn logs_progress_questions_and_failures_of_a_tool_are_masked() {
    let provider = redacted(RedactionScope::Everything, Talker::new());
    let recorder = Recorder::new();
    let ctx = testkit::local_context()
        .with_caller(Arc::clone(&recorder) as _)
        .with_progress(Arc::clone(&recorder) as _);
    let relay = provider.facets().relay.unwrap();
    let params = "{}".into();
    let error = relay.call_component(&ctx, &call(ComponentKind::Tool, &params)).await.unwrap_err();
    assert_masked(&error.with_causes());
    assert!(error.message.contains(r#"{"action":"accept"}"#), "the answer came: {error}");
    let told = recorder.told.lock().clone();
    let [log, progress, question] = told.try_into().unwrap();
    for text in [&log, &progress, &question] {
        assert_masked(text);
    }
    assert!(log.contains(r#""level":"info""#), "{log}");
    assert!(question.starts_with("elicitation/create "), "{question}");
    assert!(question.contains(r#""password":{"type":"string"}"#), "a name of a field: {question}");
    let task = TaskCall {
        action: TaskAction::Get,
        tool: "p",
        task: "1",
        params: &params,
        uri_rewrite: &Unchanged,
    };
    assert_masked(relay.call_task(&ctx, &task).await.unwrap().as_str());
}

#[tokio::test]
async fn prompts_and_their_completions_are_masked() {
    let provider = redacted(RedactionScope::Everything, Talker::new());
    let ctx = testkit::local_context();
    let relay = provider.facets().relay.unwrap();
    let paging = PageRequest::first(9);
    let listed = relay.list_components(&ctx, ComponentKind::Prompt, &Unchanged, &paging).await;
    assert_masked(listed.unwrap().items[0].json.as_str());
    let params = "{}".into();
    let prompt = relay.call_component(&ctx, &call(ComponentKind::Prompt, &params)).await.unwrap();
    assert_masked(prompt.as_str());
    assert!(prompt.as_str().contains("PORT=80"), "{}", prompt.as_str());
    let resolved = BTreeMap::new();
    let request =
        PromptCompletionRequest { prompt: "p", argument: "a", typed: "", resolved: &resolved };
    let completion = relay.complete_prompt(&ctx, &request).await.unwrap();
    assert_eq!(completion.values, ["plain", "other"]);
    assert_eq!(completion.total, 2);
}

#[tokio::test]
async fn members_of_change_notices_are_masked() {
    let provider = redacted(RedactionScope::Everything, Talker::new());
    let ctx = testkit::local_context();
    let watch = provider.facets().watch.unwrap();
    let mut changes = watch.watch(&ctx, Interest::Everything).await.unwrap();
    let change = changes.next().await.unwrap();
    assert_masked(&format!("{change:?}"));
    let (_, extra) = change.into_parts();
    let note = extra.unwrap().get(MemberPlace::Meta, "example/note").unwrap().to_owned();
    assert!(note.starts_with("\"from [redacted "), "{note}");
}

#[tokio::test]
async fn facts_of_a_source_are_masked_however_deep() {
    let name = HealthFact::Group(vec![("name", HealthFact::Text(format!("x {}", key())))]);
    let facts = vec![
        ("instructions", HealthFact::Text(format!("use {}", key()))),
        ("server", HealthFact::Group(vec![("inner", name)])),
        ("count", HealthFact::Count(3)),
    ];
    let memory = MemoryProvider::new().with_health(HealthStatus { facts, ..HealthStatus::ready() });
    let provider = redacted(RedactionScope::Everything, memory);
    let status = provider.facets().health.unwrap().health(&testkit::local_context());
    assert_masked(&format!("{:?}", status.facts[0]));
    assert_masked(&format!("{:?}", status.facts[1]));
    assert_eq!(status.facts[2], ("count", HealthFact::Count(3)));
}

/// A mount of `memory` that masks everything.
fn mount(memory: MemoryProvider) -> Mount {
    let redaction = Redaction::new(RedactionScope::Everything, Arc::new(Redactor::default()));
    let address = Address::Path { scheme: "file", name: "app".to_owned() };
    Mount::new("app", address, memory, MountOptions { redaction, ..terms() })
}

#[tokio::test]
async fn a_text_is_cut_after_its_secrets_are_masked() {
    for (name, most) in [("instructions", 1_000), ("name", 100)] {
        for before in most - 30..most {
            let text = format!("{} {}", "é".repeat(before - 1), key());
            let group = HealthFact::Group(vec![(name, HealthFact::Text(text.clone()))]);
            let facts = vec![(name, HealthFact::Text(text)), ("server", group)];
            let health = HealthStatus { facts, ..HealthStatus::ready() };
            let status = mount(MemoryProvider::new().with_health(health)).health(&local_context());
            let told = format!("{:?}", status.facts);
            assert!(!told.contains(&key()[..5]), "{told}");
            let HealthFact::Text(text) = &status.facts[0].1 else { panic!("{told}") };
            assert_eq!(text.chars().count(), most.min(before + 23 + 2), "{told}");
        }
    }
}
