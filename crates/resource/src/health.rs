//! Health of a source: its state, a message, and named facts.

use std::time::SystemTime;

/// Reports the health of a source.
pub trait Health: Send + Sync {
    /// The current health. Does not block or contact the source.
    fn health(&self) -> Condition;

    /// Whether every part of it is available, neither starting nor failed, so that no further
    /// ability can appear later. Fast: it does not block or contact the source.
    fn is_there(&self) -> bool;
}

/// The health of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The state.
    pub state: State,
    /// A message for people, such as that the source finds changes by polling.
    pub words: Option<String>,
    /// When it entered this state; `None` if it was never in another.
    pub since: Option<SystemTime>,
    /// Further facts, by name.
    pub facts: Vec<(&'static str, Fact)>,
}

/// One fact about a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A boolean.
    Truth(bool),
    /// A number.
    Count(usize),
    /// A text.
    Text(String),
    /// A time.
    Time(SystemTime),
    /// Several facts, by name.
    Group(Vec<(&'static str, Self)>),
}

impl Condition {
    /// Healthy.
    pub fn ready() -> Self {
        Self::new(State::Ready, None)
    }

    /// A health with this state and message, without further facts.
    pub fn new(state: State, words: Option<String>) -> Self {
        Self { state, words, since: None, facts: Vec::new() }
    }

    /// The source serves, but with a restriction that the message describes.
    pub fn degraded(words: impl Into<String>) -> Self {
        Self::new(State::Degraded, Some(words.into()))
    }
}

impl State {
    /// Whether a source in this state answers requests.
    pub fn is_there(self) -> bool {
        matches!(self, Self::Ready | Self::Degraded)
    }
}

/// The state of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is not ready yet.
    Starting,
    /// It serves.
    Ready,
    /// It serves, but with a restriction.
    Degraded,
    /// It does not serve.
    Failed,
}
