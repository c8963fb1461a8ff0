//! What do we tell a peer unasked?

use serde::Serialize;

use crate::frame::Id;
use crate::outgoing::Outgoing;

/// A notification on its way out.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// How far a request has come.
    Progress {
        /// What the request asked to be told under.
        token: Id,
        /// How much is done.
        done: u64,
        /// Of how much, where that is known.
        total: Option<u64>,
    },
}

impl Notice {
    /// The message.
    pub fn encode(&self) -> Outgoing {
        #[derive(Serialize)]
        struct Notification<P> {
            jsonrpc: &'static str,
            method: &'static str,
            params: P,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Progress<'a> {
            progress_token: &'a Id,
            progress: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            total: Option<u64>,
        }
        match self {
            Self::Progress { token, done, total } => Outgoing::json(&Notification {
                jsonrpc: "2.0",
                method: "notifications/progress",
                params: Progress { progress_token: token, progress: *done, total: *total },
            }),
        }
    }
}
