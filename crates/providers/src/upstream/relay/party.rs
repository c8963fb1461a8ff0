//! Relay of server-to-client requests during a call: elicitation, sampling, roots.
//!
//! The call's own future passes them to the caller, so they end with the call.

use std::sync::Arc;

use async_trait::async_trait;
use client::{Denial, Handler, Raw, asking, relay};
use futures_util::StreamExt;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use resource::{Caller, Error, ErrorKind, Json, Names, Result, Said};
use tokio::sync::{mpsc, oneshot};

/// How many server requests of one call may be queued.
const MOST: usize = 16;
/// How often a server may answer one call with `input_required`.
const ROUNDS: usize = 16;

type Answer = Result<Box<Raw>, Denial>;

/// A server request, and the channel for its answer.
pub(super) struct Asked {
    method: String,
    params: Option<Box<Raw>>,
    answer: oneshot::Sender<Answer>,
}

/// Handler of a call's server requests and log messages.
struct Line {
    asked: mpsc::Sender<Asked>,
    caller: Arc<dyn Caller>,
}

#[async_trait]
impl Handler for Line {
    async fn answer(&self, method: &str, params: Option<Box<Raw>>) -> Answer {
        let (answer, answered) = oneshot::channel();
        let gone = |()| Err(Denial::failed("the call has ended"));
        let asked = Asked { method: method.to_owned(), params, answer };
        let sent = self.asked.send(asked).await.map_err(|_| ());
        match sent {
            Ok(()) => answered.await.unwrap_or_else(|_| gone(())),
            Err(()) => gone(()),
        }
    }

    fn log(&self, message: &Raw) {
        self.caller.log(&message.get().into());
    }
}

/// A handler that stands for `caller`, and the queue of server requests that it receives.
pub(super) fn line(caller: &Arc<dyn Caller>) -> (Arc<dyn Handler>, mpsc::Receiver<Asked>) {
    let (asked, questions) = mpsc::channel(MOST);
    (Arc::new(Line { asked, caller: Arc::clone(caller) }), questions)
}

/// Runs `work`, and relays server requests to `caller` meanwhile.
pub(super) async fn attend<T>(
    work: impl Future<Output = T>,
    mut asked: mpsc::Receiver<Asked>,
    caller: &dyn Caller,
    names: &dyn Names,
) -> T {
    let mut answering = FuturesUnordered::new();
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(()) = answering.next() => {}
            Some(Asked { method, params, answer }) = asked.recv() => answering.push(async move {
                let params = relay::asked(params.as_deref(), names);
                let _ = answer.send(ask(caller, &method, &params).await);
            }),
        }
    }
}

async fn ask(caller: &dyn Caller, method: &str, params: &Json) -> Answer {
    let answered = caller.ask(method, params).await;
    let odd = || Denial::failed("the client's answer is not valid JSON");
    match answered {
        Ok(json) => relay::raw(&json).ok_or_else(odd),
        Err(error) => Err(match error.said.map(|said| *said) {
            Some(Said { code, message, data }) => {
                Denial { code, message, data: data.as_ref().and_then(relay::raw) }
            }
            None if error.kind == ErrorKind::Unsupported => Denial::unknown(&error.message),
            None => Denial::failed(&error.message),
        }),
    }
}

/// Repeats a call with the caller's input until the server returns a final result. If the caller
/// cannot receive requests during the call, returns the `input_required` result.
pub(crate) async fn rounds<F: Future<Output = Result<Json>>>(
    caller: Option<&dyn Caller>,
    mut params: Box<Raw>,
    once: impl Fn(Box<Raw>) -> F,
) -> Result<Json> {
    for _ in 0..ROUNDS {
        let given = once(params.clone()).await?;
        let Some(caller) = caller.filter(|caller| caller.answers()) else { return Ok(given) };
        let Some(questions) = asking::questions(&given) else { return Ok(given) };
        let answers = questions.each.into_iter().map(|question| async move {
            let answer = caller.ask(&question.method, &question.params).await?;
            Ok::<_, Error>((question.key, answer))
        });
        let answers = try_join_all(answers).await?;
        let again = asking::again(&params, &answers, questions.state.as_ref());
        params = again.map_err(|flaw| Error::invalid(flaw.to_string()))?;
    }
    Err(Error::unavailable("the server behind this mount asks for input too often"))
}

/// Handles server requests outside a call, where there is no client to ask: answers `roots/list`
/// with no roots and refuses the rest.
pub struct Nobody;

#[async_trait]
impl Handler for Nobody {
    async fn answer(&self, method: &str, _params: Option<Box<Raw>>) -> Answer {
        match method {
            "roots/list" => Ok(asking::no_roots()),
            _ => Err(Denial::unknown("no client is available for this request")),
        }
    }

    fn log(&self, _message: &Raw) {}
}
