//! HTTP+SSE: origins and hosts, of the stream and of the endpoint.

use hyper::Method;
use serde_json::json;

use super::Visit;
use super::http::{FOREIGN_HOST, FOREIGN_ORIGIN};
use crate::transport::{HttpAsk, HttpFacts, Probe};

impl Visit<'_> {
    pub(super) async fn check_http_sse(&mut self) {
        for method in [Method::GET, Method::POST] {
            if let Some(http) = self.look_foreign(&method, ("origin", FOREIGN_ORIGIN)).await {
                self.log.judge("http-origin", http.is_client_error(), || {
                    let status = http.status;
                    format!("{method} with Origin {FOREIGN_ORIGIN} got HTTP status {status}")
                });
            }
        }
        let is_local = self.talk.http_sse().is_some_and(|(stream, ..)| stream.is_loopback());
        if !is_local {
            return self.log.skipped("http-host", "the server is not on this machine");
        }
        if let Some(http) = self.look_foreign(&Method::GET, ("host", FOREIGN_HOST)).await {
            self.log.judge("http-host", http.is_client_error(), || {
                format!("Host {FOREIGN_HOST} got HTTP status {}", http.status)
            });
        }
    }

    /// Opens the stream, or sends a notification, with a header of a stranger.
    async fn look_foreign(&self, method: &Method, header: (&str, &str)) -> Option<HttpFacts> {
        let (stream, endpoint, deadline) = self.talk.http_sse()?;
        let headers = vec![(header.0.to_owned(), header.1.to_owned())];
        if *method == Method::GET {
            let ask = HttpAsk { method: Method::GET, headers, body: String::new() };
            return stream.look(&ask, deadline).await.ok();
        }
        let probe = Probe::new("notifications/refdesk-doctor/unknown", json!({}));
        let mut message = probe.message(&json!(null), self.revision);
        message.as_object_mut()?.remove("id");
        endpoint.look(&HttpAsk::post(message.to_string(), headers), deadline).await.ok()
    }
}
