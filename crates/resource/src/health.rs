//! How is a source of resources?

use std::time::SystemTime;

/// The ability to say how one is.
pub trait Health: Send + Sync {
    /// How it is just now. Asks nobody and waits for nothing.
    fn health(&self) -> Condition;

    /// Whether all of it is there, neither starting nor failed, so that it can do no more later
    /// than now. Asks nobody, waits for nothing, and takes no longer than a glance.
    fn is_there(&self) -> bool;
}

/// How a source is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// In one word.
    pub state: State,
    /// What a person should know about it, such as that changes are found by polling.
    pub words: Option<String>,
    /// When it came into this state; nothing, if it was never in another.
    pub since: Option<SystemTime>,
    /// What else is known of it, each under its name.
    pub facts: Vec<(&'static str, Fact)>,
}

/// Something that is known of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// It is so, or it is not.
    Truth(bool),
    /// So many.
    Count(usize),
    /// In words.
    Text(String),
    /// At that time.
    Time(SystemTime),
    /// Several facts, each under its name.
    Group(Vec<(&'static str, Self)>),
}

impl Condition {
    /// All is well.
    pub fn ready() -> Self {
        Self::new(State::Ready, None)
    }

    /// It is so, and nothing else is known.
    pub fn new(state: State, words: Option<String>) -> Self {
        Self { state, words, since: None, facts: Vec::new() }
    }

    /// It serves, but not as well as it could.
    pub fn degraded(words: impl Into<String>) -> Self {
        Self::new(State::Degraded, Some(words.into()))
    }
}

impl State {
    /// Whether whoever is so can be asked.
    pub fn is_there(self) -> bool {
        matches!(self, Self::Ready | Self::Degraded)
    }
}

/// How a source is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is not there yet.
    Starting,
    /// It serves.
    Ready,
    /// It serves, but not as well as it could.
    Degraded,
    /// It does not serve.
    Failed,
}
