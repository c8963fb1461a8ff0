//! Under what terms is one request answered?

use protocol::{Id, Terms};
use resource::Context;

/// One request's terms: who is to be answered, in which revision, and who hears of progress.
pub(crate) struct Exchange {
    pub(crate) id: Id,
    pub(crate) terms: Terms,
    pub(crate) ctx: Context,
}
