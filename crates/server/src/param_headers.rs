//! Parameter headers (SEP-2243): the arguments that HTTP headers must repeat, by listed tool.

use std::sync::Arc;

use machinery::{Cache, CacheBounds};
use protocol::ParamHeaders;
use resource::Component;

/// The most tools with such arguments that we remember.
const MAX_TOOLS: usize = 16 << 10;

/// Tools with arguments that headers must repeat. Only listed tools are here: a client that has not
/// listed a tool cannot know its headers.
pub(crate) struct ParamHeaderTable(Cache<String, Arc<ParamHeaders>>);

impl Default for ParamHeaderTable {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::entries(MAX_TOOLS)))
    }
}

impl ParamHeaderTable {
    /// Records the parameter headers of tools that a client lists.
    pub(crate) fn record_listed(&self, tools: &[Arc<Component>]) {
        for tool in tools {
            let mirrors = ParamHeaders::from_tool(&tool.json);
            if mirrors.is_empty() {
                self.0.remove(&tool.name);
            } else {
                self.0.insert(tool.name.clone(), Arc::new(mirrors), 1);
            }
        }
    }

    /// The arguments of `tool` that headers must repeat, if any.
    pub(crate) fn headers_of(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.0.get(tool)
    }
}
