//! Shared vocabulary: resources, pages, changes, errors, and the [`Provider`] trait.
//!
//! Plain data and traits. This crate does no I/O and knows no wire format.

pub mod caller;
pub mod change;
pub mod context;
pub mod description;
pub mod error;
pub mod extra;
pub mod health;
pub mod page;
pub mod provider;
pub mod reading;
pub mod relay;
pub mod template;
pub mod tokens;
pub mod uri;

pub use caller::Caller;
pub use change::{Change, Interest};
pub use context::{Context, Progress, Step};
pub use description::{Annotations, Format, Icon, Resource, Role, Template, Truth};
pub use error::{Error, ErrorKind, Result, Said};
pub use extra::{Extra, Place};
pub use health::{Condition, Fact, Health, State};
pub use page::{Absence, Ask, Cursor, Freshness, Page, Scope};
pub use provider::{Complete, Completion, Facets, Mounts, Provider, Question, Watch};
pub use reading::{Body, Content, Lines, Next, Part, Reading, Slice, Source, Window};
pub use relay::{Blank, Calling, Json, Names, Offer, Offered, Relay};
pub use template::UriTemplate;
pub use uri::Uri;
