//! HTTP connection pool: TLS, fixed headers, same-origin redirects, bounded bodies.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_rustls::builderstates::WantsSchemes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as PoolError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use machinery::MemoryHold;

use super::origin;
use super::unix_connector::UnixConnector;
use crate::error::Error;
use crate::transport::reserve;

/// How long the request that ends a session may take.
pub(super) const END_SESSION_TIMEOUT: Duration = Duration::from_secs(2);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 3;
/// Largest buffer to allocate on the word of a Content-Length header.
const MAX_PREALLOCATION: usize = 4 << 20;

/// The URL of requests over a Unix socket, whose path is the address.
const SOCKET_URL: &str = "http://localhost/mcp";

/// The HTTP client, by the kind of its connections.
enum PoolClient {
    Tcp(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
    Unix(Client<UnixConnector, Full<Bytes>>),
}

impl PoolClient {
    fn new(url: &Uri, socket: Option<&str>) -> Result<Self, Error> {
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(Duration::from_secs(30));
        if let Some(path) = socket {
            return Ok(Self::Unix(builder.build(UnixConnector(Arc::new(path.into())))));
        }
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT_TIMEOUT));
        // Keepalive detects a dead server on streams that are silent for long.
        http.set_keepalive(Some(Duration::from_secs(60)));
        http.set_keepalive_interval(Some(Duration::from_secs(15)));
        http.set_keepalive_retries(Some(4));
        http.enforce_http(false);
        let connector = tls_connector(url)?.https_or_http().enable_http1().wrap_connector(http);
        Ok(Self::Tcp(builder.build(connector)))
    }

    async fn request(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, PoolError> {
        match self {
            Self::Tcp(client) => client.request(request).await,
            Self::Unix(client) => client.request(request).await,
        }
    }
}

/// The connections to one server.
pub(crate) struct HttpPool {
    client: PoolClient,
    url: Uri,
    headers: HeaderMap,
}

/// An HTTP request that can be sent again, to another URL after a redirect.
pub(super) struct OutboundHttpRequest {
    method: Method,
    url: Uri,
    headers: HeaderMap,
    body: Bytes,
}

/// Why there is no response.
pub(super) enum HttpSendError {
    /// The server cannot be reached at all.
    Unreachable(Error),
    /// This request got no response.
    Failed(Error),
}

impl HttpSendError {
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Unreachable(error) | Self::Failed(error) => error,
        }
    }
}

impl OutboundHttpRequest {
    pub(super) fn new(method: Method, url: Uri, body: Vec<u8>) -> Self {
        let accept = match method {
            Method::POST => "application/json, text/event-stream",
            Method::GET => "text/event-stream",
            _ => "*/*",
        };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Self { method, url, headers, body: body.into() }
    }

    pub(super) fn set_header(&mut self, name: &str, value: Option<HeaderValue>) {
        if let (Ok(name), Some(value)) = (HeaderName::from_bytes(name.as_bytes()), value) {
            self.headers.insert(name, value);
        }
    }
}

impl HttpPool {
    /// A pool for `url`, or for the socket at `unix:PATH`; every request carries `headers`.
    pub(crate) fn new(url: &str, headers: &[(String, String)]) -> Result<Self, Error> {
        let socket = url.strip_prefix("unix:");
        let url = origin::parse_url(if socket.is_some() { SOCKET_URL } else { url })?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let bad = |_| Error::Unreachable(format!("the header {name:?} is not valid in HTTP"));
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(()))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad(()))?;
            value.set_sensitive(true);
            map.append(key, value);
        }
        let client = PoolClient::new(&url, socket)?;
        Ok(Self { client, url, headers: map })
    }

    pub(crate) fn url(&self) -> &Uri {
        &self.url
    }

    /// Sends a request and follows redirects of the same origin that keep method and body.
    pub(super) async fn execute(
        &self,
        mut outbound: OutboundHttpRequest,
    ) -> Result<Response<Incoming>, HttpSendError> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.execute_once(&outbound).await?;
            let status = response.status();
            if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            let keeps =
                matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT)
                    || outbound.method == Method::GET;
            let place = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let place = place.and_then(|place| origin::resolve_same_origin(&outbound.url, place));
            let Some(place) = place.filter(|_| keeps) else {
                let why = "the redirect is not to the same origin and method".to_owned();
                return Err(HttpSendError::Failed(Error::Unreachable(why)));
            };
            outbound.url = place;
        }
        Err(HttpSendError::Failed(Error::Unreachable(
            "the server redirects too many times".to_owned(),
        )))
    }

    async fn execute_once(
        &self,
        outbound: &OutboundHttpRequest,
    ) -> Result<Response<Incoming>, HttpSendError> {
        let mut request = Request::new(Full::new(outbound.body.clone()));
        *request.method_mut() = outbound.method.clone();
        *request.uri_mut() = outbound.url.clone();
        let headers = request.headers_mut();
        // Protocol headers last: configured headers must not override them.
        headers.extend(self.headers.clone());
        outbound.headers.iter().for_each(|(name, value)| {
            headers.insert(name, value.clone());
        });
        self.client.request(request).await.map_err(|error| {
            // The innermost error is the cause; those around it only say where it was met.
            let mut why = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                why = cause.to_string();
                source = cause.source();
            }
            if let Some(host) = outbound.url.host() {
                let port = outbound.url.port_u16().map(|port| format!(":{port}"));
                why = format!("{why}, at {host}{}", port.unwrap_or_default());
            }
            if error.is_connect() {
                HttpSendError::Unreachable(Error::Unreachable(why))
            } else {
                HttpSendError::Failed(Error::Closed(why))
            }
        })
    }
}

/// TLS with the system's root certificates, or the bundled public roots if there are none.
fn tls_connector(url: &Uri) -> Result<HttpsConnectorBuilder<WantsSchemes>, Error> {
    let provider = rustls::crypto::aws_lc_rs::default_provider;
    if url.scheme_str() == Some("https") {
        match HttpsConnectorBuilder::new().with_provider_and_native_roots(provider()) {
            Ok(tls) => return Ok(tls),
            Err(error) => tracing::debug!(%error, "no system root certificates"),
        }
    }
    let tls = HttpsConnectorBuilder::new().with_provider_and_webpki_roots(provider());
    tls.map_err(|error| Error::Unreachable(error.to_string()))
}

/// Reads a whole body, up to `most` bytes, which `memory` counts.
pub(super) async fn read_body(
    response: Response<Incoming>,
    most: usize,
    memory: &mut MemoryHold,
) -> Result<Bytes, Error> {
    let length = response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length = length.and_then(|length| length.parse::<usize>().ok()).unwrap_or_default();
    if length > most {
        return Err(Error::TooLarge(most));
    }
    let mut body = response.into_body();
    // Content-Length may lie, so the first allocation is bounded.
    let mut bytes = bytes::BytesMut::with_capacity(length.min(MAX_PREALLOCATION));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Error::Closed(error.to_string()))?;
        let Ok(chunk) = frame.into_data() else { continue };
        if bytes.len() + chunk.len() > most {
            return Err(Error::TooLarge(most));
        }
        reserve(&mut bytes, chunk.len(), most);
        bytes.extend_from_slice(&chunk);
        memory.set(bytes.len());
    }
    Ok(bytes.freeze())
}

/// Whether the response has the content type `wanted`.
pub(super) fn has_content_type(response: &Response<Incoming>, wanted: &str) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| {
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
    })
}
