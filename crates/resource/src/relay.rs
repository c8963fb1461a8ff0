//! The relay interface: how a provider passes on the tools and prompts of an upstream server.
//!
//! Descriptions, parameters and results pass through as JSON text, so that nothing is lost.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::context::Context;
use crate::error::Result;
use crate::page::{Page, PageRequest};
use crate::provider::Completion;

/// Relays tools and prompts.
///
/// A relay sees only its own (local) names. It reports that a list changed through
/// [`Watch`](crate::Watch), to an interest in offers of that kind.
#[async_trait]
pub trait Relay: Send + Sync {
    /// Whether there may be any of this kind for the principal. Does not block or contact the source.
    fn may_have(&self, ctx: &Context, kind: ComponentKind) -> bool;

    /// Whether calls of the principal may emit log messages. Does not block or contact the source.
    fn emits_logs(&self, ctx: &Context) -> bool;

    /// Lists one page of tools or prompts, in a fixed order. `names` makes the URIs in their
    /// descriptions public.
    async fn list_components(
        &self,
        ctx: &Context,
        kind: ComponentKind,
        rewrite: &dyn UriRewrite,
        paging: &PageRequest,
    ) -> Result<Page<Component>>;

    /// Whether there are tools that the principal finds by search instead of in the list.
    fn has_searched_tools(&self, _ctx: &Context) -> bool {
        false
    }

    /// Lists one page of the tools that clients find by search, which `list_components` leaves out.
    async fn list_searched_tools(
        &self,
        _ctx: &Context,
        _rewrite: &dyn UriRewrite,
        _paging: &PageRequest,
    ) -> Result<Page<Component>> {
        Ok(Page::empty())
    }

    /// Calls a tool or gets a prompt. The URIs in the result are public.
    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json>;

    /// Whether a tool of the principal may run as a task (SEP-2663). Does not block or contact the
    /// source.
    fn has_tasks(&self, ctx: &Context) -> bool;

    /// Gets, updates or cancels a task that a tool started. The URIs in the result are public.
    async fn call_task(&self, ctx: &Context, call: &TaskCall<'_>) -> Result<Json>;

    /// Suggests values for an argument of a prompt, the likeliest first.
    async fn complete_prompt(
        &self,
        ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion>;
}

/// What a server offers besides resources: tools or prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ComponentKind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
}

impl ComponentKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Tool, Self::Prompt];
}

/// One tool or prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// The name. It overrides the `name` in the description.
    pub name: String,
    /// The whole description, a JSON object.
    pub json: Json,
}

/// One tool call or prompt request.
#[derive(Clone, Copy)]
pub struct ComponentCall<'a> {
    /// Tool or prompt.
    pub kind: ComponentKind,
    /// The name. It overrides the `name` in the parameters.
    pub name: &'a str,
    /// The parameters as the caller sent them, a JSON object.
    pub params: &'a Json,
    /// Rewrites the URIs in the parameters and in the result.
    pub uri_rewrite: &'a dyn UriRewrite,
}

/// What a client may do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAction {
    /// Get its state, and its result if it has ended.
    Get,
    /// Send the input that it asks for.
    Update,
    /// Ask the server to end it.
    Cancel,
}

/// One request about a task.
#[derive(Clone, Copy)]
pub struct TaskCall<'a> {
    /// What to do.
    pub action: TaskAction,
    /// The tool that started the task.
    pub tool: &'a str,
    /// The server's id of the task. It overrides the `taskId` in the parameters.
    pub task: &'a str,
    /// The parameters as the caller sent them, a JSON object.
    pub params: &'a Json,
    /// Rewrites the URIs in the result.
    pub uri_rewrite: &'a dyn UriRewrite,
}

/// A request to complete one argument of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct PromptCompletionRequest<'a> {
    /// The prompt.
    pub prompt: &'a str,
    /// The argument to complete.
    pub argument: &'a str,
    /// The text typed so far.
    pub typed: &'a str,
    /// The arguments that already have a value.
    pub resolved: &'a BTreeMap<String, String>,
}

/// Rewrites URIs between a mount's own (local) form and the public form.
pub trait UriRewrite: Send + Sync {
    /// The public form of a local URI, if it has one.
    fn to_public(&self, local: &str) -> Option<String>;

    /// The local form of a public URI, if it belongs to the mount.
    fn to_local(&self, public: &str) -> Option<String>;

    /// Whether the caller may know of a local URI. Links to others are left out of results.
    fn shows(&self, _local: &str) -> bool {
        true
    }
}

/// JSON text that this crate passes on without parsing it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

impl Json {
    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
