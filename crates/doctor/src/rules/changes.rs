//! Rules about change notifications that arrive while a server is examined.

use super::{DoctorRule, DoctorSeverity, spec};

pub(super) const RULES: &[DoctorRule] = &[
    DoctorRule {
        id: "notification-id",
        title: "A notification has no id",
        severity: DoctorSeverity::Error,
        clause: spec("2025-11-25", "Base protocol: Notifications", "basic#notifications"),
        explanation: "A message with a method and an id is a request: the client answers it, and its own handler for the notification never runs.",
        next_step: "Leave the id out.",
    },
    DoctorRule {
        id: "update-shape",
        title: "An update names its resource",
        severity: DoctorSeverity::Error,
        clause: spec("2025-11-25", "Resources: Subscriptions", "server/resources#subscriptions"),
        explanation: "notifications/resources/updated has params.uri, a text. Without it a client does not know what to read again.",
        next_step: "Send {\"uri\": \"…\"} as params.",
    },
    DoctorRule {
        id: "update-subscribed",
        title: "Updates come only for subscribed resources",
        severity: DoctorSeverity::Error,
        clause: spec("2025-11-25", "Resources: Subscriptions", "server/resources#subscriptions"),
        explanation: "The doctor subscribes to one resource. An update of another one came, which is no part of it.",
        next_step: "Keep the subscriptions of each session, and compare before you send.",
    },
    DoctorRule {
        id: "update-ended",
        title: "No updates come after resources/unsubscribe",
        severity: DoctorSeverity::Error,
        clause: spec("2025-11-25", "Resources: Subscriptions", "server/resources#subscriptions"),
        explanation: "The subscription was ended, and a further request answered, before the update came.",
        next_step: "Forget the subscription before you answer resources/unsubscribe.",
    },
    DoctorRule {
        id: "list-changed-undeclared",
        title: "Changes of lists are announced only if declared",
        severity: DoctorSeverity::Error,
        clause: spec("2025-11-25", "Lifecycle: Operation", "basic/lifecycle#operation"),
        explanation: "A list_changed notification came for a list whose capability has no listChanged. Both parties must use only capabilities that were negotiated; clients ignore the others.",
        next_step: "Declare \"listChanged\": true, or do not send it.",
    },
    DoctorRule {
        id: "change-announced",
        title: "A change is announced",
        severity: DoctorSeverity::Warning,
        clause: spec("2025-11-25", "Resources: Subscriptions", "server/resources#subscriptions"),
        explanation: "The doctor called the tool that --change names, with subscriptions to the first listed resources. The call succeeded, and neither an update nor a change of a list came within --timeout. Over HTTP, with a handshake, updates come on the stream that GET opens.",
        next_step: "Send notifications/resources/updated to the sessions that subscribed, or do not declare subscribe. Check that the tool changes one of the first listed resources.",
    },
];
