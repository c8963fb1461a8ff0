//! Reads the body of an HTTP request, within limits of size, time and memory.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use machinery::MemoryHold;
use protocol::Refusal;
use resource::Principal;
use tokio::time;

use super::HttpServer;
use super::body::HttpBody;

/// Reads a body, and holds it in the memory of `principal`.
pub(super) async fn read_body(
    http: &HttpServer,
    body: Incoming,
    principal: &Principal,
) -> Result<(Bytes, Arc<MemoryHold>), Response<HttpBody>> {
    let limits = &http.server.limits;
    let hold = http.server.memory_of(principal).hold_anyway(0);
    let why = match time::timeout(limits.io_timeout, collect_body(body, limits.message, hold)).await
    {
        Ok(Ok((bytes, hold))) => return Ok((bytes, Arc::new(hold))),
        Ok(Err(BodyError::OutOfMemory)) => {
            let refusal = Refusal::out_of_memory().encode(None);
            let mut response = HttpBody::json(StatusCode::SERVICE_UNAVAILABLE, refusal);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            return Err(response);
        }
        Ok(Err(BodyError::TooLong)) => {
            let why = format!("the message is longer than {} bytes", limits.message);
            return Err(HttpBody::refusal(StatusCode::PAYLOAD_TOO_LARGE, &why));
        }
        Ok(Err(BodyError::Broken)) => (StatusCode::BAD_REQUEST, "the request body ended early"),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the request body timed out"),
    };
    Err(HttpBody::refusal(why.0, why.1))
}

/// Why a body could not be read.
enum BodyError {
    TooLong,
    OutOfMemory,
    Broken,
}

/// Collects a body into one buffer: a list of its chunks would cost many times the size of a body
/// that comes byte by byte.
async fn collect_body(
    mut body: Incoming,
    most: usize,
    mut hold: MemoryHold,
) -> Result<(Bytes, MemoryHold), BodyError> {
    let mut whole = BytesMut::new();
    loop {
        let frame = match body.frame().await {
            None => return Ok((whole.freeze(), hold)),
            Some(frame) => frame.map_err(|_| BodyError::Broken)?,
        };
        let Ok(chunk) = frame.into_data() else { continue };
        if whole.len() + chunk.len() > most {
            return Err(BodyError::TooLong);
        }
        if !hold.grow(chunk.len()) {
            return Err(BodyError::OutOfMemory);
        }
        if whole.is_empty() && body.is_end_stream() {
            return Ok((chunk, hold));
        }
        whole.extend_from_slice(&chunk);
    }
}
