//! What else does a server behind us offer, and how is it passed on?
//!
//! Tools and prompts are not ours to understand: what they look like and what they answer is JSON
//! that passes through as text, so that nothing of it is lost.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::context::Context;
use crate::error::Result;
use crate::page::{Ask, Page};
use crate::provider::Completion;

/// The ability to pass on tools and prompts.
///
/// A relay is given names in the form that it gave them itself. That a list has changed is told
/// through [`Watch`](crate::Watch), to an interest in offers of that kind.
#[async_trait]
pub trait Relay: Send + Sync {
    /// Whether there may be any of this kind. Asks nobody and waits for nothing.
    fn has(&self, offer: Offer) -> bool;

    /// Whether log messages may come while it works. Asks nobody and waits for nothing.
    fn logs(&self) -> bool;

    /// One page of what is offered, in a fixed order, with public URIs in it.
    async fn offers(
        &self,
        ctx: &Context,
        offer: Offer,
        names: &dyn Names,
        ask: &Ask,
    ) -> Result<Page<Offered>>;

    /// Runs a tool or fills in a prompt, and gives the result with public URIs in it.
    async fn call(&self, ctx: &Context, calling: &Calling<'_>) -> Result<Json>;

    /// Values for an argument of a prompt, the likeliest first.
    async fn suggest(&self, ctx: &Context, blank: &Blank<'_>) -> Result<Completion>;
}

/// The kinds of things that are offered besides resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Offer {
    /// Something to run.
    Tool,
    /// Something to say, with blanks to fill in.
    Prompt,
}

impl Offer {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Tool, Self::Prompt];
}

/// One thing that is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// What it is called. It holds over what its description says.
    pub name: String,
    /// Its whole description, an object.
    pub json: Json,
}

/// One call of something that is offered.
#[derive(Clone, Copy)]
pub struct Calling<'a> {
    /// Of which kind it is.
    pub offer: Offer,
    /// What it is called. It holds over what the parameters say.
    pub name: &'a str,
    /// The parameters as the caller wrote them, an object.
    pub params: &'a Json,
    /// How URIs in them, and in the result, are told apart.
    pub names: &'a dyn Names,
}

/// An argument of a prompt that somebody is about to fill in.
#[derive(Debug, Clone, Copy)]
pub struct Blank<'a> {
    /// The prompt.
    pub prompt: &'a str,
    /// Which of its arguments.
    pub argument: &'a str,
    /// What has been typed so far.
    pub typed: &'a str,
    /// Arguments that are settled already.
    pub settled: &'a BTreeMap<String, String>,
}

/// How a mount's own URIs become public, and public ones its own.
pub trait Names: Send + Sync {
    /// The public form of a mount's own URI, if it has one.
    fn public(&self, local: &str) -> Option<String>;

    /// The mount's own form of a public URI, if it belongs to the mount.
    fn local(&self, public: &str) -> Option<String>;
}

/// JSON that nobody in here looks into.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

impl Json {
    /// The text as it was written.
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
