//! MCP server: serves one `Provider` over stdio and HTTP, in every protocol revision.
//!
//! The provider may be one source or a catalog of twenty; this crate cannot tell. It reads no
//! settings and no environment.

mod audit;
mod baskets;
mod clients;
mod cursor_table;
mod dispatch;
mod exchange;
mod in_flight;
mod instructions;
mod lifecycle;
mod limits;
mod methods;
mod mount_contents;
mod mount_path;
mod param_headers;
mod rate_limit;
mod request_state;
mod server;
mod skill_index;
mod task_ids;
mod tools;
pub mod transport;
mod watchers;
pub mod window;

pub use audit::{AuditRecord, AuditSink};
pub use baskets::{BASKET_TEMPLATE, Basket, BasketRegistry, BasketStorage};
pub use clients::ClientRegistry;
pub use limits::Limits;
pub use server::{CollectionsMode, Server};
pub use skill_index::SkillIndex;
pub use watchers::WatcherRegistry;
