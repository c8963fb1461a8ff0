//! HTTP POST to one address: TLS, fixed headers, bounded answers, and which failures may pass.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::wire;
use crate::error::EmbedError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of an error's body is read.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Shortest header value that is masked in a server's message: shorter ones are no secrets.
const MIN_MASKED: usize = 8;

/// The address that all requests go to.
pub(super) struct HttpEndpoint {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    url: Uri,
    headers: HeaderMap,
    /// Parts of header values that no message may contain.
    secrets: Vec<String>,
}

/// The outcome of an attempt, if another attempt makes sense or none is needed.
pub(super) enum HttpReply {
    /// The body of a success.
    Answer(Bytes),
    /// The server is unreachable or overloaded.
    Unavailable {
        /// In which way.
        why: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
}

impl HttpEndpoint {
    /// The embeddings address below `base`; every request carries `headers`.
    pub(super) fn new(base: &str, headers: &[(String, String)]) -> Result<Self, EmbedError> {
        let url = embeddings_url(base)?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let bad = || EmbedError::Invalid(format!("the header {name:?} is not valid in HTTP"));
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            map.append(key, value);
        }
        // After the configured headers, so that these cannot be overridden.
        map.insert(ACCEPT, HeaderValue::from_static("application/json"));
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let words = headers.iter().flat_map(|(_, value)| value.split_whitespace());
        let secrets = words.filter(|word| word.len() >= MIN_MASKED).map(str::to_owned).collect();
        Ok(Self { client: new_client(&url)?, url, headers: map, secrets })
    }

    /// Posts a body, and reads an answer of at most `most` bytes.
    ///
    /// An error means that another attempt would fail in the same way.
    pub(super) async fn post(&self, body: &[u8], most: usize) -> Result<HttpReply, EmbedError> {
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        *request.headers_mut() = self.headers.clone();
        let response = match self.client.request(request).await {
            Ok(response) => response,
            Err(error) => return Ok(unavailable(root_cause(&error), None)),
        };
        let status = response.status();
        if status.is_success() {
            return read_body(response, most).await;
        }
        let retry_after = retry_after(response.headers());
        let message = match read_body(response, MAX_ERROR_BYTES).await {
            Ok(HttpReply::Answer(bytes)) => self.mask(wire::error_message(&bytes)),
            Ok(HttpReply::Unavailable { .. }) | Err(_) => "no message".to_owned(),
        };
        if is_temporary(status) {
            return Ok(unavailable(format!("HTTP {}: {message}", status.as_u16()), retry_after));
        }
        let message = if status.is_redirection() {
            "it redirects; set the address that it redirects to".to_owned()
        } else {
            message
        };
        Err(EmbedError::Refused { status: status.as_u16(), message })
    }

    /// Hides header values in a message: some servers repeat a wrong key.
    fn mask(&self, message: String) -> String {
        self.secrets.iter().fold(message, |message, secret| message.replace(secret, "[key]"))
    }
}

fn is_temporary(status: StatusCode) -> bool {
    // 501 and 505 stay as they are; the other server errors pass.
    let lasting = [StatusCode::NOT_IMPLEMENTED, StatusCode::HTTP_VERSION_NOT_SUPPORTED];
    status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT
        || status.is_server_error() && !lasting.contains(&status)
}

fn unavailable(why: String, retry_after: Option<Duration>) -> HttpReply {
    HttpReply::Unavailable { why, retry_after }
}

/// The wait that a server asks for, in seconds. A date is not understood: the usual wait applies.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// `base`/v1/embeddings; a base that ends in a part of that path gets the rest.
fn embeddings_url(base: &str) -> Result<Uri, EmbedError> {
    let bad =
        |why: &str| EmbedError::Invalid(format!("the address of the embeddings server {why}"));
    let base = base.trim().trim_end_matches('/');
    if base.contains(['?', '#']) {
        return Err(bad("has a query or a fragment"));
    }
    let whole = if base.ends_with("/embeddings") {
        base.to_owned()
    } else if base.ends_with("/v1") {
        format!("{base}/embeddings")
    } else {
        format!("{base}/v1/embeddings")
    };
    let url: Uri = whole.parse().map_err(|_| bad("is not valid"))?;
    if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none_or(str::is_empty) {
        return Err(bad("is not valid http or https"));
    }
    if url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(bad("contains credentials; send them in a header instead"));
    }
    Ok(url)
}

fn new_client(url: &Uri) -> Result<Client<HttpsConnector<HttpConnector>, Full<Bytes>>, EmbedError> {
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    http.enforce_http(false);
    let provider = rustls::crypto::aws_lc_rs::default_provider;
    let native = match url.scheme_str() {
        Some("https") => {
            HttpsConnectorBuilder::new().with_provider_and_native_roots(provider()).ok()
        }
        _ => None,
    };
    // The bundled public roots serve where the system has none.
    let tls = match native {
        Some(tls) => tls,
        None => HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(provider())
            .map_err(|error| EmbedError::Unavailable(error.to_string()))?,
    };
    let connector = tls.https_or_http().enable_http1().wrap_connector(http);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .build(connector))
}

/// Reads a whole body; one that is too long is an error, one that breaks off may be whole later.
async fn read_body(response: Response<Incoming>, most: usize) -> Result<HttpReply, EmbedError> {
    let too_long = || EmbedError::InvalidAnswer(format!("it has more than {most} bytes"));
    let length = response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length.and_then(|length| length.parse::<u64>().ok()).is_some_and(|n| n > most as u64) {
        return Err(too_long());
    }
    let mut body = response.into_body();
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => return Ok(unavailable(root_cause(&error), None)),
        };
        let Ok(chunk) = frame.into_data() else { continue };
        if bytes.len() + chunk.len() > most {
            return Err(too_long());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(HttpReply::Answer(bytes.freeze()))
}

/// The innermost error; those around it only say where it was met.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        cause = inner.to_string();
        source = inner.source();
    }
    cause
}

#[cfg(test)]
mod tests {
    use super::embeddings_url;

    #[test]
    fn an_address_gets_what_it_lacks_of_the_path() {
        let cases = [
            ("http://h:1", "http://h:1/v1/embeddings"),
            ("http://h:1/", "http://h:1/v1/embeddings"),
            ("https://h/v1", "https://h/v1/embeddings"),
            ("https://h/openai/v1/", "https://h/openai/v1/embeddings"),
            ("https://h/v1/embeddings", "https://h/v1/embeddings"),
        ];
        for (base, url) in cases {
            assert_eq!(embeddings_url(base).unwrap().to_string(), url, "{base}");
        }
    }

    #[test]
    fn addresses_that_cannot_be_used_are_refused() {
        for base in ["", "h", "ftp://h", "http://", "http://u:p@h", "http://h/?a=b", "http://h/ x"]
        {
            assert!(embeddings_url(base).is_err(), "{base:?}");
        }
    }
}
