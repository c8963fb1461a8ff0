//! Parameter headers (SEP-2243): the arguments that HTTP headers must repeat, by listed tool.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::ParamHeaders;
use resource::Component;

/// The most tools with such arguments that we remember.
const MAX_TOOLS: usize = 16 << 10;

/// Tools with arguments that headers must repeat. Only listed tools are here: a client that has not
/// listed a tool cannot know its headers.
#[derive(Default)]
pub(crate) struct ParamHeaderTable(Mutex<HashMap<String, Arc<ParamHeaders>>>);

impl ParamHeaderTable {
    /// Records the parameter headers of tools that a client lists.
    pub(crate) fn record_listed(&self, tools: &[Arc<Component>]) {
        for tool in tools {
            let mirrors = ParamHeaders::from_tool(&tool.json);
            let mut known = self.0.lock();
            if mirrors.is_empty() {
                known.remove(&tool.name);
            } else if known.len() < MAX_TOOLS || known.contains_key(&tool.name) {
                known.insert(tool.name.clone(), Arc::new(mirrors));
            }
        }
    }

    /// The arguments of `tool` that headers must repeat, if any.
    pub(crate) fn headers_of(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.0.lock().get(tool).cloned()
    }
}
