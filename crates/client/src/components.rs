//! Typed requests for tools and prompts: list, call, complete an argument.

use std::sync::Arc;

use machinery::{Cache, CacheBounds};
use protocol::outbound::decode::{self, DecodedPage};
use protocol::outbound::request::prompt_completion_params;
use protocol::outbound::{components, task};
use protocol::{LogLevel, ParamHeaders};
use resource::{
    Caller, Completion, Component, ComponentCall, ComponentKind, Context, Json,
    PromptCompletionRequest, TaskCall, UriRewrite,
};
use serde_json::value::RawValue;

use crate::client::{Client, Request};
use crate::error::{CallError, Error};
use crate::server_requests::{ServerRequestHandler, repeat_with_input, run_with_requests};
use crate::trace::with_trace;

/// How many tools with parameter headers are remembered.
const MAX_HEADER_TOOLS: usize = 4096;
/// How many pages of the tool list are read to find the parameter headers of a tool.
const MAX_LIST_PAGES: usize = 64;

/// By listed tool: the arguments that the server wants repeated as HTTP headers.
pub(crate) struct ParamHeaderCache(Cache<String, Arc<ParamHeaders>>);

impl Default for ParamHeaderCache {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::entries(MAX_HEADER_TOOLS)))
    }
}

impl ParamHeaderCache {
    fn update(&self, tools: &[Component]) {
        for tool in tools {
            match ParamHeaders::from_tool(&tool.json) {
                none if none.is_empty() => self.0.remove(&tool.name),
                found => self.0.insert(tool.name.clone(), Arc::new(found), 1),
            }
        }
    }

    fn for_call(&self, call: &ComponentCall<'_>, params: &RawValue) -> Vec<(String, String)> {
        let headers = match call.kind {
            ComponentKind::Tool => self.0.get(call.name),
            ComponentKind::Prompt => None,
        };
        headers.map(|headers| headers.for_call(params)).unwrap_or_default()
    }
}

impl Client {
    /// One page of tools or prompts, as the server cuts its list; `rewrite` makes the URIs in
    /// their descriptions public.
    pub async fn component_page(
        &self,
        kind: ComponentKind,
        rewrite: &dyn UriRewrite,
        from: Option<&str>,
    ) -> Result<DecodedPage<Component>, Error> {
        let request = Request::new(components::list_method(kind)).at_cursor(from)?;
        let answer = self.send_request(&request).await?;
        let page = decode::component_page(&answer, kind, rewrite)?;
        if kind == ComponentKind::Tool {
            self.param_headers.update(&page.items);
        }
        Ok(page)
    }

    /// Calls a tool or gets a prompt, and relays progress, log messages and the server's requests
    /// to the context's sink and caller meanwhile. The URIs in the result are public.
    pub async fn send_call(
        &self,
        ctx: &Context,
        call: &ComponentCall<'_>,
    ) -> Result<Json, CallError> {
        let caller = ctx.caller().map(AsRef::as_ref);
        let params = components::call_params(call.params, call.name, call.uri_rewrite, caller)
            .map_err(|flaw| CallError::invalid(&flaw))?;
        let client = &self.for_caller(caller).await;
        if let Some(level) = caller.and_then(Caller::log_level).and_then(LogLevel::from_name) {
            client.lower_log_level(level).await;
        }
        repeat_with_input(caller, params, |params| async move {
            let result = with_trace(ctx, client.send_with_headers(ctx, call, &params)).await?;
            let result = client.connection.connector.mask.apply_json(result);
            Ok(components::public_result(&result, call.uri_rewrite))
        })
        .await
    }

    /// Gets, updates or cancels a task. The URIs in the result are public.
    pub async fn send_task_call(
        &self,
        ctx: &Context,
        call: &TaskCall<'_>,
    ) -> Result<Json, CallError> {
        let params = task::task_params(call, ctx.caller().map(AsRef::as_ref))
            .map_err(|flaw| CallError::invalid(&flaw))?;
        let request = Request::new(task::task_method(call.action)).params(params);
        let result = self.send_request(&request).await?;
        let result = self.connection.connector.mask.apply_json(result);
        Ok(task::public_task(&result, call.uri_rewrite))
    }

    /// Completion values for an argument of a prompt.
    pub async fn prompt_completion(
        &self,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion, Error> {
        self.send_completion(prompt_completion_params(request)).await
    }

    /// Sends the call; if the server rejects its headers, reads the tool list, which declares
    /// parameter headers, and sends the call again.
    async fn send_with_headers(
        &self,
        ctx: &Context,
        call: &ComponentCall<'_>,
        params: &RawValue,
    ) -> Result<Box<RawValue>, Error> {
        match self.send_call_once(ctx, call, params).await {
            Err(error) if error.is_header_mismatch() && call.kind == ComponentKind::Tool => {}
            answer => return answer,
        }
        let mut cursor = None;
        for _ in 0..MAX_LIST_PAGES {
            let page = self.component_page(call.kind, call.uri_rewrite, cursor.as_deref()).await?;
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        self.send_call_once(ctx, call, params).await
    }

    async fn send_call_once(
        &self,
        ctx: &Context,
        call: &ComponentCall<'_>,
        params: &RawValue,
    ) -> Result<Box<RawValue>, Error> {
        let mut request = Request::new(components::call_method(call.kind))
            .params(params.to_owned())
            .param_headers(self.param_headers.for_call(call, params));
        if let Some(sink) = ctx.progress_sink() {
            request = request.progress(Arc::clone(sink));
        }
        match ctx.caller() {
            Some(caller) => {
                let (handler, requests) = ServerRequestHandler::new(caller);
                let request = request.with_handler(handler);
                let work = self.send_request(&request);
                run_with_requests(work, requests, &**caller, call.uri_rewrite).await
            }
            None => {
                // Register this call too, so that its requests never go to another caller.
                let request = request.with_handler(ServerRequestHandler::NoCaller);
                self.send_request(&request).await
            }
        }
    }

    /// Lowers the server's log threshold to `level`, if it is higher. A failure is only logged:
    /// the call works without.
    async fn lower_log_level(&self, level: LogLevel) {
        let lowered = async { self.connection.session().await?.lower_log_level(level).await };
        if let Err(error) = lowered.await {
            tracing::debug!(%error, "setting the log level of a server failed");
        }
    }
}
