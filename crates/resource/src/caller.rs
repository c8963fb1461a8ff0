//! The caller of a request, as an upstream server sees it: server-to-client requests and logs.

use async_trait::async_trait;

use crate::error::Result;
use crate::relay::Json;

/// The client that made a request, and how an upstream server reaches it.
///
/// Server-to-client requests and log messages pass through verbatim.
#[async_trait]
pub trait Caller: Send + Sync {
    /// A number that identifies the caller. All requests of one session share it.
    fn id(&self) -> u64;

    /// The client capabilities that it declared, a JSON object.
    fn capabilities(&self) -> &Json;

    /// True if the client can receive requests during the call (sessions). Otherwise the call
    /// returns an `input_required` result.
    fn accepts_requests(&self) -> bool;

    /// Sends a request to the client and waits for its result.
    async fn send_request(&self, method: &str, params: &Json) -> Result<Json>;

    /// The client's answer to an earlier `input_required` result, if this request carries one; a
    /// JSON object.
    fn input_response(&self) -> Option<&Json>;

    /// The minimum log level that the client set, if it set one.
    fn log_level(&self) -> Option<&'static str>;

    /// Sends a log message to the client, unless it is below the client's minimum level.
    fn log(&self, message: &Json);
}
