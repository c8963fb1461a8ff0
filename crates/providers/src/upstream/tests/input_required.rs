//! Tests of reads for which the server requires input.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{Caller, Content, Error, ErrorKind, Json, Provider, Result, Uri, Window};
use serde_json::json;

use super::scripted_server::{ScriptedReply, ScriptedServer};

/// A caller that accepts: during the call, or with its reply in a second request.
struct AcceptingCaller {
    answers: bool,
    can: Json,
    reply: Option<Json>,
}

#[async_trait]
impl Caller for AcceptingCaller {
    fn id(&self) -> u64 {
        1
    }

    fn capabilities(&self) -> &Json {
        &self.can
    }

    fn accepts_requests(&self) -> bool {
        self.answers
    }

    async fn send_request(&self, method: &str, _params: &Json) -> Result<Json> {
        assert_eq!(method, "elicitation/create");
        self.answers.then(|| r#"{"action":"accept"}"#.into()).ok_or_else(|| Error::invalid("no"))
    }

    fn input_response(&self) -> Option<&Json> {
        self.reply.as_ref()
    }

    fn log_level(&self) -> Option<&'static str> {
        None
    }

    fn log(&self, _message: &Json) {}
}

/// A server that returns its one resource only with the client's input.
fn stage() -> Arc<ScriptedServer> {
    ScriptedServer::new(json!({ "resources": {} }), |method, params| match method {
        "resources/read" if params["inputResponses"]["ok"]["action"] == "accept" => {
            assert_eq!(params["requestState"], "remember");
            let contents = json!([{ "uri": "a:b", "text": "inside" }]);
            ScriptedReply::Result(json!({ "resultType": "complete", "contents": contents }))
        }
        "resources/read" => ScriptedReply::Result(json!({ "resultType": "input_required",
            "requestState": "remember", "inputRequests": {
                "ok": { "method": "elicitation/create", "params": { "message": "Sure?" } } } })),
        _ => ScriptedReply::Error(-32601, "method not found"),
    })
}

async fn read(stage: &Arc<ScriptedServer>, caller: Option<AcceptingCaller>) -> Result<Content> {
    let ctx = match caller {
        Some(caller) => testkit::local_context().with_caller(Arc::new(caller)),
        None => testkit::local_context(),
    };
    let uri = Uri::parse("a:b").unwrap();
    let whole = Window::Whole { limit: 1000 }.into();
    Ok(stage.upstream().read(&ctx, &uri, &whole).await?.content)
}

fn accepting_caller(answers: bool, reply: Option<&str>) -> Option<AcceptingCaller> {
    let can = r#"{"elicitation":{}}"#.into();
    Some(AcceptingCaller { answers, can, reply: reply.map(Json::from) })
}

/// 9.5.
#[tokio::test]
async fn a_resource_that_needs_an_answer_is_given_for_one() {
    let stage = stage();
    let error = read(&stage, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NeedsInput);
    let given = read(&stage, accepting_caller(true, None)).await.unwrap();
    assert!(matches!(&given, Content::Parts(parts) if parts.len() == 1), "{given:?}");
    let asked = read(&stage, accepting_caller(false, None)).await.unwrap();
    assert!(matches!(&asked, Content::InputRequired(json) if json.as_str().contains("Sure?")));
    let reply = r#"{"inputResponses":{"ok":{"action":"accept"}},"requestState":"remember"}"#;
    let given = read(&stage, accepting_caller(false, Some(reply))).await.unwrap();
    assert!(matches!(given, Content::Parts(_)));
}
