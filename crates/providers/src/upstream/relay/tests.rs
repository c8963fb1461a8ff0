//! Tests of relayed tools and prompts, against a server built with rmcp.

mod server_requests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{Backoff, Client, Options, PipeOpener, PipeReader, PipeWriter, ServerTarget};
use resource::{
    ComponentCall, ComponentKind, Context, ErrorKind, PageRequest, ProgressSink, ProgressStep,
    PromptCompletionRequest, Relay, UriRewrite,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    ListPromptsResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, Prompt,
    PromptMessage, ProtocolVersion, Resource, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{duplex, split};
use tokio::time::timeout;

use super::{FlawLog, RelayCursor, StartingServer, UpstreamRelay};

#[derive(Clone)]
struct RmcpServer {
    versions: &'static [ProtocolVersion],
    /// The state of the call that never ends: begun, or cancelled.
    call_state: Arc<AtomicUsize>,
}

const OLD: &[ProtocolVersion] = &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];

const BEGUN: usize = 1;
const CANCELLED: usize = 2;

struct CancelMarker(Arc<AtomicUsize>);

impl Drop for CancelMarker {
    fn drop(&mut self) {
        self.0.store(CANCELLED, Ordering::SeqCst);
    }
}

fn everything(text: &str) -> CallToolResult {
    let mut result = CallToolResult::success(vec![
        ContentBlock::text(text),
        ContentBlock::image("AAAA", "image/png"),
        ContentBlock::embedded_text("str:embedded", "inside"),
        ContentBlock::resource_link(Resource::new("str:linked", "linked")),
    ]);
    result.structured_content = Some(json!({ "uri": "str:untouched", "n": 1.5 }));
    result
}

impl ServerHandler for RmcpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.versions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({ "type": "object" });
        let schema = Arc::new(schema.as_object().cloned().unwrap_or_default());
        let tool = |name: &'static str| Tool::new(name, "a tool", Arc::clone(&schema));
        Ok(ListToolsResult::with_all_items(["echo", "fail", "hang"].map(tool).to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "echo" => {
                if let Some(token) = context.meta.get_progress_token() {
                    let told = ProgressNotificationParam::new(token, 0.5).with_total(2.0);
                    let _ = context.peer.notify_progress(told.with_message("halfway")).await;
                }
                let _ = context.peer.notify_tool_list_changed().await;
                let arguments = Value::from(request.arguments.unwrap_or_default());
                Ok(everything(arguments["uri"].as_str().unwrap_or("none")).into())
            }
            "hang" => {
                let _let_go = CancelMarker(Arc::clone(&self.call_state));
                self.call_state.store(BEGUN, Ordering::SeqCst);
                context.ct.cancelled().await;
                Err(ErrorData::internal_error("cancelled", None))
            }
            _ => Err(ErrorData::invalid_params("no such tool", Some(json!({ "uri": "str:it" })))),
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("greet", Some("hello"), None)]))
    }

    async fn get_prompt(
        &self,
        _request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let link = ContentBlock::resource_link(Resource::new("str:linked", "linked"));
        Ok(GetPromptResult::new(vec![PromptMessage::new(Role::User, link)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = vec![format!("{}da", request.argument.value)];
        let values =
            CompletionInfo::new(values).map_err(|why| ErrorData::internal_error(why, None));
        Ok(CompleteResult::new(values?))
    }
}

impl PipeOpener for RmcpServer {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let (ours, theirs) = duplex(1 << 16);
        let stranger = self.clone();
        tokio::spawn(async move {
            let running = stranger.serve(split(theirs)).await.unwrap();
            running.waiting().await.unwrap();
        });
        let (read, write) = split(ours);
        Ok((Box::new(read), Box::new(write)))
    }
}

struct Notes;

impl UriRewrite for Notes {
    fn to_public(&self, local: &str) -> Option<String> {
        Some(format!("notes+{local}"))
    }

    fn to_local(&self, public: &str) -> Option<String> {
        public.strip_prefix("notes+").map(str::to_owned)
    }
}

#[derive(Default)]
struct Steps(Mutex<Vec<ProgressStep>>);

impl ProgressSink for Steps {
    fn report(&self, step: ProgressStep) {
        self.0.lock().unwrap().push(step);
    }
}

async fn within_timeout<T>(event: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), event).await.expect("timed out")
}

/// A relay in front of a server of each era.
fn relays_of_each_era() -> [(UpstreamRelay, Arc<AtomicUsize>); 2] {
    [OLD, ProtocolVersion::KNOWN_VERSIONS].map(|versions| {
        let moment = Duration::from_millis(1);
        let backoff = Backoff { first: moment, max: moment };
        let options = Options { backoff, exit_timeout: moment, ..Options::default() };
        let fate = Arc::new(AtomicUsize::new(0));
        let stranger = RmcpServer { versions, call_state: Arc::clone(&fate) };
        let client = Client::new(ServerTarget::Pipes(Arc::new(stranger)), options);
        (
            UpstreamRelay::new(
                StartingServer { client, wait: Duration::from_secs(60) },
                Arc::new(FlawLog::new("a server".to_owned())),
            ),
            fate,
        )
    })
}

