//! HTTP wire: one request, and everything that comes back, with bounds on size and time.

use std::error::Error as _;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::time;

use super::event_stream::DoctorEventStream;
use super::sse::EventReader;
use super::{Deadline, MAX_MESSAGES};
use crate::plain_text::plain;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Requests to one URL, each on a connection of its own.
#[derive(Clone)]
pub(crate) struct HttpWire {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    url: Uri,
    headers: HeaderMap,
    limit: usize,
}

/// An HTTP request to send.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpAsk {
    pub(crate) method: Method,
    /// Headers that are added to the usual ones, or replace them.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl HttpAsk {
    pub(crate) fn post(body: impl Into<String>, headers: Vec<(String, String)>) -> Self {
        Self { method: Method::POST, headers, body: body.into() }
    }
}

/// The head of an HTTP response, and how long its body is.
#[derive(Debug, Clone)]
pub(crate) struct HttpFacts {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) session: Option<Vec<u8>>,
    pub(crate) has_challenge: bool,
    pub(crate) location: Option<String>,
    pub(crate) body_bytes: usize,
}

impl HttpFacts {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn is_client_error(&self) -> bool {
        (400..500).contains(&self.status)
    }

    pub(crate) fn has_type(&self, wanted: &str) -> bool {
        let essence = self.content_type.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(wanted)
    }
}

/// A response, with the JSON values of its body or its events.
#[derive(Debug)]
pub(crate) struct HttpExchange {
    pub(crate) facts: HttpFacts,
    pub(crate) messages: Vec<Value>,
    /// Bodies or events that are no JSON.
    pub(crate) unreadable: Vec<String>,
    pub(crate) end: HttpEnd,
}

impl HttpExchange {
    fn new(facts: HttpFacts) -> Self {
        Self { facts, messages: Vec::new(), unreadable: Vec::new(), end: HttpEnd::Complete }
    }
}

/// Why no more of a response was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HttpEnd {
    Complete,
    Silence,
    TooLarge,
    TooMany,
    Broken(String),
}

