//! The methods of client requests, and in which revisions and with which headers they are served.

use resource::{ComponentKind, TaskAction};

use crate::outbound::request::methods;
use crate::revision::Revision;

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
    SetLogLevel,
    /// `resources/list`
    List,
    /// `resources/directory/read`
    ReadDirectory,
    /// `resources/templates/list`
    ListTemplates,
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
    ListComponents(ComponentKind),
    /// `tools/call` and `prompts/get`
    InvokeComponent(ComponentKind),
    /// `skills/list` (skills extension)
    ListSkills,
    /// `skills/get` (skills extension)
    GetSkill,
    /// `tasks/get`, `tasks/update` and `tasks/cancel` (SEP-2663)
    Task(TaskAction),
    /// `dev.refdesk/baskets/save`
    SaveBasket,
    /// `dev.refdesk/baskets/remove`
    RemoveBasket,
}

/// Whether the `Mcp-Name` header must repeat the name or URI in the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameHeaderRule {
    /// The header is required and must match.
    Required,
    /// The header is optional and must match if present.
    Optional,
    /// The method ignores the header.
    Ignored,
}

impl Method {
    /// The method called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "initialize" => Self::Initialize,
            "ping" => Self::Ping,
            "server/discover" => Self::Discover,
            "logging/setLevel" => Self::SetLogLevel,
            "resources/list" => Self::List,
            "resources/directory/read" => Self::ReadDirectory,
            "resources/templates/list" => Self::ListTemplates,
            "resources/read" => Self::Read,
            "resources/metadata" => Self::Metadata,
            "resources/subscribe" => Self::Subscribe,
            "resources/unsubscribe" => Self::Unsubscribe,
            "completion/complete" => Self::Complete,
            "subscriptions/listen" => Self::Listen,
            "tools/list" => Self::ListComponents(ComponentKind::Tool),
            "tools/call" => Self::InvokeComponent(ComponentKind::Tool),
            "prompts/list" => Self::ListComponents(ComponentKind::Prompt),
            "prompts/get" => Self::InvokeComponent(ComponentKind::Prompt),
            "skills/list" => Self::ListSkills,
            "skills/get" => Self::GetSkill,
            "tasks/get" => Self::Task(TaskAction::Get),
            "tasks/update" => Self::Task(TaskAction::Update),
            "tasks/cancel" => Self::Task(TaskAction::Cancel),
            methods::SAVE_BASKET => Self::SaveBasket,
            "dev.refdesk/baskets/remove" => Self::RemoveBasket,
            _ => return None,
        })
    }

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Ping => "ping",
            Self::Discover => "server/discover",
            Self::SetLogLevel => "logging/setLevel",
            Self::List => "resources/list",
            Self::ReadDirectory => "resources/directory/read",
            Self::ListTemplates => "resources/templates/list",
            Self::Read => "resources/read",
            Self::Metadata => "resources/metadata",
            Self::Subscribe => "resources/subscribe",
            Self::Unsubscribe => "resources/unsubscribe",
            Self::Complete => "completion/complete",
            Self::Listen => "subscriptions/listen",
            Self::ListComponents(ComponentKind::Tool) => "tools/list",
            Self::InvokeComponent(ComponentKind::Tool) => "tools/call",
            Self::ListComponents(ComponentKind::Prompt) => "prompts/list",
            Self::InvokeComponent(ComponentKind::Prompt) => "prompts/get",
            Self::ListSkills => "skills/list",
            Self::GetSkill => "skills/get",
            Self::Task(TaskAction::Get) => "tasks/get",
            Self::Task(TaskAction::Update) => "tasks/update",
            Self::Task(TaskAction::Cancel) => "tasks/cancel",
            Self::SaveBasket => methods::SAVE_BASKET,
            Self::RemoveBasket => "dev.refdesk/baskets/remove",
        }
    }

    /// True if we serve this method in `revision`.
    pub fn is_served_in(self, revision: Revision) -> bool {
        match self {
            Self::Initialize
            | Self::Ping
            | Self::SetLogLevel
            | Self::Subscribe
            | Self::Unsubscribe => revision.has_handshake(),
            Self::Discover | Self::Listen | Self::Task(_) => !revision.has_handshake(),
            Self::List
            | Self::ReadDirectory
            | Self::ListTemplates
            | Self::Read
            | Self::Metadata
            | Self::Complete
            | Self::ListSkills
            | Self::GetSkill
            | Self::ListComponents(_)
            | Self::InvokeComponent(_)
            | Self::SaveBasket
            | Self::RemoveBasket => true,
        }
    }

    /// True if only stateless requests (no handshake) can call it.
    pub fn is_stateless_only(self) -> bool {
        matches!(self, Self::Discover | Self::Listen | Self::Task(_))
    }

    /// True if the method starts or ends a subscription.
    pub fn is_subscription(self) -> bool {
        matches!(self, Self::Subscribe | Self::Unsubscribe | Self::Listen)
    }

    /// Tool or prompt, if the method handles one of these.
    pub fn component(self) -> Option<ComponentKind> {
        match self {
            Self::ListComponents(component) | Self::InvokeComponent(component) => Some(component),
            _ => None,
        }
    }

    /// True if the method is about skills.
    pub fn is_skill(self) -> bool {
        matches!(self, Self::ListSkills | Self::GetSkill)
    }

    /// True if the method is about baskets.
    pub fn is_basket(self) -> bool {
        matches!(self, Self::SaveBasket | Self::RemoveBasket)
    }

    /// True if the method is about a task.
    pub fn is_task(self) -> bool {
        matches!(self, Self::Task(_))
    }

    /// True if it belongs to SEP-2093 or a related extension, not to core MCP.
    pub fn is_extension(self) -> bool {
        matches!(self, Self::Metadata | Self::ReadDirectory)
    }

    /// Whether `Mcp-Name` must repeat the name or URI in the parameters.
    pub fn name_header_rule(self) -> NameHeaderRule {
        match self {
            Self::Read | Self::InvokeComponent(_) | Self::Task(_) => NameHeaderRule::Required,
            Self::Metadata | Self::ReadDirectory | Self::List | Self::GetSkill => {
                NameHeaderRule::Optional
            }
            _ => NameHeaderRule::Ignored,
        }
    }
}