async fn call_tool_or_prompt(
    relay: &UpstreamRelay,
    ctx: &Context,
    kind: ComponentKind,
    name: &str,
    params: &Value,
) -> resource::Result<Value> {
    let params = params.to_string().into();
    let calling = ComponentCall { kind, name, params: &params, uri_rewrite: &Notes };
    let json = within_timeout(relay.call_component(ctx, &calling)).await?;
    Ok(serde_json::from_str(json.as_str()).unwrap())
}

#[tokio::test]
async fn a_result_of_every_kind_passes_under_public_names() {
    for (relayed, _) in relays_of_each_era() {
        let steps = Arc::new(Steps::default());
        let ctx = testkit::local_context().with_progress(Arc::<Steps>::clone(&steps));
        let params = json!({ "name": "notes_echo", "arguments": { "uri": "notes+str:mine" } });
        let result = call_tool_or_prompt(&relayed, &ctx, ComponentKind::Tool, "echo", &params)
            .await
            .unwrap();
        let content = &result["content"];
        assert_eq!(content[0], json!({ "type": "text", "text": "str:mine" }), "its own URI again");
        assert_eq!(content[1]["data"], "AAAA");
        assert_eq!(content[2]["resource"]["uri"], "notes+str:embedded");
        assert_eq!(content[3]["uri"], "notes+str:linked");
        assert_eq!(result["structuredContent"], json!({ "uri": "str:untouched", "n": 1.5 }));
        let told =
            ProgressStep { done: 0.5, total: Some(2.0), message: Some("halfway".to_owned()) };
        assert_eq!(*steps.0.lock().unwrap(), [told]);
        let params = json!({ "name": "notes_greet" });
        let result = call_tool_or_prompt(&relayed, &ctx, ComponentKind::Prompt, "greet", &params)
            .await
            .unwrap();
        assert_eq!(result["messages"][0]["content"]["uri"], "notes+str:linked");
    }
}

#[tokio::test]
async fn lists_are_cut_to_the_pages_that_are_asked_for() {
    for (relayed, _) in relays_of_each_era() {
        let mut names = Vec::new();
        let mut ask = PageRequest::first(2);
        loop {
            let page = within_timeout(relayed.list_components(
                &testkit::local_context(),
                ComponentKind::Tool,
                &Notes,
                &ask,
            ))
            .await
            .unwrap();
            assert!(page.items.len() <= 2);
            names.extend(page.items.iter().map(|item| item.name.clone()));
            let Some(next) = page.next else { break };
            ask.cursor = Some(next);
        }
        assert_eq!(names, ["echo", "fail", "hang"]);
        for kind in ComponentKind::ALL {
            assert!(relayed.may_have(&testkit::local_context(), kind), "{kind:?}");
        }
        ask.cursor =
            Some(RelayCursor { after: Some("gone".to_owned()), ..RelayCursor::default() }.encode());
        let error = within_timeout(relayed.list_components(
            &testkit::local_context(),
            ComponentKind::Tool,
            &Notes,
            &ask,
        ))
        .await
        .unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn what_a_server_refuses_is_told_in_its_own_words() {
    for (relayed, _) in relays_of_each_era() {
        let params = json!({ "name": "notes_fail" });
        let ctx = testkit::local_context();
        let error = call_tool_or_prompt(&relayed, &ctx, ComponentKind::Tool, "fail", &params)
            .await
            .unwrap_err();
        let said = error.upstream.unwrap();
        assert_eq!((said.code, said.message.as_str()), (-32602, "no such tool"));
        assert_eq!(said.data.unwrap().as_str(), r#"{"uri":"notes+str:it"}"#);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    for (relayed, fate) in relays_of_each_era() {
        let reached = async |stage| {
            while fate.load(Ordering::SeqCst) != stage {
                tokio::task::yield_now().await;
            }
        };
        let ctx = testkit::local_context();
        let params = r#"{"name":"notes_hang"}"#.into();
        let calling = ComponentCall {
            kind: ComponentKind::Tool,
            name: "hang",
            params: &params,
            uri_rewrite: &Notes,
        };
        tokio::select! {
            _ = relayed.call_component(&ctx, &calling) => panic!("it never ends by itself"),
            () = within_timeout(reached(BEGUN)) => {}
        }
        within_timeout(reached(CANCELLED)).await;
    }
}

#[tokio::test]
async fn suggestions_pass() {
    for (relayed, _) in relays_of_each_era() {
        let settled = BTreeMap::new();
        let blank = PromptCompletionRequest {
            prompt: "greet",
            argument: "who",
            typed: "A",
            resolved: &settled,
        };
        let completion = within_timeout(relayed.complete_prompt(&testkit::local_context(), &blank))
            .await
            .unwrap();
        assert_eq!(completion.values, ["Ada"]);
    }
}

#[test]
fn a_place_is_read_as_it_was_written() {
    for page in [None, Some(String::new()), Some("p\u{0}".to_owned())] {
        for after in [None, Some(String::new()), Some("é".to_owned())] {
            let place = RelayCursor { page: page.clone(), after, depth: 7 };
            assert_eq!(RelayCursor::decode(&place.encode()).unwrap(), place);
        }
    }
    for odd in ["", "x", "\u{1}\u{9}"] {
        let cursor = resource::Cursor(odd.as_bytes().to_vec().into());
        assert!(RelayCursor::decode(&cursor).is_err());
    }
}
