//! Decoder for client requests: from method and parameters to a typed [`Call`].
//!
//! Decodes and validates a whole request before the server acts on it.

mod basket;
mod completion;
mod method;
mod window;

use std::borrow::Cow;
use std::collections::BTreeMap;

use resource::{ComponentKind, Json, TaskAction, Uri};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::inbound::listen_filter::ListenFilter;
use crate::inbound::refusal::Refusal;
use crate::inbound::request_meta::{self, ClientLabel, RequestMeta};
use crate::json::frame::RequestId;
use crate::json::raw_object::parse_object;
use crate::log_level::LogLevel;
use crate::outbound::input_request;
use crate::revision::Revision;
pub use basket::BASKETS_EXTENSION;
pub use method::{Method, NameHeaderRule};
pub use window::{WindowExtent, WindowRequest};

/// A decoded client request.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// Starts the handshake of a session, through 2025-11-25.
    Initialize {
        /// The revision negotiated from the one that the client requests.
        revision: Revision,
        /// True if the client declares SEP-2093.
        knows_sep2093: bool,
        /// The client's capabilities, an object.
        capabilities: Json,
        /// The name and version that the client gives itself.
        client: ClientLabel<'static>,
    },
    /// Checks that the server responds.
    Ping,
    /// Returns the server's capabilities.
    Discover,
    /// Sets the minimum level of log messages, through 2025-11-25.
    SetLogLevel(LogLevel),
    /// Lists all resources, or those in one collection, page by page.
    List {
        /// The collection; `None` lists everything.
        parent: Option<Uri>,
        /// The cursor of the page; `None` starts at the beginning.
        cursor: Option<String>,
    },
    /// Lists the resources in a directory, page by page.
    ReadDirectory {
        /// The directory.
        parent: Uri,
        /// The cursor of the page; `None` starts at the beginning.
        cursor: Option<String>,
    },
    /// Lists the resource templates, page by page.
    ListTemplates {
        /// The cursor of the page; `None` starts at the beginning.
        cursor: Option<String>,
    },
    /// Reads the content of a resource.
    Read {
        /// The resource.
        uri: Uri,
        /// The part to read; `None` reads everything.
        window: Option<WindowRequest>,
        /// The formats that the client accepts, as it wrote them; empty if it has no preference.
        accept: Vec<String>,
        /// `requestState` and `inputResponses` after an `input_required` result, an object.
        input_response: Option<Json>,
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
    Listen(ListenFilter),
    /// Lists the skills, page by page.
    ListSkills {
        /// The cursor of the page; `None` starts at the beginning.
        cursor: Option<String>,
    },
    /// Returns one skill.
    GetSkill {
        /// Its `SKILL.md`.
        uri: Uri,
    },
    /// Lists the tools or the prompts, page by page.
    ListComponents {
        /// Tools or prompts.
        component: ComponentKind,
        /// The cursor of the page; `None` starts at the beginning.
        cursor: Option<String>,
    },
    /// Calls a tool or gets a prompt.
    InvokeComponent {
        /// Tool or prompt.
        component: ComponentKind,
        /// Its name.
        name: String,
        /// The parameters, as the client wrote them.
        params: Json,
    },
    /// Gets, updates or cancels a task.
    Task {
        /// What to do.
        action: TaskAction,
        /// The id of the task, as this server gave it to the client.
        task: String,
        /// The parameters, as the client wrote them.
        params: Json,
    },
    /// Saves a basket (baskets extension).
    SaveBasket {
        /// Its name.
        name: String,
        /// Its title.
        title: Option<String>,
        /// The resources in it.
        uris: Vec<Uri>,
    },
    /// Removes a basket (baskets extension).
    RemoveBasket {
        /// Its name.
        name: String,
    },
    /// Completes an argument of a prompt.
    CompletePrompt {
        /// The prompt.
        prompt: String,
        /// The argument.
        argument: String,
        /// The text typed so far.
        typed: String,
        /// Arguments that already have a value.
        resolved: BTreeMap<String, String>,
    },
    /// Completes a variable of a resource template.
    CompleteTemplate {
        /// The template, as the server lists it, or a plain URI.
        template: String,
        /// The variable.
        variable: String,
        /// The text typed so far.
        typed: String,
        /// Variables that already have a value.
        resolved: BTreeMap<String, String>,
    },
}

/// A notification from a client, as far as the server acts on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientNotification {
    /// The client cancelled this request.
    Cancelled(RequestId),
    /// The client finished the handshake and accepts notifications, through 2025-11-25.
    Initialized,
    /// A notification that the server ignores.
    Other,
}

impl ClientNotification {
    /// Decodes a notification. Returns [`ClientNotification::Other`] if it is malformed or unknown.
    pub fn decode(method: &str, params: Option<&RawValue>) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct RawCancelledRequest<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        match method {
            "notifications/cancelled" => params
                .and_then(|raw| parse_object::<RawCancelledRequest<'_>>(raw.get()).ok())
                .and_then(|cancelled| RequestId::parse(cancelled.request_id))
                .map_or(Self::Other, Self::Cancelled),
            "notifications/initialized" => Self::Initialized,
            _ => Self::Other,
        }
    }
}

