//! Tools and prompts of the in-memory provider.

use std::sync::PoisonError;

use async_trait::async_trait;
use resource::{
    Ask, Blank, Calling, Change, Completion, Context, Error, Json, Names, Offer, Offered, Page,
    Relay, Result,
};

use super::answer::page;
use super::count::Running;
use super::{Memory, Spot};

/// A tool or prompt, and its result.
#[derive(Clone)]
pub(super) struct Held {
    offer: Offer,
    offered: Offered,
    answer: String,
}

impl Held {
    fn new(offer: Offer, name: &str, json: &str, answer: &str) -> Self {
        let offered = Offered { name: name.to_owned(), json: json.into() };
        Self { offer, offered, answer: answer.to_owned() }
    }
}

/// In a result, `$params` is replaced with the parameters of the call. Quoted URIs of this
/// provider's resources are rewritten: to public in descriptions and results, to local in
/// parameters.
impl Memory {
    /// Adds a tool with its description and its result.
    #[must_use]
    pub fn tool(mut self, name: &str, json: &str, answer: &str) -> Self {
        self.kinds.push(Offer::Tool);
        self.add_offer(Offer::Tool, name, json, answer);
        self
    }

    /// Adds a prompt with its description and its result.
    #[must_use]
    pub fn prompt(mut self, name: &str, json: &str, answer: &str) -> Self {
        self.kinds.push(Offer::Prompt);
        self.add_offer(Offer::Prompt, name, json, answer);
        self
    }

    /// Adds a tool that logs, sends a request to its caller, and returns the caller's result.
    #[must_use]
    pub fn asking(mut self, name: &str, method: &str, params: &str) -> Self {
        self.questions.insert(name.to_owned(), (method.to_owned(), params.into()));
        self.tool(name, &format!(r#"{{"name":"{name}"}}"#), "")
    }

    /// Suggests these values for every argument of every prompt.
    #[must_use]
    pub fn suggesting(mut self, values: &[&str]) -> Self {
        self.suggestions = values.iter().copied().map(str::to_owned).collect();
        self
    }

    /// Adds a tool or prompt, and notifies watchers.
    pub fn add_offer(&self, offer: Offer, name: &str, json: &str, answer: &str) {
        let mut offers = self.offers.write().unwrap_or_else(PoisonError::into_inner);
        offers.push(Held::new(offer, name, json, answer));
        drop(offers);
        self.tell(&Change::Offers(offer));
    }

    /// Removes a tool or prompt, and notifies watchers.
    pub fn remove_offer(&self, offer: Offer, name: &str) {
        let mut offers = self.offers.write().unwrap_or_else(PoisonError::into_inner);
        offers.retain(|held| held.offer != offer || held.offered.name != name);
        drop(offers);
        self.tell(&Change::Offers(offer));
    }

    fn held(&self, offer: Offer) -> Vec<Held> {
        let offers = self.offers.read().unwrap_or_else(PoisonError::into_inner);
        offers.iter().filter(|held| held.offer == offer).cloned().collect()
    }

    fn published(&self, text: &str, names: &dyn Names) -> Json {
        let quoted = |uri: &str| format!("\"{uri}\"");
        let mut text = text.to_owned();
        for entry in self.entries() {
            let uri = entry.resource.uri.as_str();
            if let Some(public) = names.public(uri) {
                text = text.replace(&quoted(uri), &quoted(&public));
            }
        }
        text.into()
    }
}

#[async_trait]
impl Relay for Memory {
    fn has(&self, offer: Offer) -> bool {
        self.kinds.contains(&offer)
    }

    fn logs(&self) -> bool {
        !self.questions.is_empty()
    }

    async fn offers(
        &self,
        ctx: &Context,
        offer: Offer,
        names: &dyn Names,
        ask: &Ask,
    ) -> Result<Page<Offered>> {
        let _running = Running::list(&self.counts);
        self.meet(ctx, &Spot::Offers(offer)).await?;
        let mut held = self.held(offer);
        for one in &mut held {
            one.offered.json = self.published(one.offered.json.as_str(), names);
        }
        page(held.iter().map(|held| &held.offered), |offered| &offered.name, ask)
    }

    async fn call(&self, ctx: &Context, calling: &Calling<'_>) -> Result<Json> {
        let _running = Running::call(&self.counts);
        self.meet(ctx, &Spot::Call(calling.name.to_owned())).await?;
        if let Some((method, params)) = self.questions.get(calling.name) {
            let nobody = || Error::invalid("there is no caller to ask");
            let caller = ctx.caller().ok_or_else(nobody)?;
            caller.log(&r#"{"level":"info","data":"before"}"#.into());
            let answer = caller.ask(method, params).await?;
            caller.log(&r#"{"level":"debug","data":"behind"}"#.into());
            return Ok(answer);
        }
        let held = self.held(calling.offer);
        let held = held.iter().find(|held| held.offered.name == calling.name);
        let held = held.ok_or_else(|| Error::invalid("there is nothing of that name"))?;
        let mut params = calling.params.as_str().to_owned();
        for entry in self.entries() {
            let local = entry.resource.uri.as_str();
            if let Some(public) = calling.names.public(local) {
                params = params.replace(&format!("\"{public}\""), &format!("\"{local}\""));
            }
        }
        let answer = self.published(&held.answer, calling.names);
        Ok(answer.as_str().replace("$params", &params).into())
    }

    async fn suggest(&self, _: &Context, blank: &Blank<'_>) -> Result<Completion> {
        let known = self.held(Offer::Prompt).iter().any(|held| held.offered.name == blank.prompt);
        if !known {
            return Err(Error::invalid("there is no such prompt"));
        }
        let values = self.suggestions.iter().filter(|value| value.starts_with(blank.typed));
        Ok(Completion::of(values.cloned().collect()))
    }
}
