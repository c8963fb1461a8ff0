//! Who asked, and what can be said to it before it is answered?

use async_trait::async_trait;

use crate::error::Result;
use crate::relay::Json;

/// Whoever made a request, as far as a server behind us may turn to it.
///
/// Questions and log messages are not ours to understand: they pass through as they were written.
#[async_trait]
pub trait Caller: Send + Sync {
    /// Tells callers apart. Requests of one session have one caller.
    fn number(&self) -> u64;

    /// What it says that it can be asked for, an object.
    fn can(&self) -> &Json;

    /// Whether it can be asked while it waits. One that cannot is answered by the question.
    fn answers(&self) -> bool;

    /// Asks it something, and waits for what it answers.
    async fn ask(&self, method: &str, params: &Json) -> Result<Json>;

    /// What it answers to the question that it was answered by before, an object.
    fn reply(&self) -> Option<&Json>;

    /// How important a log message must be for it to hear of it, if it said so.
    fn level(&self) -> Option<&'static str>;

    /// Lets it hear a log message, unless that is less important than it likes.
    fn log(&self, message: &Json);
}
