//! Tool selection layer: which tools of a server are offered, and under which names.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use machinery::{GlobError, PathGlob, PathGlobSet};
use resource::{
    Completion, Component, ComponentCall, ComponentKind, Context, Facets, Json, Page, PageRequest,
    PromptCompletionRequest, Provider, ReadRequest, Reading, Relay, Resource, Result, TaskCall,
    Template, Uri, UriRewrite,
};

use super::Layer;
use crate::components::unknown_component;

/// The tools of a mount that are offered. Prompts are not affected.
#[derive(Debug, Clone, Default)]
pub struct ToolSelection {
    /// Globs of the tools to offer; all of them without any.
    pub allow: Option<PathGlobSet>,
    /// Globs of the tools to leave out.
    pub deny: PathGlobSet,
    /// New names, by the server's names.
    pub rename: BTreeMap<String, String>,
    /// Whether clients find the tools by `tools_search` instead of in the list.
    pub by_search: bool,
}

impl ToolSelection {
    /// Selects by globs of names: those that match `allow`, or all without it, but not `deny`.
    pub fn new(allow: Option<&[String]>, deny: &[String]) -> Result<Self, GlobError> {
        let set = |globs: &[String]| {
            let globs: Result<Vec<_>, _> = globs.iter().map(|glob| PathGlob::parse(glob)).collect();
            PathGlobSet::new(&globs?)
        };
        Ok(Self { allow: allow.map(set).transpose()?, deny: set(deny)?, ..Self::default() })
    }

    /// The name under which the server's tool `name` is offered; `None` if it is not.
    fn offered_name<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        if self.deny.is_match(name)
            || self.allow.as_ref().is_some_and(|allow| !allow.is_match(name))
        {
            return None;
        }
        match self.rename.get(name) {
            Some(new) => Some(new),
            // The tool that was renamed to this name has it.
            None => (!self.is_new_name(name)).then_some(name),
        }
    }

    /// The server's name of the tool that is offered as `offered`.
    fn server_name<'a>(&'a self, offered: &'a str) -> Option<&'a str> {
        let renamed = self.rename.iter().find(|(_, new)| *new == offered);
        let name = renamed.map_or(offered, |(name, _)| name);
        (self.offered_name(name) == Some(offered)).then_some(name)
    }

    fn is_new_name(&self, name: &str) -> bool {
        self.rename.values().any(|new| new == name)
    }
}

impl Layer for ToolSelection {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(SelectedProvider { inner, selection: self.clone() })
    }
}

struct SelectedProvider {
    inner: Arc<dyn Provider>,
    selection: ToolSelection,
}

#[async_trait]
impl Provider for SelectedProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.inner.list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.inner.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.inner.read(ctx, uri, request).await
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        let relay = relay.map(|_| self as &dyn Relay);
        Facets { watch, complete, health, relay, mounts, search, skills }
    }
}

#[async_trait]
impl Relay for SelectedProvider {
    fn may_have(&self, ctx: &Context, kind: ComponentKind) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.may_have(ctx, kind))
    }

    fn emits_logs(&self, ctx: &Context) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.emits_logs(ctx))
    }

    async fn list_components(
        &self,
        ctx: &Context,
        kind: ComponentKind,
        rewrite: &dyn UriRewrite,
        paging: &PageRequest,
    ) -> Result<Page<Component>> {
        let Some(inner) = self.inner.facets().relay else { return Ok(Page::empty()) };
        let mut page = inner.list_components(ctx, kind, rewrite, paging).await?;
        if kind == ComponentKind::Tool {
            page.items.to_mut().retain_mut(|item| match self.selection.offered_name(&item.name) {
                Some(offered) if offered == item.name => true,
                Some(offered) => {
                    let offered = offered.to_owned();
                    Arc::make_mut(item).name = offered;
                    true
                }
                None => false,
            });
        }
        Ok(page)
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        let unknown = || unknown_component(call.kind, call.name);
        let inner = self.inner.facets().relay.ok_or_else(unknown)?;
        let name = match call.kind {
            ComponentKind::Tool => self.selection.server_name(call.name).ok_or_else(unknown)?,
            ComponentKind::Prompt => call.name,
        };
        inner.call_component(ctx, &ComponentCall { name, ..*call }).await
    }

    fn has_tasks(&self, ctx: &Context) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.has_tasks(ctx))
    }

    async fn call_task(&self, ctx: &Context, call: &TaskCall<'_>) -> Result<Json> {
        let unknown = || unknown_component(ComponentKind::Tool, call.tool);
        let inner = self.inner.facets().relay.ok_or_else(unknown)?;
        let tool = self.selection.server_name(call.tool).ok_or_else(unknown)?;
        inner.call_task(ctx, &TaskCall { tool, ..*call }).await
    }

    async fn complete_prompt(
        &self,
        ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        let unknown = || unknown_component(ComponentKind::Prompt, request.prompt);
        let inner = self.inner.facets().relay.ok_or_else(unknown)?;
        inner.complete_prompt(ctx, request).await
    }
}

#[cfg(test)]
mod tests {
    use super::ToolSelection;

    fn select(allow: Option<&[&str]>, deny: &[&str]) -> ToolSelection {
        let owned = |globs: &[&str]| -> Vec<String> {
            globs.iter().map(|glob| (*glob).to_owned()).collect()
        };
        ToolSelection::new(allow.map(owned).as_deref(), &owned(deny)).unwrap()
    }

    #[test]
    fn what_is_denied_or_not_allowed_has_no_name() {
        let selection = select(Some(&["get_*", "list"]), &["*_secret"]);
        for (name, offered) in
            [("get_it", true), ("list", true), ("get_secret", false), ("drop", false)]
        {
            let expected = offered.then_some(name);
            assert_eq!(selection.offered_name(name), expected);
            assert_eq!(selection.server_name(name), expected);
        }
    }

    #[test]
    fn a_renamed_tool_has_its_new_name_only() {
        let rename = [("get_me", "whoami"), ("a", "b"), ("hidden", "seen")];
        let rename = rename.map(|(name, new)| (name.to_owned(), new.to_owned())).into();
        let selection = ToolSelection { rename, ..select(None, &["hidden"]) };
        assert_eq!(selection.offered_name("get_me"), Some("whoami"));
        assert_eq!(selection.server_name("whoami"), Some("get_me"));
        assert_eq!(selection.server_name("get_me"), None);
        assert_eq!(selection.offered_name("b"), None, "the tool renamed to it has the name");
        assert_eq!(selection.server_name("b"), Some("a"));
        assert_eq!(selection.server_name("seen"), None, "denied by the server's name");
    }
}