impl Call {
    /// Decodes a request. Refuses URIs and names longer than `most` bytes.
    pub fn decode(
        method: Method,
        params: Option<&RawValue>,
        meta: &RequestMeta<'_>,
        most: usize,
    ) -> Result<Self, Refusal> {
        let uri = || {
            let missing = || Refusal::invalid_params("uri: missing".to_owned());
            meta.target_uri(most)?.ok_or_else(missing)
        };
        Ok(match method {
            Method::Initialize => decode_initialize(params)?,
            Method::Ping => Self::Ping,
            Method::Discover => Self::Discover,
            Method::SetLogLevel => Self::SetLogLevel(decode_log_level(params)?),
            Method::List => Self::List { parent: meta.target_uri(most)?, cursor: meta.cursor()? },
            Method::ReadDirectory => Self::ReadDirectory { parent: uri()?, cursor: meta.cursor()? },
            Method::ListTemplates => Self::ListTemplates { cursor: meta.cursor()? },
            Method::Read => {
                let reply = params
                    .filter(|_| meta.has_input_response())
                    .and_then(input_request::extract_input_response);
                Self::Read {
                    uri: uri()?,
                    window: window::decode_window(meta)?,
                    accept: window::decode_accept(meta)?,
                    input_response: reply,
                }
            }
            Method::Metadata => Self::Metadata { uri: uri()? },
            Method::ListSkills => Self::ListSkills { cursor: meta.cursor()? },
            Method::GetSkill => Self::GetSkill { uri: uri()? },
            Method::Complete => completion::decode_completion(params, most)?,
            Method::ListComponents(component) => {
                Self::ListComponents { component, cursor: meta.cursor()? }
            }
            Method::InvokeComponent(component) => {
                let params = params.map_or("{}", RawValue::get).into();
                Self::InvokeComponent { component, name: meta.component_name(most)?, params }
            }
            Method::Task(action) => {
                meta.require_tasks()?;
                let params = params.map_or("{}", RawValue::get).into();
                Self::Task { action, task: meta.required_task_id()?, params }
            }
            Method::SaveBasket => basket::decode_save(params, most)?,
            Method::RemoveBasket => Self::RemoveBasket { name: meta.component_name(most)? },
            Method::Subscribe => Self::Subscribe { uri: uri()? },
            Method::Unsubscribe => Self::Unsubscribe { uri: uri()? },
            Method::Listen => {
                let filter = ListenFilter::decode(params, most)?;
                if !filter.tasks.is_empty() {
                    meta.require_tasks()?;
                }
                Self::Listen(filter)
            }
        })
    }

    /// True if the request uses something that SEP-2093 adds.
    pub fn is_extension(&self) -> bool {
        match self {
            Self::Metadata { .. } | Self::ReadDirectory { .. } => true,
            Self::List { parent, .. } => parent.is_some(),
            _ => false,
        }
    }
}

/// Deserializes parameters. Absent parameters count as an empty object.
fn decode_params<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Result<T, Refusal> {
    parse_object(params.map_or("{}", RawValue::get))
        .map_err(|flaw| Refusal::invalid_params(format!("params: {flaw}")))
}

fn decode_log_level(params: Option<&RawValue>) -> Result<LogLevel, Refusal> {
    #[derive(Deserialize)]
    struct SetLevelParams<'a> {
        #[serde(borrow)]
        level: Cow<'a, str>,
    }
    let wanted: SetLevelParams<'_> = decode_params(params)?;
    let unknown =
        || Refusal::invalid_params(format!("level: must be one of {}", LogLevel::all_names()));
    LogLevel::from_name(&wanted.level).ok_or_else(unknown)
}

/// Maximum length of a client's capabilities, which the server keeps for the session.
const MAX_CAPABILITIES: usize = 64 << 10;

fn decode_initialize(params: Option<&RawValue>) -> Result<Call, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeParams<'a> {
        #[serde(borrow)]
        protocol_version: Cow<'a, str>,
        #[serde(borrow)]
        capabilities: Option<&'a RawValue>,
        #[serde(borrow, default)]
        client_info: Option<&'a RawValue>,
    }
    let opening: InitializeParams<'_> = decode_params(params)?;
    if opening.capabilities.is_some_and(|raw| raw.get().len() > MAX_CAPABILITIES) {
        let why = format!("capabilities: longer than {MAX_CAPABILITIES} bytes");
        return Err(Refusal::invalid_params(why));
    }
    Ok(Call::Initialize {
        revision: Revision::negotiate(&opening.protocol_version),
        knows_sep2093: opening.capabilities.is_some_and(request_meta::declares_sep2093),
        capabilities: opening.capabilities.map_or("{}", RawValue::get).into(),
        client: opening.client_info.map(ClientLabel::decode).unwrap_or_default().into_owned(),
    })
}

#[cfg(test)]
mod tests;
