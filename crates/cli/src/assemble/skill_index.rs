//! The internal mount with the index of the skills of all servers.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Address, Catalog, Mount, MountOptions};
use resource::Result;
use server::SkillIndex;

use super::BuiltMount;

/// The time limit of the index. Every server in it has a shorter one of its own.
const MAX_TIME: Duration = Duration::from_secs(600);

/// The mount of the index of the skills of `built`.
pub(super) fn index_mount(built: &[BuiltMount], terms: MountOptions) -> Result<Mount> {
    let servers = Catalog::new(Vec::new());
    servers.replace(built.iter().map(|made| Arc::clone(&made.mount)).collect());
    let index = SkillIndex::new(Arc::new(servers))?;
    let uris = std::iter::once(index.uri().clone()).collect();
    let address = Address::Declared { uris, templates: Vec::new() };
    let terms = MountOptions { timeout: MAX_TIME, ..terms };
    Ok(Mount::new("~skills", address, index, terms).unlisted())
}
