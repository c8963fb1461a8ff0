//! Which requests do we understand, and what do they ask?
//!
//! A request is read completely before anything is done about it.

mod blank;
mod stretch;

use std::borrow::Cow;
use std::collections::BTreeMap;

use resource::{Json, Offer, Uri};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::asking;
use crate::frame::Id;
use crate::level::Level;
use crate::meta::{self, Meta};
use crate::refusal::Refusal;
use crate::revision::Revision;
use crate::wish::Wishes;
pub use stretch::{Extent, Stretch};

/// A request of a kind that we serve.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// Opens a session, through 2025-11-25.
    Initialize {
        /// What the client would like to speak.
        revision: Revision,
        /// Whether the client knows SEP-2093.
        aware: bool,
        /// What it says that it can be asked for, an object.
        can: Json,
    },
    /// Asks whether we are there.
    Ping,
    /// Asks what we can do.
    Discover,
    /// Says how important log messages must be to be heard, through 2025-11-25.
    Level(Level),
    /// Asks for a page of what is there, or of what lies in a collection.
    List {
        /// The collection.
        parent: Option<Uri>,
        /// Where to go on.
        cursor: Option<String>,
    },
    /// Asks for a page of what lies in a directory.
    Directory {
        /// The directory.
        parent: Uri,
        /// Where to go on.
        cursor: Option<String>,
    },
    /// Asks for a page of the templates.
    Templates {
        /// Where to go on.
        cursor: Option<String>,
    },
    /// Asks for content.
    Read {
        /// The resource.
        uri: Uri,
        /// How much of it.
        window: Option<Stretch>,
        /// What answers a question that this was answered by before, an object.
        reply: Option<Json>,
    },
    /// Asks for a description.
    Metadata {
        /// The resource.
        uri: Uri,
    },
    /// Asks to hear of the changes of a resource, through 2025-11-25.
    Subscribe {
        /// The resource.
        uri: Uri,
    },
    /// Asks to hear of them no more.
    Unsubscribe {
        /// The resource.
        uri: Uri,
    },
    /// Asks to hear of changes for as long as the answer lasts.
    Listen(Wishes),
    /// Asks for a page of the tools or of the prompts.
    Offers {
        /// Which.
        offer: Offer,
        /// Where to go on.
        cursor: Option<String>,
    },
    /// Asks to run a tool or to fill in a prompt.
    Offered {
        /// Which of them.
        offer: Offer,
        /// Its name.
        name: String,
        /// The parameters, as they were written.
        params: Json,
    },
    /// Asks how an argument of a prompt might go on.
    Suggest {
        /// The prompt.
        prompt: String,
        /// The argument.
        argument: String,
        /// What has been typed.
        typed: String,
        /// Arguments that are settled.
        settled: BTreeMap<String, String>,
    },
    /// Asks how a variable might go on.
    Complete {
        /// The template, as it was listed, or a plain URI.
        template: String,
        /// The variable.
        variable: String,
        /// What has been typed.
        typed: String,
        /// Variables that are settled.
        settled: BTreeMap<String, String>,
    },
}

/// The methods that we know by name, whether or not a revision has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `initialize`
    Initialize,
    /// `ping`
    Ping,
    /// `server/discover`
    Discover,
    /// `logging/setLevel`
    Level,
    /// `resources/list`
    List,
    /// `resources/directory/read`
    Directory,
    /// `resources/templates/list`
    Templates,
    /// `resources/read`
    Read,
    /// `resources/metadata`
    Metadata,
    /// `resources/subscribe`
    Subscribe,
    /// `resources/unsubscribe`
    Unsubscribe,
    /// `completion/complete`
    Complete,
    /// `subscriptions/listen`
    Listen,
    /// `tools/list` and `prompts/list`
    Offers(Offer),
    /// `tools/call` and `prompts/get`
    Offered(Offer),
}

/// Whether a header repeats what the parameters name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mirror {
    /// It must.
    Required,
    /// It may, and then it must be right.
    Allowed,
    /// There is nothing to repeat.
    Absent,
}

