//! Decoder for client requests: from method and parameters to a typed [`Call`].
//!
//! Decodes and validates a whole request before the server acts on it.

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

/// A decoded client request.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// Starts the handshake of a session, through 2025-11-25.
    Initialize {
        /// The revision negotiated from the one that the client requests.
        revision: Revision,
        /// True if the client declares SEP-2093.
        aware: bool,
        /// The client's capabilities, an object.
        can: Json,
    },
    /// Checks that the server responds.
    Ping,
    /// Returns the server's capabilities.
    Discover,
    /// Sets the minimum level of log messages, through 2025-11-25.
    Level(Level),
    /// Lists all resources, or those in one collection, page by page.
    List {
        /// The collection; `None` lists everything.
        parent: Option<Uri>,
        /// The cursor of the page; `None` starts at the beginning.
        cursor: Option<String>,
    },
    /// Lists the resources in a directory, page by page.
    Directory {
        /// The directory.
        parent: Uri,
        /// The cursor of the page; `None` starts at the beginning.
        cursor: Option<String>,
    },
    /// Lists the resource templates, page by page.
    Templates {
        /// The cursor of the page; `None` starts at the beginning.
        cursor: Option<String>,
    },
    /// Reads the content of a resource.
    Read {
        /// The resource.
        uri: Uri,
        /// The part to read; `None` reads everything.
        window: Option<Stretch>,
        /// `requestState` and `inputResponses` after an `input_required` result, an object.
        reply: Option<Json>,
    },
    /// Returns the description of a resource.
    Metadata {
        /// The resource.
        uri: Uri,
    },
    /// Subscribes to changes of a resource, through 2025-11-25.
    Subscribe {
        /// The resource.
        uri: Uri,
    },
    /// Ends such a subscription.
    Unsubscribe {
        /// The resource.
        uri: Uri,
    },
    /// Subscribes to changes for as long as the response stays open.
    Listen(Wishes),
    /// Lists the tools or the prompts, page by page.
    Offers {
        /// Tools or prompts.
        offer: Offer,
        /// The cursor of the page; `None` starts at the beginning.
        cursor: Option<String>,
    },
    /// Calls a tool or gets a prompt.
    Offered {
        /// Tool or prompt.
        offer: Offer,
        /// Its name.
        name: String,
        /// The parameters, as the client wrote them.
        params: Json,
    },
    /// Completes an argument of a prompt.
    Suggest {
        /// The prompt.
        prompt: String,
        /// The argument.
        argument: String,
        /// The text typed so far.
        typed: String,
        /// Arguments that already have a value.
        settled: BTreeMap<String, String>,
    },
    /// Completes a variable of a resource template.
    Complete {
        /// The template, as the server lists it, or a plain URI.
        template: String,
        /// The variable.
        variable: String,
        /// The text typed so far.
        typed: String,
        /// Variables that already have a value.
        settled: BTreeMap<String, String>,
    },
}

/// The methods that we serve in at least one revision.
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

/// Whether the `Mcp-Name` header must repeat the name or URI in the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mirror {
    /// The header is required and must match.
    Required,
    /// The header is optional and must match if present.
    Allowed,
    /// The method ignores the header.
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

    /// True if we serve this method in `revision`.
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

    /// True if only stateless requests (no handshake) can call it.
    pub fn stands_alone(self) -> bool {
        matches!(self, Self::Discover | Self::Listen)
    }

    /// True if the method starts or ends a subscription.
    pub fn watches(self) -> bool {
        matches!(self, Self::Subscribe | Self::Unsubscribe | Self::Listen)
    }

    /// Tool or prompt, if the method handles one of these.
    pub fn offer(self) -> Option<Offer> {
        match self {
            Self::Offers(offer) | Self::Offered(offer) => Some(offer),
            _ => None,
        }
    }

    /// True if it belongs to SEP-2093 or a related extension, not to core MCP.
    pub fn is_extension(self) -> bool {
        matches!(self, Self::Metadata | Self::Directory)
    }

    /// Whether `Mcp-Name` must repeat the name or URI in the parameters.
    pub fn mirror(self) -> Mirror {
        match self {
            Self::Read | Self::Offered(_) => Mirror::Required,
            Self::Metadata | Self::Directory | Self::List => Mirror::Allowed,
            _ => Mirror::Absent,
        }
    }
}

/// A notification from a client, as far as the server acts on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The client cancelled this request.
    Cancelled(Id),
    /// The client finished the handshake and accepts notifications, through 2025-11-25.
    Ready,
    /// A notification that the server ignores.
    Other,
}

impl Told {
    /// Decodes a notification. Returns [`Told::Other`] if it is malformed or unknown.
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
    /// Decodes a request. Refuses URIs and names longer than `most` bytes.
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

    /// True if the request uses something that SEP-2093 adds.
    pub fn is_extension(&self) -> bool {
        match self {
            Self::Metadata { .. } | Self::Directory { .. } => true,
            Self::List { parent, .. } => parent.is_some(),
            _ => false,
        }
    }
}

/// Deserializes parameters. Absent parameters count as an empty object.
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
