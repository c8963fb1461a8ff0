//! Tests of relayed tools and prompts, against a server built with rmcp.

mod asking;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{Backoff, Client, Options, Pipes, Reading, Target, Writing};
use futures_util::StreamExt;
use resource::{
    Ask, Blank, Calling, Change, Context, ErrorKind, Names, Offer, Progress, Relay, Step,
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

use super::{Place, Relayed};

#[derive(Clone)]
struct Stranger {
    versions: &'static [ProtocolVersion],
    /// The state of the call that never ends: begun, or cancelled.
    fate: Arc<AtomicUsize>,
}

const OLD: &[ProtocolVersion] = &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];

const BEGUN: usize = 1;
const LET_GO: usize = 2;

struct LetGo(Arc<AtomicUsize>);

impl Drop for LetGo {
    fn drop(&mut self) {
        self.0.store(LET_GO, Ordering::SeqCst);
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

impl ServerHandler for Stranger {
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
                let _let_go = LetGo(Arc::clone(&self.fate));
                self.fate.store(BEGUN, Ordering::SeqCst);
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

impl Pipes for Stranger {
    fn open(&self) -> io::Result<(Reading, Writing)> {
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

impl Names for Notes {
    fn public(&self, local: &str) -> Option<String> {
        Some(format!("notes+{local}"))
    }

    fn local(&self, public: &str) -> Option<String> {
        public.strip_prefix("notes+").map(str::to_owned)
    }
}

#[derive(Default)]
struct Steps(Mutex<Vec<Step>>);

impl Progress for Steps {
    fn report(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }
}

async fn soon<T>(event: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), event).await.expect("timed out")
}

/// A relay in front of a server of each era.
fn each() -> [(Relayed, Arc<AtomicUsize>); 2] {
    [OLD, ProtocolVersion::KNOWN_VERSIONS].map(|versions| {
        let moment = Duration::from_millis(1);
        let backoff = Backoff { first: moment, most: moment };
        let options = Options { backoff, farewell: moment, ..Options::default() };
        let fate = Arc::new(AtomicUsize::new(0));
        let stranger = Stranger { versions, fate: Arc::clone(&fate) };
        (Relayed::new(Client::new(Target::Pipes(Arc::new(stranger)), options)), fate)
    })
}

async fn called(
    relayed: &Relayed,
    ctx: &Context,
    offer: Offer,
    name: &str,
    params: &Value,
) -> resource::Result<Value> {
    let params = params.to_string().into();
    let calling = Calling { offer, name, params: &params, names: &Notes };
    let json = soon(relayed.call(ctx, &calling)).await?;
    Ok(serde_json::from_str(json.as_str()).unwrap())
}

#[tokio::test]
async fn a_result_of_every_kind_passes_under_public_names() {
    for (relayed, _) in each() {
        let steps = Arc::new(Steps::default());
        let ctx = Context::reporting_to(Arc::<Steps>::clone(&steps));
        let params = json!({ "name": "notes_echo", "arguments": { "uri": "notes+str:mine" } });
        let result = called(&relayed, &ctx, Offer::Tool, "echo", &params).await.unwrap();
        let content = &result["content"];
        assert_eq!(content[0], json!({ "type": "text", "text": "str:mine" }), "its own URI again");
        assert_eq!(content[1]["data"], "AAAA");
        assert_eq!(content[2]["resource"]["uri"], "notes+str:embedded");
        assert_eq!(content[3]["uri"], "notes+str:linked");
        assert_eq!(result["structuredContent"], json!({ "uri": "str:untouched", "n": 1.5 }));
        let told = Step { done: 0.5, total: Some(2.0), message: Some("halfway".to_owned()) };
        assert_eq!(*steps.0.lock().unwrap(), [told]);
        let params = json!({ "name": "notes_greet" });
        let result = called(&relayed, &ctx, Offer::Prompt, "greet", &params).await.unwrap();
        assert_eq!(result["messages"][0]["content"]["uri"], "notes+str:linked");
    }
}

#[tokio::test]
async fn lists_are_cut_to_the_pages_that_are_asked_for() {
    for (relayed, _) in each() {
        let mut names = Vec::new();
        let mut ask = Ask::first(2);
        loop {
            let page =
                soon(relayed.offers(&Context::default(), Offer::Tool, &Notes, &ask)).await.unwrap();
            assert!(page.items.len() <= 2);
            names.extend(page.items.iter().map(|item| item.name.clone()));
            let Some(next) = page.next else { break };
            ask.from = Some(next);
        }
        assert_eq!(names, ["echo", "fail", "hang"]);
        assert!(relayed.has(Offer::Tool) && relayed.has(Offer::Prompt));
        ask.from = Some(Place { page: None, after: Some("gone".to_owned()) }.write());
        let error =
            soon(relayed.offers(&Context::default(), Offer::Tool, &Notes, &ask)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn what_a_server_refuses_is_told_in_its_own_words() {
    for (relayed, _) in each() {
        let params = json!({ "name": "notes_fail" });
        let ctx = Context::default();
        let error = called(&relayed, &ctx, Offer::Tool, "fail", &params).await.unwrap_err();
        let said = error.said.unwrap();
        assert_eq!((said.code, said.message.as_str()), (-32602, "no such tool"));
        assert_eq!(said.data.unwrap().as_str(), r#"{"uri":"notes+str:it"}"#);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    for (relayed, fate) in each() {
        let reached = async |stage| {
            while fate.load(Ordering::SeqCst) != stage {
                tokio::task::yield_now().await;
            }
        };
        let ctx = Context::default();
        let params = r#"{"name":"notes_hang"}"#.into();
        let calling = Calling { offer: Offer::Tool, name: "hang", params: &params, names: &Notes };
        tokio::select! {
            _ = relayed.call(&ctx, &calling) => panic!("it never ends by itself"),
            () = soon(reached(BEGUN)) => {}
        }
        soon(reached(LET_GO)).await;
    }
}

#[tokio::test]
async fn suggestions_pass() {
    for (relayed, _) in each() {
        let settled = BTreeMap::new();
        let blank = Blank { prompt: "greet", argument: "who", typed: "A", settled: &settled };
        let completion = soon(relayed.suggest(&Context::default(), &blank)).await.unwrap();
        assert_eq!(completion.values, ["Ada"]);
    }
}

#[tokio::test]
async fn a_list_that_changed_is_told_of() {
    let [(relayed, _), _] = each();
    let mut changes = relayed.changes(Offer::Tool);
    let params = json!({ "name": "notes_echo" });
    called(&relayed, &Context::default(), Offer::Tool, "echo", &params).await.unwrap();
    assert_eq!(soon(changes.next()).await, Some(Change::Offers(Offer::Tool)));
}

#[test]
fn a_place_is_read_as_it_was_written() {
    for page in [None, Some(String::new()), Some("p\u{0}".to_owned())] {
        for after in [None, Some(String::new()), Some("é".to_owned())] {
            let place = Place { page: page.clone(), after };
            assert_eq!(Place::read(&place.write()).unwrap(), place);
        }
    }
    for odd in ["", "x", "\u{1}\u{9}"] {
        let cursor = resource::Cursor(odd.as_bytes().to_vec().into());
        assert!(Place::read(&cursor).is_err());
    }
}