impl HttpWire {
    pub(crate) fn new(
        url: &str,
        headers: &[(String, String)],
        limit: usize,
    ) -> Result<Self, String> {
        let url: Uri = url.parse().map_err(|_| format!("{} is no URL", plain(url)))?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none() {
            return Err("the URL must begin with http:// or https://".to_owned());
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let (Ok(key), Ok(mut value)) =
                (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            else {
                return Err(format!("the header {} is not valid in HTTP", plain(name)));
            };
            value.set_sensitive(true);
            map.append(key, value);
        }
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT_TIMEOUT));
        http.enforce_http(false);
        let provider = rustls::crypto::aws_lc_rs::default_provider;
        let tls = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider());
        let tls = match tls {
            Ok(tls) => tls,
            Err(_) => HttpsConnectorBuilder::new()
                .with_provider_and_webpki_roots(provider())
                .map_err(|error| error.to_string())?,
        };
        let connector = tls.https_or_http().enable_http1().wrap_connector(http);
        // No idle connections: one that the server closes meanwhile would look like a fault of it.
        let client =
            Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector);
        Ok(Self { client, url, headers: map, limit })
    }

    /// The URL that requests go to.
    pub(super) fn url(&self) -> &Uri {
        &self.url
    }

    /// The same requests to another URL.
    pub(super) fn at(&self, url: Uri) -> Self {
        Self { url, ..self.clone() }
    }

    /// Sends a request whose answer may be a stream of events; any other answer is read whole.
    pub(crate) async fn open_events(
        &self,
        ask: &HttpAsk,
        deadline: Deadline,
    ) -> Result<(HttpExchange, Option<DoctorEventStream>), HttpFailure> {
        let response = self.head(ask, deadline).await?;
        let mut reply = HttpExchange::new(facts(&response));
        if reply.facts.is_success() && reply.facts.has_type("text/event-stream") {
            let stream = DoctorEventStream::read(response.into_body(), self.limit);
            return Ok((reply, Some(stream)));
        }
        let mut is_last = |_: &Value| true;
        let reading = self.read_body(response, &mut reply, &mut is_last);
        let end = time::timeout_at(deadline.0, reading).await;
        reply.end = end.unwrap_or(HttpEnd::Silence);
        Ok((reply, None))
    }

    /// Whether the server listens on this machine only.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.url.host().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Sends a request and reads messages until `is_last` takes one, the body ends, or a bound.
    pub(crate) async fn exchange(
        &self,
        ask: &HttpAsk,
        deadline: Deadline,
        mut is_last: impl FnMut(&Value) -> bool,
    ) -> Result<HttpExchange, HttpFailure> {
        let response = self.head(ask, deadline).await?;
        let mut reply = HttpExchange::new(facts(&response));
        let reading = self.read_body(response, &mut reply, &mut is_last);
        let end = time::timeout_at(deadline.0, reading).await;
        reply.end = end.unwrap_or(HttpEnd::Silence);
        Ok(reply)
    }

    /// Sends a request and returns the head of the response; the body is dropped.
    pub(crate) async fn look(
        &self,
        ask: &HttpAsk,
        deadline: Deadline,
    ) -> Result<HttpFacts, HttpFailure> {
        self.head(ask, deadline).await.map(|response| facts(&response))
    }

    async fn head(
        &self,
        ask: &HttpAsk,
        deadline: Deadline,
    ) -> Result<Response<Incoming>, HttpFailure> {
        let mut request = Request::new(Full::new(Bytes::from(ask.body.clone())));
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = self.url.clone();
        let headers = request.headers_mut();
        let accept = match ask.method {
            Method::POST => "application/json, text/event-stream",
            _ => "text/event-stream",
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if ask.method == Method::POST {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        headers.extend(self.headers.clone());
        for (name, value) in &ask.headers {
            let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
            if let (Ok(name), Ok(value)) = pair {
                headers.insert(name, value);
            }
        }
        match time::timeout_at(deadline.0, self.client.request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                // The innermost error is the cause.
                let mut why = error.to_string();
                let mut source = error.source();
                while let Some(cause) = source {
                    why = cause.to_string();
                    source = cause.source();
                }
                match error.is_connect() {
                    true => Err(HttpFailure::NoConnection(plain(&why))),
                    false => Err(HttpFailure::Broken(plain(&why))),
                }
            }
            Err(_) => Err(HttpFailure::TimedOut),
        }
    }

    async fn read_body(
        &self,
        response: Response<Incoming>,
        reply: &mut HttpExchange,
        is_last: &mut impl FnMut(&Value) -> bool,
    ) -> HttpEnd {
        let is_stream = reply.facts.has_type("text/event-stream");
        let mut body = response.into_body();
        let (mut events, mut whole) = (EventReader::default(), Vec::new());
        while let Some(frame) = body.frame().await {
            let chunk = match frame.map(hyper::body::Frame::into_data) {
                Ok(Ok(chunk)) => chunk,
                Ok(Err(_)) => continue,
                Err(error) => return HttpEnd::Broken(plain(&error.to_string())),
            };
            reply.facts.body_bytes += chunk.len();
            if !is_stream {
                if whole.len() + chunk.len() > self.limit {
                    return HttpEnd::TooLarge;
                }
                whole.extend_from_slice(&chunk);
                continue;
            }
            let Ok(found) = events.read(&chunk, self.limit) else { return HttpEnd::TooLarge };
            for event in found {
                if keep(&event.data, reply).is_some_and(&mut *is_last) {
                    return HttpEnd::Complete;
                }
                if reply.messages.len() + reply.unreadable.len() > MAX_MESSAGES {
                    return HttpEnd::TooMany;
                }
            }
        }
        if !whole.trim_ascii().is_empty() {
            keep(&whole, reply);
        }
        HttpEnd::Complete
    }
}

/// Why no response came.
#[derive(Debug, Clone)]
pub(crate) enum HttpFailure {
    TimedOut,
    /// Nothing accepts connections there.
    NoConnection(String),
    /// The connection ended before the response.
    Broken(String),
}

fn keep<'a>(data: &[u8], reply: &'a mut HttpExchange) -> Option<&'a Value> {
    match serde_json::from_slice::<Value>(data) {
        Ok(value) => {
            reply.messages.push(value);
            reply.messages.last()
        }
        Err(_) => {
            reply.unreadable.push(plain(&String::from_utf8_lossy(&data[..data.len().min(1_000)])));
            None
        }
    }
}

fn facts(response: &Response<Incoming>) -> HttpFacts {
    let text = |name: &HeaderName| {
        let value = response.headers().get(name)?;
        Some(plain(&String::from_utf8_lossy(value.as_bytes())))
    };
    let session = response.headers().get("mcp-session-id");
    HttpFacts {
        status: response.status().as_u16(),
        content_type: text(&CONTENT_TYPE).unwrap_or_default(),
        session: session.map(|value| value.as_bytes().to_vec()),
        has_challenge: response.headers().contains_key("www-authenticate"),
        location: text(&LOCATION),
        body_bytes: 0,
    }
}
