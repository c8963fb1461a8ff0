//! Shared vocabulary: resources, pages, changes, errors, and the [`Provider`] trait.
//!
//! Plain data and traits. This crate does no I/O and knows no wire format.

pub mod accept;
pub mod caller;
pub mod change;
pub mod context;
pub mod description;
pub mod error;
pub mod filter;
pub mod health;
pub mod items;
pub mod page;
pub mod plain_text;
pub mod principal;
pub mod provider;
pub mod reading;
pub mod relay;
pub mod search;
pub mod section;
pub mod skill;
pub mod template;
pub mod tokens;
pub mod trace_context;
pub mod unknown_members;
pub mod uri;
pub mod variable;

pub use accept::Accept;
pub use caller::Caller;
pub use change::{Change, Interest};
pub use context::{Context, HeldMemory, MemoryMeter, ProgressSink, ProgressStep};
pub use description::{Annotations, Format, Icon, Resource, Role, Template};
pub use error::{Error, ErrorKind, Result, UpstreamError};
pub use filter::{Filter, PathFilter};
pub use health::{Health, HealthFact, HealthState, HealthStatus};
pub use items::Items;
pub use page::{Absence, CacheScope, Cursor, Freshness, Page, PageRequest};
pub use plain_text::{is_control, one_line, one_line_up_to, words_on_one_line};
pub use principal::{Principal, PrincipalSource};
pub use provider::{
    Complete, Completion, CompletionRequest, Facets, MountInfo, MountLookup, Provider, Watch,
};
pub use reading::{
    Body, ByteSource, Content, Continuation, LineRange, Part, ReadRequest, Reading, Slice, Window,
};
pub use relay::{
    Component, ComponentCall, ComponentKind, Json, PromptCompletionRequest, Relay, TaskAction,
    TaskCall, UriRewrite,
};
pub use search::{Passage, Search, SearchHit, SearchRequest};
pub use section::{Outline, SectionChoice, SectionName, SectionTitle, SectionUnit};
pub use skill::{SKILL_INDEX_URI, Skill, SkillFile, SkillFiles, SkillIndexEntry, Skills};
pub use template::UriTemplate;
pub use trace_context::TraceContext;
pub use unknown_members::{MemberPlace, UnknownMembers};
pub use uri::Uri;
pub use variable::{Variable, VariableKind, VariableValue, VariableValues};
