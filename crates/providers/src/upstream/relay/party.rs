//! How does a server's question reach whoever asked it, and the answer get back?
//!
//! Questions come while a call is under way and are answered by the call's own future, so that they
//! end with it.

use std::sync::Arc;

use async_trait::async_trait;
use client::{Denial, Handler, Raw, asking, relay};
use futures_util::StreamExt;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use resource::{Caller, Error, ErrorKind, Json, Names, Result, Said};
use tokio::sync::{mpsc, oneshot};

/// How many questions of one call wait at once.
const MOST: usize = 16;
/// How often a server may answer one request by questions.
const ROUNDS: usize = 16;

type Answer = Result<Box<Raw>, Denial>;

/// A question, and where its answer goes.
pub(super) struct Asked {
    method: String,
    params: Option<Box<Raw>>,
    answer: oneshot::Sender<Answer>,
}

/// The end of a call that its server sees.
struct Line {
    asked: mpsc::Sender<Asked>,
    caller: Arc<dyn Caller>,
}

#[async_trait]
impl Handler for Line {
    async fn answer(&self, method: &str, params: Option<Box<Raw>>) -> Answer {
        let (answer, answered) = oneshot::channel();
        let gone = |()| Err(Denial::failed("whoever asked is gone"));
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

/// Somebody who stands for `caller` at the server, and what it is asked.
pub(super) fn line(caller: &Arc<dyn Caller>) -> (Arc<dyn Handler>, mpsc::Receiver<Asked>) {
    let (asked, questions) = mpsc::channel(MOST);
    (Arc::new(Line { asked, caller: Arc::clone(caller) }), questions)
}

/// Does `work`, and meanwhile puts what is asked to `caller`.
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
    let odd = || Denial::failed("whoever asked answered what is no JSON");
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

/// Asks a server for the same thing until it answers by no more questions that `caller` can be
/// asked. Whoever cannot be asked while it waits is answered by the question.
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
    Err(Error::unavailable("the server behind this mount asks for ever"))
}

/// What a server hears that turns to us while nobody asks it anything.
pub struct Nobody;

#[async_trait]
impl Handler for Nobody {
    async fn answer(&self, method: &str, _params: Option<Box<Raw>>) -> Answer {
        match method {
            "roots/list" => Ok(asking::no_roots()),
            _ => Err(Denial::unknown("nobody is there who could be asked")),
        }
    }

    fn log(&self, _message: &Raw) {}
}
