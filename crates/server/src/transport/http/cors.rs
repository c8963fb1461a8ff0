//! CORS: lets web pages of allowed origins use the server. Pages of others get no CORS header.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN, VARY,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use super::body::HttpBody;

/// The response headers, beyond the usual ones, that a page may read.
const EXPOSED: &str = "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after";

/// How long a browser may remember the answer to a preflight, in seconds.
const MAX_AGE: &str = "7200";

/// The allowed origin of a request from a web page.
pub(super) struct AllowedOrigin(HeaderValue);

impl AllowedOrigin {
    /// The origin of a request that passed the origin check; `None` if no page sent it.
    pub(super) fn of<B>(request: &Request<B>) -> Option<Self> {
        request.headers().get(ORIGIN).cloned().map(Self)
    }

    /// The answer to a preflight; `None` if the request is none. A preflight has no token, and does
    /// nothing.
    pub(super) fn answer_preflight<B>(&self, request: &Request<B>) -> Option<Response<HttpBody>> {
        let headers = request.headers();
        if request.method() != Method::OPTIONS
            || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
        {
            return None;
        }
        let mut response = HttpBody::empty(StatusCode::NO_CONTENT);
        let answer = response.headers_mut();
        answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
        // Any header: those that repeat the arguments of a tool have names of the tool's choice.
        if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
        Some(response)
    }

    /// Adds the headers that let the page read a response.
    pub(super) fn allow(&self, headers: &mut HeaderMap) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.0.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
}
