//! Health of a source: its state, a message, and named facts.

use std::time::SystemTime;

use crate::context::Context;

/// Reports the health of a source.
pub trait Health: Send + Sync {
    /// The current health, as far as the principal may know it. Does not block or contact the
    /// source.
    fn health(&self, ctx: &Context) -> HealthStatus;

    /// Whether every part of it is available, neither starting nor failed, so that no further
    /// ability can appear later. Fast: it does not block or contact the source.
    fn is_available(&self, ctx: &Context) -> bool;
}

/// The health of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthStatus {
    /// The state.
    pub state: HealthState,
    /// A message for people, such as that the source finds changes by polling.
    pub message: Option<String>,
    /// What caused that, in words that may tell of what is served: access rules leave them out.
    pub cause: Option<String>,
    /// When it entered this state; `None` if it was never in another.
    pub since: Option<SystemTime>,
    /// Further facts, by name.
    pub facts: Vec<(&'static str, HealthFact)>,
}

/// One fact about a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthFact {
    /// A boolean.
    Flag(bool),
    /// A number.
    Count(usize),
    /// A text.
    Text(String),
    /// A time.
    Time(SystemTime),
    /// Several facts, by name.
    Group(Vec<(&'static str, Self)>),
}

impl HealthStatus {
    /// Healthy.
    pub fn ready() -> Self {
        Self::new(HealthState::Ready, None)
    }

    /// A health with this state and message, without further facts.
    pub fn new(state: HealthState, message: Option<String>) -> Self {
        Self { state, message, cause: None, since: None, facts: Vec::new() }
    }

    /// The source serves, but with a restriction that the message describes.
    pub fn degraded(words: impl Into<String>) -> Self {
        Self::new(HealthState::Degraded, Some(words.into()))
    }

    /// The message with its cause.
    pub fn words(&self) -> Option<String> {
        match (&self.message, &self.cause) {
            (Some(message), Some(cause)) => Some(format!("{message}: {cause}")),
            (one, other) => one.clone().or_else(|| other.clone()),
        }
    }
}

impl HealthState {
    /// Whether a source in this state answers requests.
    pub fn is_serving(self) -> bool {
        matches!(self, Self::Ready | Self::Degraded)
    }
}

/// The state of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthState {
    /// It is not ready yet.
    Starting,
    /// It serves.
    Ready,
    /// It serves, but with a restriction.
    Degraded,
    /// It does not serve.
    Failed,
}
