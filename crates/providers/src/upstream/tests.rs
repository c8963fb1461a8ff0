//! Tests of the upstream provider, and support for them.

mod caching;
mod failures;
mod health;
mod input_required;
mod paging;
mod plain_server;
mod refdesk_server;
mod scripted_server;
mod searching;
mod starting;
mod watching;

use std::sync::Arc;

use std::future::Future;
use std::time::Duration;

use client::{Backoff, Client, ServerTarget};
use resource::{Content, Cursor, Error, PageRequest, Part, Provider, Resource, Uri, Window};
use testkit::contract::bytes_of;
use tokio::time::timeout;

use super::{Options, Upstream};

const WHOLE: Window = Window::Whole { limit: 1 << 40 };

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

/// Waits for `event`, with a timeout.
async fn within_timeout<T>(event: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(600), event).await.expect("timed out")
}

fn client(target: ServerTarget) -> Client {
    let moment = Duration::from_millis(1);
    let options = client::Options {
        backoff: Backoff { first: moment, max: moment },
        timeout: Duration::from_secs(20),
        resource_timeout: Duration::from_secs(20),
        ..client::Options::default()
    };
    Client::new(target, options)
}

async fn page(
    upstream: &Upstream,
    from: Option<Cursor>,
    limit: usize,
) -> Result<resource::Page<Resource>, Error> {
    upstream.list(&testkit::local_context(), None, &PageRequest::new(from, limit)).await
}

async fn stat(upstream: &Upstream, at: &str) -> Result<Arc<Resource>, Error> {
    upstream.stat(&testkit::local_context(), &uri(at)).await
}

async fn parts(upstream: &Upstream, at: &str, window: &Window) -> Result<Vec<Part>, Error> {
    match upstream.read(&testkit::local_context(), &uri(at), &window.clone().into()).await?.content
    {
        Content::Parts(parts) => Ok(parts),
        Content::Collection(_) | Content::InputRequired(_) => {
            panic!("{at} is given as the server gave it")
        }
    }
}

async fn text(upstream: &Upstream, at: &str) -> String {
    let part = parts(upstream, at, &WHOLE).await.unwrap().remove(0);
    String::from_utf8(bytes_of(part.body).await.to_vec()).unwrap()
}
