//! Tools and prompts of the in-memory provider.

use async_trait::async_trait;
use resource::{
    Change, Completion, Component, ComponentCall, ComponentKind, Context, Error, Json, Page,
    PageRequest, PromptCompletionRequest, Relay, Result, TaskCall, UriRewrite,
};

use super::counts::RequestGuard;
use super::responses::page_of;
use super::{FaultPoint, MemoryProvider};

/// A tool or prompt, and its result.
#[derive(Clone)]
pub(super) struct MemoryComponent {
    kind: ComponentKind,
    component: Component,
    result: String,
}

impl MemoryComponent {
    fn new(kind: ComponentKind, name: &str, json: &str, answer: &str) -> Self {
        let component = Component { name: name.to_owned(), json: json.into() };
        Self { kind, component, result: answer.to_owned() }
    }
}

/// In a result, `$params` is replaced with the parameters of the call. Quoted URIs of this
/// provider's resources are rewritten: to public in descriptions and results, to local in
/// parameters.
impl MemoryProvider {
    /// Adds a tool with its description and its result.
    #[must_use]
    pub fn tool(mut self, name: &str, json: &str, answer: &str) -> Self {
        self.component_kinds.push(ComponentKind::Tool);
        self.add_component(ComponentKind::Tool, name, json, answer);
        self
    }

    /// Adds a prompt with its description and its result.
    #[must_use]
    pub fn prompt(mut self, name: &str, json: &str, answer: &str) -> Self {
        self.component_kinds.push(ComponentKind::Prompt);
        self.add_component(ComponentKind::Prompt, name, json, answer);
        self
    }

    /// Adds a tool that logs, sends a request to its caller, and returns the caller's result.
    #[must_use]
    pub fn caller_request_tool(mut self, name: &str, method: &str, params: &str) -> Self {
        self.caller_requests.insert(name.to_owned(), (method.to_owned(), params.into()));
        self.tool(name, &format!(r#"{{"name":"{name}"}}"#), "")
    }

    /// Suggests these values for every argument of every prompt.
    #[must_use]
    pub fn with_suggestions(mut self, values: &[&str]) -> Self {
        self.suggestions = values.iter().copied().map(str::to_owned).collect();
        self
    }

    /// Adds a tool or prompt, and notifies watchers.
    pub fn add_component(&self, kind: ComponentKind, name: &str, json: &str, answer: &str) {
        let mut offers = self.components.write();
        offers.push(MemoryComponent::new(kind, name, json, answer));
        drop(offers);
        self.notify(&Change::Components(kind));
    }

    /// Removes a tool or prompt, and notifies watchers.
    pub fn remove_component(&self, kind: ComponentKind, name: &str) {
        let mut offers = self.components.write();
        offers.retain(|held| held.kind != kind || held.component.name != name);
        drop(offers);
        self.notify(&Change::Components(kind));
    }

    fn components_of(&self, kind: ComponentKind) -> Vec<MemoryComponent> {
        let offers = self.components.read();
        offers.iter().filter(|held| held.kind == kind).cloned().collect()
    }

    fn with_public_uris(&self, text: &str, rewrite: &dyn UriRewrite) -> Json {
        let quoted = |uri: &str| format!("\"{uri}\"");
        let mut text = text.to_owned();
        for entry in self.all_entries() {
            let uri = entry.resource.uri.as_str();
            if let Some(public) = rewrite.to_public(uri) {
                text = text.replace(&quoted(uri), &quoted(&public));
            }
        }
        text.into()
    }
}

#[async_trait]
impl Relay for MemoryProvider {
    fn may_have(&self, _: &Context, kind: ComponentKind) -> bool {
        self.component_kinds.contains(&kind)
    }

    fn emits_logs(&self, _: &Context) -> bool {
        !self.caller_requests.is_empty()
    }

    async fn list_components(
        &self,
        ctx: &Context,
        kind: ComponentKind,
        rewrite: &dyn UriRewrite,
        paging: &PageRequest,
    ) -> Result<Page<Component>> {
        let _running = RequestGuard::list(&self.counts);
        self.apply_fault(ctx, &FaultPoint::Components(kind)).await?;
        let mut held = self.components_of(kind);
        for one in &mut held {
            one.component.json = self.with_public_uris(one.component.json.as_str(), rewrite);
        }
        page_of(held.iter().map(|held| &held.component), |offered| &offered.name, paging)
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        let _running = RequestGuard::call(&self.counts);
        self.apply_fault(ctx, &FaultPoint::Call(call.name.to_owned())).await?;
        if let Some((method, params)) = self.caller_requests.get(call.name) {
            let nobody = || Error::invalid("there is no caller to ask");
            let caller = ctx.caller().ok_or_else(nobody)?;
            caller.log(&r#"{"level":"info","data":"before"}"#.into());
            let answer = caller.send_request(method, params).await?;
            caller.log(&r#"{"level":"debug","data":"behind"}"#.into());
            return Ok(answer);
        }
        let held = self.components_of(call.kind);
        let held = held.iter().find(|held| held.component.name == call.name);
        let held = held.ok_or_else(|| Error::invalid("there is nothing of that name"))?;
        let mut params = call.params.as_str().to_owned();
        for entry in self.all_entries() {
            let local = entry.resource.uri.as_str();
            if let Some(public) = call.uri_rewrite.to_public(local) {
                params = params.replace(&format!("\"{public}\""), &format!("\"{local}\""));
            }
        }
        let answer = self.with_public_uris(&held.result, call.uri_rewrite);
        Ok(answer.as_str().replace("$params", &params).into())
    }

    fn has_tasks(&self, _: &Context) -> bool {
        false
    }

    async fn call_task(&self, _ctx: &Context, _call: &TaskCall<'_>) -> Result<Json> {
        Err(Error::invalid("there is no such task"))
    }

    async fn complete_prompt(
        &self,
        ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        self.apply_fault(ctx, &FaultPoint::Call(request.prompt.to_owned())).await?;
        let known = self
            .components_of(ComponentKind::Prompt)
            .iter()
            .any(|held| held.component.name == request.prompt);
        if !known {
            return Err(Error::invalid("there is no such prompt"));
        }
        let values = self.suggestions.iter().filter(|value| value.starts_with(request.typed));
        Ok(Completion::from_values(values.cloned().collect()))
    }
}
