//! Tests of the dispatch of server requests.

use std::sync::Arc;

use async_trait::async_trait;
use machinery::MemoryBudget;
use protocol::outbound::request;
use resource::{Caller, Json, Result, UriRewrite};
use tokio::sync::{Notify, mpsc, oneshot};

use super::{PendingRequest, PendingRequests};
use crate::error::{Error, TransportFailure};
use crate::server_requests::{ServerRequestHandler, run_with_requests};

/// A caller that answers once it is told to.
struct SlowCaller {
    can: Json,
    asked: Notify,
    go_on: Notify,
}

#[async_trait]
impl Caller for SlowCaller {
    fn id(&self) -> u64 {
        1
    }

    fn capabilities(&self) -> &Json {
        &self.can
    }

    fn accepts_requests(&self) -> bool {
        true
    }

    async fn send_request(&self, _method: &str, _params: &Json) -> Result<Json> {
        self.asked.notify_one();
        self.go_on.notified().await;
        Ok(r#"{"ok":true}"#.into())
    }

    fn input_response(&self) -> Option<&Json> {
        None
    }

    fn log_level(&self) -> Option<&'static str> {
        None
    }

    fn log(&self, _message: &Json) {}
}

struct Unchanged;

impl UriRewrite for Unchanged {
    fn to_public(&self, _local: &str) -> Option<String> {
        None
    }

    fn to_local(&self, _public: &str) -> Option<String> {
        None
    }
}

/// Asks a caller during a request, does `meanwhile`, and returns the answer, if the server gets one.
async fn answer_after(meanwhile: impl FnOnce(&PendingRequests)) -> Option<Vec<u8>> {
    let caller =
        Arc::new(SlowCaller { can: "{}".into(), asked: Notify::new(), go_on: Notify::new() });
    let server = ("the server", &MemoryBudget::new(1));
    let pending = PendingRequests::new(Arc::default(), None, Arc::default(), server);
    let (sender, mut answers) = mpsc::unbounded_channel();
    pending.set_answer_sender(move |answer| sender.send(answer).unwrap());
    let (handler, requests) = ServerRequestHandler::new(&(Arc::clone(&caller) as Arc<dyn Caller>));
    let (outcome, _answer) = oneshot::channel();
    let waiting = PendingRequest {
        outcome,
        progress: None,
        activity: Arc::default(),
        acknowledged: None,
        is_listen: false,
        handler: Some(handler),
    };
    pending.insert(1, waiting);
    let asking = Arc::clone(&caller);
    let relay = tokio::spawn(async move {
        run_with_requests(std::future::pending::<()>(), requests, &*asking, &Unchanged).await
    });
    let params = request::empty_object();
    let asked = format!(r#"{{"id":"q","method":"elicitation/create","params":{params}}}"#);
    pending.dispatch(&asked.into(), None).unwrap();
    caller.asked.notified().await;
    meanwhile(&pending);
    tokio::task::yield_now().await;
    caller.go_on.notify_one();
    drop(pending);
    let answer = answers.recv().await;
    relay.abort();
    answer
}

#[tokio::test]
async fn a_question_of_a_request_in_flight_is_answered_until_the_connection_ends() {
    let gone = || Error::Closed("gone".to_owned());
    let answer = answer_after(|pending| pending.stop_accepting(TransportFailure::from(gone())));
    let answer = String::from_utf8(answer.await.expect("it is answered")).unwrap();
    assert!(answer.contains(r#""result":{"ok":true}"#), "{answer}");
    assert_eq!(answer_after(|pending| pending.end(&gone())).await, None);
}
