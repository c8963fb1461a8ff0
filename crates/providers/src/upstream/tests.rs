//! Tests of the upstream provider, and helpers for them.

mod asking;
mod desk;
mod keeping;
mod paging;
mod refusing;
mod stage;
mod stranger;
mod telling;
mod watching;

use std::future::Future;
use std::time::Duration;

use client::{Backoff, Client, Target};
use resource::{Ask, Content, Context, Cursor, Error, Part, Provider, Resource, Uri, Window};
use testkit::contract::bytes_of;
use tokio::time::timeout;

use super::{Options, Upstream};

const WHOLE: Window = Window::Whole { limit: 1 << 40 };

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

/// Waits for `event`, with a timeout.
async fn soon<T>(event: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(600), event).await.expect("timed out")
}

fn client(target: Target) -> Client {
    let moment = Duration::from_millis(1);
    let options = client::Options {
        backoff: Backoff { first: moment, most: moment },
        timeout: Duration::from_secs(20),
        reading: Duration::from_secs(20),
        ..client::Options::default()
    };
    Client::new(target, options)
}

async fn page(
    upstream: &Upstream,
    from: Option<Cursor>,
    limit: usize,
) -> Result<resource::Page<Resource>, Error> {
    upstream.list(&Context::default(), None, &Ask { from, limit }).await
}

async fn stat(upstream: &Upstream, at: &str) -> Result<Resource, Error> {
    upstream.stat(&Context::default(), &uri(at)).await
}

async fn parts(upstream: &Upstream, at: &str, window: &Window) -> Result<Vec<Part>, Error> {
    match upstream.read(&Context::default(), &uri(at), window).await?.content {
        Content::Parts(parts) => Ok(parts),
        Content::Collection(_) | Content::Question(_) => {
            panic!("{at} is given as the server gave it")
        }
    }
}

async fn text(upstream: &Upstream, at: &str) -> String {
    let part = parts(upstream, at, &WHOLE).await.unwrap().remove(0);
    String::from_utf8(bytes_of(part.body).await.to_vec()).unwrap()
}
