//! A host that knows only tools: a client that checks every answer against the schema.

use std::sync::Arc;

use serde_json::{Value, json};
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;

use crate::fixture::{self, StdioClient, initialize, request, stateless};
use crate::schema;

pub(crate) const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const MODERN: &str = "2026-07-28";

pub(crate) fn serve_with_page_size(memory: MemoryProvider, page: usize) -> Arc<Server> {
    let limits = Limits { page, ..Limits::default() };
    fixture::server(Arc::new(memory), limits, CollectionsMode::Always)
}

/// A client of one revision.
pub(crate) struct ToolHost {
    pub(crate) pipe: StdioClient,
    revision: &'static str,
}

impl ToolHost {
    pub(crate) async fn of(revision: &'static str, server: Arc<Server>) -> Self {
        let mut pipe = StdioClient::open(server);
        if revision != MODERN {
            pipe.call(&initialize(revision)).await;
        }
        Self { pipe, revision }
    }

    pub(crate) async fn modern(server: Arc<Server>) -> Self {
        Self::of(MODERN, server).await
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let message = match self.revision {
            MODERN => stateless(1, method, params),
            _ => request(1, method, params),
        };
        let tool = params_name(&message);
        let answer = self.pipe.call(&message).await;
        schema::check(self.revision, &[(method.to_owned(), answer.clone())]);
        if let Some(output) = answer["result"].get("structuredContent") {
            schema::check_output(&tool, output);
        }
        answer["result"].clone()
    }

    /// The result of a tool call.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// The structured result of a tool call that succeeds.
    pub(crate) async fn structured(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments).await;
        assert!(result.get("isError").is_none(), "{result}");
        result["structuredContent"].clone()
    }

    /// The error text of a tool call that fails.
    pub(crate) async fn error_text(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none());
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn is_readable(&mut self, uri: &Value) -> bool {
        self.ask("resources/read", json!({ "uri": uri })).await["contents"].is_array()
    }
}

fn params_name(message: &Value) -> String {
    message["params"]["name"].as_str().unwrap_or_default().to_owned()
}
