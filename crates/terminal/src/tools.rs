//! Tools of the server: their descriptions, and calls that may ask the person back.

use std::sync::Arc;

use client::NotificationKind;
use resource::{
    ComponentCall, ComponentKind, Context, Json, Principal, ProgressSink, ProgressStep, UriRewrite,
};
use serde_json::{Value, json};

use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::forms::TerminalCaller;
use crate::output::{self, one_line};

/// How many pages of tools are read.
const MAX_PAGES: usize = 64;

/// A tool as the server describes it.
#[derive(Debug, Clone)]
pub(crate) struct ToolDescription {
    pub(crate) name: String,
    pub(crate) json: Value,
}

impl ToolDescription {
    pub(crate) fn description(&self) -> &str {
        let text = self.json["description"].as_str().or(self.json["title"].as_str());
        text.unwrap_or_default()
    }

    pub(crate) fn schema(&self) -> &Value {
        &self.json["inputSchema"]
    }
}

/// URIs stay as they are: this client talks to one server.
struct SameUris;

impl UriRewrite for SameUris {
    fn to_public(&self, local: &str) -> Option<String> {
        Some(local.to_owned())
    }

    fn to_local(&self, public: &str) -> Option<String> {
        Some(public.to_owned())
    }
}

/// Shows the progress of a call on standard error.
struct CallProgress;

impl ProgressSink for CallProgress {
    fn report(&self, step: ProgressStep) {
        let total = step.total.map_or_else(String::new, |total| format!(" of {total}"));
        let words =
            step.message.map_or_else(String::new, |words| format!(": {}", one_line(&words)));
        output::tell(&format!("{}{total}{words}", step.done));
    }
}

impl ServerConnection {
    /// All tools, read once.
    pub(crate) async fn tools(&self) -> Result<&[ToolDescription], CommandError> {
        let tools = self.tools.get_or_try_init(|| self.list_tools()).await?;
        Ok(tools)
    }

    async fn list_tools(&self) -> Result<Vec<ToolDescription>, CommandError> {
        let mut tools = Vec::new();
        if !self.peer.capabilities.may_have(ComponentKind::Tool) {
            return Ok(tools);
        }
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = self
                .client
                .component_page(ComponentKind::Tool, &SameUris, cursor.as_deref())
                .await?;
            for tool in page.items {
                let json = serde_json::from_str(tool.json.as_str()).unwrap_or_default();
                tools.push(ToolDescription { name: tool.name, json });
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    /// Whether the server has this tool.
    pub(crate) async fn has_tool(&self, name: &str) -> Result<bool, CommandError> {
        Ok(self.tools().await?.iter().any(|tool| tool.name == name))
    }

    /// Calls a tool that asks nothing back.
    pub(crate) async fn call_tool(
        &self,
        name: &str,
        arguments: &Value,
    ) -> Result<Value, CommandError> {
        self.call(name, arguments, &Context::new(Principal::local())).await
    }

    /// Calls a tool for the person at the terminal: shows its progress, and asks what it asks.
    pub(crate) async fn call_for_person(
        &self,
        name: &str,
        arguments: &Value,
    ) -> Result<Value, CommandError> {
        let ctx = Context::new(Principal::local()).with_caller(Arc::new(TerminalCaller::new()));
        let ctx = match TerminalCaller::is_person_there() {
            true => ctx.with_progress(Arc::new(CallProgress)),
            false => ctx,
        };
        self.call(name, arguments, &ctx).await
    }

    async fn call(
        &self,
        name: &str,
        arguments: &Value,
        ctx: &Context,
    ) -> Result<Value, CommandError> {
        let params =
            Json::from(json!({ "name": name, "arguments": arguments }).to_string().as_str());
        let kind = ComponentKind::Tool;
        let call = ComponentCall { kind, name, params: &params, uri_rewrite: &SameUris };
        let result = self.client.send_call(ctx, &call).await?;
        serde_json::from_str(result.as_str())
            .map_err(|error| CommandError::Failed(error.to_string()))
    }
}

/// Whether a notification is about resources.
pub(crate) fn is_about_resources(kind: &NotificationKind) -> bool {
    matches!(kind, NotificationKind::Updated(_) | NotificationKind::ResourceListChanged)
}
