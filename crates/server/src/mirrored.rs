//! Parameter headers (SEP-2243): the arguments that HTTP headers must repeat, by listed tool.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::Mirrors;
use resource::Offered;

/// The most tools with such arguments that we remember.
const MOST: usize = 16 << 10;

/// Tools with arguments that headers must repeat. Only listed tools are here: a client that has not
/// listed a tool cannot know its headers.
#[derive(Default)]
pub(crate) struct Mirrored(Mutex<HashMap<String, Arc<Mirrors>>>);

impl Mirrored {
    /// Records the parameter headers of tools that a client lists.
    pub(crate) fn see(&self, tools: &[Arc<Offered>]) {
        for tool in tools {
            let mirrors = Mirrors::of(&tool.json);
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if mirrors.is_empty() {
                known.remove(&tool.name);
            } else if known.len() < MOST || known.contains_key(&tool.name) {
                known.insert(tool.name.clone(), Arc::new(mirrors));
            }
        }
    }

    /// The arguments of `tool` that headers must repeat, if any.
    pub(crate) fn of(&self, tool: &str) -> Option<Arc<Mirrors>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }
}
