//! How is a source of resources?

/// The ability to say how one is.
pub trait Health: Send + Sync {
    /// How it is just now. Asks nobody and waits for nothing.
    fn health(&self) -> Condition;
}

/// How a source is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// In one word.
    pub state: State,
    /// What a person should know about it, such as that changes are found by polling.
    pub words: Option<String>,
}

impl Condition {
    /// All is well.
    pub fn ready() -> Self {
        Self { state: State::Ready, words: None }
    }

    /// It serves, but not as well as it could.
    pub fn degraded(words: impl Into<String>) -> Self {
        Self { state: State::Degraded, words: Some(words.into()) }
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
