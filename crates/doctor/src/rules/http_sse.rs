//! Rules about HTTP+SSE, the transport of 2024-11-05 with two endpoints.

use super::{DoctorRule, DoctorSeverity, spec};

pub(super) const RULES: &[DoctorRule] = &[
    DoctorRule {
        id: "sse-endpoint-first",
        title: "The first event of HTTP+SSE names the endpoint",
        severity: DoctorSeverity::Error,
        clause: spec("2024-11-05", "Transports: HTTP with SSE", "basic/transports#http-with-sse"),
        explanation: "The URL refuses initialize by POST, so the doctor opens a stream by GET, as clients do. When a client connects, the server must send an endpoint event with a URI for its messages; clients expect it as the first event.",
        next_step: "Send \"event: endpoint\" with the path for POST before anything else.",
    },
    DoctorRule {
        id: "sse-endpoint-origin",
        title: "The endpoint of HTTP+SSE has the origin of its stream",
        severity: DoctorSeverity::Error,
        clause: spec("2024-11-05", "Transports: HTTP with SSE", "basic/transports#http-with-sse"),
        explanation: "A client sends its messages, and with them its token, to the URI that the server names. Clients refuse one with another scheme, host or port, and so does the doctor. Behind a proxy, servers often name their inner address.",
        next_step: "Send a path without scheme and host, such as /messages?session=….",
    },
    DoctorRule {
        id: "sse-message-event",
        title: "Messages of HTTP+SSE are events with the name message",
        severity: DoctorSeverity::Error,
        clause: spec("2024-11-05", "Transports: HTTP with SSE", "basic/transports#http-with-sse"),
        explanation: "Clients listen for message events and do not see others. An event without a name is a message.",
        next_step: "Send \"event: message\" with the JSON as data.",
    },
    DoctorRule {
        id: "sse-answer-stream",
        title: "Answers of HTTP+SSE come over the stream",
        severity: DoctorSeverity::Error,
        clause: spec("2024-11-05", "Transports: HTTP with SSE", "basic/transports#http-with-sse"),
        explanation: "Server messages are sent as events. Clients do not read the response to POST.",
        next_step: "Write the answer to the stream of the session, and answer POST with 202.",
    },
    DoctorRule {
        id: "sse-post-accepted",
        title: "A message by POST of HTTP+SSE is 202",
        severity: DoctorSeverity::Warning,
        clause: spec("2024-11-05", "Transports: HTTP with SSE", "basic/transports#http-with-sse"),
        explanation: "The page names no status. The answer is not in the response, so it is 202 Accepted, which the official SDKs send and some clients expect.",
        next_step: "Answer POST with 202.",
    },
];
