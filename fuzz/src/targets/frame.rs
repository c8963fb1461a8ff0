//! Target `frame`: JSON-RPC envelopes of clients and servers, and the calls in them.

use protocol::inbound::call::ClientNotification;
use protocol::inbound::tool::ToolArguments;
use protocol::json::frame::{FrameLimits, RawJson, parse, parse_lenient};
use protocol::{BuiltinTool, Call, Incoming, Message, Method, Refusal, RequestId, RequestMeta};
use serde_json::Value;
use testkit::FuzzTarget;

pub(crate) const TARGET: FuzzTarget = FuzzTarget { name: "frame", examples: EXAMPLES, check };

const EXAMPLES: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"a","version":"1"}}}"#,
    br#"{"jsonrpc":"2.0","id":"x\u00e9\n","method":"resources/read","params":{"uri":"file:///a/b%20c.md","_meta":{"progressToken":7,"dev.refdesk/window":{"offset":0,"length":10,"unit":"lines"}}}}"#,
    br#"{"jsonrpc":"2.0","id":-5,"method":"resources/list","params":{"cursor":"abc","uri":"file:///a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    br#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"resources_grep","arguments":{"pattern":"a+","uri":"file:///**","context":2,"max_matches":5}}}"#,
    br#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"resources_read","arguments":{"uri":"file:///a","start_line":1,"max_lines":5,"max_bytes":100}}}"#,
    br#"{"jsonrpc":"2.0","id":4,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":"b"},"context":{"arguments":{"c":"d"}}}}"#,
    br#"{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["x:1","x:2"]}}}"#,
    br#"{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"warning"}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7","reason":"late"}}"#,
    br#"{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///"}]}}"#,
    br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":[1.5,null]}}"#,
    br#"[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
    br#" [ ["2.0",1,"ping",{},null,null] , {"jsonrpc":"2.0","id":2,"method":"ping"} ] "#,
];

const LIMITS: FrameLimits = FrameLimits { max_depth: 64, max_batch: 20 };

/// The longest URI or name.
const MAX_URI_BYTES: usize = 8 << 10;

const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "logging/setLevel",
    "resources/list",
    "resources/directory/read",
    "resources/templates/list",
    "resources/read",
    "resources/metadata",
    "resources/subscribe",
    "completion/complete",
    "subscriptions/listen",
    "tools/list",
    "tools/call",
    "prompts/get",
];

fn check(input: &[u8]) {
    let value: Option<Value> = serde_json::from_slice(input).ok();
    match parse(input, LIMITS) {
        Ok(Incoming::Single(message)) => {
            check_message(&message, value.as_ref());
            check_leniently(input, &message);
        }
        Ok(Incoming::Batch(messages)) => {
            assert!((1..=LIMITS.max_batch).contains(&messages.len()));
            for (at, message) in messages.iter().enumerate() {
                let value = value.as_ref().map(|value| &value[at]);
                match message {
                    Ok(message) => check_message(message, value),
                    Err(refusal) => check_refusal(refusal),
                }
            }
        }
        Err(refusal) => check_refusal(&refusal),
    }
    for message in parse_lenient(input).unwrap_or_default() {
        id_survives(message_id(&message));
    }
}

/// What a refusal says is a response with an error.
fn check_refusal(refusal: &Refusal) {
    assert!(matches!(refusal.code(), -32700 | -32600), "{}", refusal.message());
    let Ok(bytes) = refusal.encode(None).into_bytes() else { panic!("a refusal is streamed") };
    let messages = parse_lenient(&bytes).expect("a refusal is a message");
    assert!(matches!(messages[..], [Message::Response { outcome: Err(_), .. }]));
}

/// The message is an object whose members say what the parser found.
fn check_message(message: &Message<'_>, value: Option<&Value>) {
    id_survives(message_id(message));
    if let Some(value) = value {
        assert!(value.is_object(), "a message is an object");
        assert_eq!(value["jsonrpc"], "2.0");
        match message {
            Message::Request { method, .. } | Message::Notification { method, .. } => {
                assert_eq!(value["method"], **method);
            }
            Message::Response { .. } => assert_eq!(value["method"], Value::Null),
        }
    }
    match message {
        Message::Request { params, method, .. } => check_call(method, *params),
        Message::Notification { method, params } => {
            let _ = ClientNotification::decode(method, *params);
        }
        Message::Response { .. } => {}
    }
}

/// What is valid for clients is valid for servers, and means the same.
fn check_leniently(input: &[u8], strict: &Message<'_>) {
    let messages = parse_lenient(input).expect("the lenient parser takes all that is valid");
    let [lenient] = &messages[..] else { panic!("one message became {}", messages.len()) };
    assert_eq!(std::mem::discriminant(strict), std::mem::discriminant(lenient));
    assert_eq!(message_id(strict), message_id(lenient));
}

/// Decodes the parameters as those of the method, and of every other one.
fn check_call(method: &str, params: Option<&RawJson>) {
    let Ok(meta) = RequestMeta::decode(params) else { return };
    let _ = (meta.protocol_version(), meta.knows_sep2093(), meta.log_level());
    if let Ok(Some(token)) = meta.progress_token() {
        id_survives(Some(&token));
    }
    for method in METHODS.iter().copied().chain([method]).filter_map(Method::from_name) {
        let Ok(call) = Call::decode(method, params, &meta, MAX_URI_BYTES) else { continue };
        if let Call::InvokeComponent { name, params, .. } = &call {
            assert!(name.len() <= MAX_URI_BYTES);
            for tool in BuiltinTool::ALL {
                let _ = ToolArguments::decode(*tool, params);
            }
        }
    }
}

fn message_id<'a>(message: &'a Message<'_>) -> Option<&'a RequestId> {
    match message {
        Message::Request { id, .. } => Some(id),
        Message::Response { id, .. } => id.as_ref(),
        Message::Notification { .. } => None,
    }
}

/// An id is the same after it was written and parsed.
fn id_survives(id: Option<&RequestId>) {
    let Some(id) = id else { return };
    let mut written = Vec::new();
    id.write(&mut written);
    let raw = serde_json::from_slice(&written).expect("an id is JSON");
    assert_eq!(RequestId::parse(raw).as_ref(), Some(id));
}