impl Method {
    /// The method called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "initialize" => Self::Initialize,
            "ping" => Self::Ping,
            "server/discover" => Self::Discover,
            "logging/setLevel" => Self::Level,
            "resources/list" => Self::List,
            "resources/directory/read" => Self::Directory,
            "resources/templates/list" => Self::Templates,
            "resources/read" => Self::Read,
            "resources/metadata" => Self::Metadata,
            "resources/subscribe" => Self::Subscribe,
            "resources/unsubscribe" => Self::Unsubscribe,
            "completion/complete" => Self::Complete,
            "subscriptions/listen" => Self::Listen,
            "tools/list" => Self::Offers(Offer::Tool),
            "tools/call" => Self::Offered(Offer::Tool),
            "prompts/list" => Self::Offers(Offer::Prompt),
            "prompts/get" => Self::Offered(Offer::Prompt),
            _ => return None,
        })
    }

    /// Whether `revision` has it and we serve it there.
    pub fn is_served_in(self, revision: Revision) -> bool {
        match self {
            Self::Initialize | Self::Ping | Self::Level | Self::Subscribe | Self::Unsubscribe => {
                revision.has_handshake()
            }
            Self::Discover | Self::Listen => !revision.has_handshake(),
            Self::List
            | Self::Directory
            | Self::Templates
            | Self::Read
            | Self::Metadata
            | Self::Complete
            | Self::Offers(_)
            | Self::Offered(_) => true,
        }
    }

    /// Whether only requests that stand alone may call it.
    pub fn stands_alone(self) -> bool {
        matches!(self, Self::Discover | Self::Listen)
    }

    /// Whether it is about hearing of changes.
    pub fn watches(self) -> bool {
        matches!(self, Self::Subscribe | Self::Unsubscribe | Self::Listen)
    }

    /// The kind of offers that it is about.
    pub fn offer(self) -> Option<Offer> {
        match self {
            Self::Offers(offer) | Self::Offered(offer) => Some(offer),
            _ => None,
        }
    }

    /// Whether it is one of SEP-2093 and its relatives.
    pub fn is_extension(self) -> bool {
        matches!(self, Self::Metadata | Self::Directory)
    }

    /// Whether a header repeats what the parameters name.
    pub fn mirror(self) -> Mirror {
        match self {
            Self::Read | Self::Offered(_) => Mirror::Required,
            Self::Metadata | Self::Directory | Self::List => Mirror::Allowed,
            _ => Mirror::Absent,
        }
    }
}

/// What a peer tells us unasked, as far as we act on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// It no longer wants an answer to this request.
    Cancelled(Id),
    /// It is ready to be told things, through 2025-11-25.
    Ready,
    /// Something that we may ignore.
    Other,
}

impl Told {
    /// Reads a notification. One that cannot be read is ignored, like one that is not known.
    pub fn decode(method: &str, params: Option<&RawValue>) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        match method {
            "notifications/cancelled" => params
                .and_then(|raw| serde_json::from_str::<Cancelled<'_>>(raw.get()).ok())
                .and_then(|cancelled| Id::parse(cancelled.request_id))
                .map_or(Self::Other, Self::Cancelled),
            "notifications/initialized" => Self::Ready,
            _ => Self::Other,
        }
    }
}

impl Call {
    /// Reads a request whose method is known. No URI in it may be longer than `most` bytes.
    pub fn decode(
        method: Method,
        params: Option<&RawValue>,
        meta: &Meta<'_>,
        most: usize,
    ) -> Result<Self, Refusal> {
        let uri = || {
            let missing = || Refusal::bad_params("uri: missing".to_owned());
            meta.resource(most)?.ok_or_else(missing)
        };
        Ok(match method {
            Method::Initialize => initialize(params)?,
            Method::Ping => Self::Ping,
            Method::Discover => Self::Discover,
            Method::Level => Self::Level(level(params)?),
            Method::List => Self::List { parent: meta.resource(most)?, cursor: meta.cursor()? },
            Method::Directory => Self::Directory { parent: uri()?, cursor: meta.cursor()? },
            Method::Templates => Self::Templates { cursor: meta.cursor()? },
            Method::Read => {
                let reply = params.filter(|_| meta.replies()).and_then(asking::reply);
                Self::Read { uri: uri()?, window: stretch::stretch(meta)?, reply }
            }
            Method::Metadata => Self::Metadata { uri: uri()? },
            Method::Complete => blank::complete(params, most)?,
            Method::Offers(offer) => Self::Offers { offer, cursor: meta.cursor()? },
            Method::Offered(offer) => {
                let params = params.map_or("{}", RawValue::get).into();
                Self::Offered { offer, name: meta.offered(most)?, params }
            }
            Method::Subscribe => Self::Subscribe { uri: uri()? },
            Method::Unsubscribe => Self::Unsubscribe { uri: uri()? },
            Method::Listen => Self::Listen(Wishes::decode(params, most)?),
        })
    }

    /// Whether it asks for something that SEP-2093 added.
    pub fn is_extension(&self) -> bool {
        match self {
            Self::Metadata { .. } | Self::Directory { .. } => true,
            Self::List { parent, .. } => parent.is_some(),
            _ => false,
        }
    }
}

/// Reads parameters. None at all are the same as an empty object.
fn read<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Result<T, Refusal> {
    serde_json::from_str(params.map_or("{}", RawValue::get))
        .map_err(|flaw| Refusal::bad_params(format!("params: {flaw}")))
}

fn level(params: Option<&RawValue>) -> Result<Level, Refusal> {
    #[derive(Deserialize)]
    struct Wanted<'a> {
        #[serde(borrow)]
        level: Cow<'a, str>,
    }
    let wanted: Wanted<'_> = read(params)?;
    let unknown = || Refusal::bad_params(format!("level: must be one of {}", Level::names()));
    Level::named(&wanted.level).ok_or_else(unknown)
}

fn initialize(params: Option<&RawValue>) -> Result<Call, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Opening<'a> {
        #[serde(borrow)]
        protocol_version: Cow<'a, str>,
        #[serde(borrow)]
        capabilities: Option<&'a RawValue>,
    }
    let opening: Opening<'_> = read(params)?;
    Ok(Call::Initialize {
        revision: Revision::negotiated(&opening.protocol_version),
        aware: opening.capabilities.is_some_and(meta::is_aware),
        can: opening.capabilities.map_or("{}", RawValue::get).into(),
    })
}

#[cfg(test)]
mod tests;
