//! Which arguments of the tools that were listed must headers repeat? (SEP-2243)

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::Mirrors;
use resource::Offered;

/// How many tools with such arguments are remembered.
const MOST: usize = 16 << 10;

/// Tools whose arguments headers repeat, as far as they were listed: whoever has not listed a tool
/// cannot know.
#[derive(Default)]
pub(crate) struct Mirrored(Mutex<HashMap<String, Arc<Mirrors>>>);

impl Mirrored {
    /// Looks at tools that are listed.
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

    /// The arguments of `tool` that headers repeat, if there are any.
    pub(crate) fn of(&self, tool: &str) -> Option<Arc<Mirrors>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }
}
