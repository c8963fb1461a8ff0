//! Target `upstream`: what upstream servers send, decoded, rewritten and passed on.

use std::collections::HashSet;
use std::hash::Hash;

use bytes::Bytes;
use protocol::inbound::shape::relayed_result::adapt_result;
use protocol::json::frame::{RawJson, parse_lenient};
use protocol::outbound::components::{call_params, public_error, public_result, to_raw_line};
use protocol::outbound::decode::{self, DecodedPage, ReadResult};
use protocol::outbound::input_request::{decode_input_required, retry_params};
use protocol::outbound::request::{encode_error, encode_result};
use protocol::outbound::response::{MessageStart, classify_start};
use protocol::outbound::result_text::ResultText;
use protocol::outbound::uri_rewrite::{UriLocation, rewrite_uris};
use protocol::{Dialect, Message, Peer, Revision, RpcError, UpstreamNotification};
use resource::{ComponentKind, Json, Uri, UriRewrite};
use testkit::FuzzTarget;

pub(crate) const TARGET: FuzzTarget = FuzzTarget { name: "upstream", examples: EXAMPLES, check };

/// A message of this length is not parsed before it is decoded.
const LONG: usize = 16 << 10;

const EXAMPLES: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"x:1","name":"a","title":"b","mimeType":"text/plain","size":12,"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2025-01-01T00:00:00Z"},"icons":[{"src":"x:2","sizes":["1x1"]}],"_meta":{"k":1}},{"uri":"x:2","name":"b","isCollection":true,"capabilities":{"list":true,"subscribe":false}}],"nextCursor":"n","ttlMs":500,"cacheScope":"public"}}"#,
    br#"{"resourceTemplates":[{"uriTemplate":"x://{a}{?b*}","name":"t","description":"d","mimeType":"text/html"}],"nextCursor":""}"#,
    br#"{"resultType":"complete","contents":[{"uri":"x:1","mimeType":"text/plain","text":"a\u00e9\n\ud83d\ude00"},{"uri":"x:2","blob":"AAEC/w=="},{"text":""}]}"#,
    br#"{"resource":{"uri":"x:1","name":"a","size":1e3,"capabilities":{"list":null}},"ttlMs":-1}"#,
    br#"{"tools":[{"name":"t","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://a/b"},"ui/resourceUri":"ui://a/c"}}]}"#,
    br#"{"prompts":[{"name":"p","arguments":[{"name":"a","required":true}]}]}"#,
    br#"{"completion":{"values":["a","b"],"total":2,"hasMore":false}}"#,
    br#"{"content":[{"type":"resource_link","uri":"x:1","name":"a"},{"type":"resource","resource":{"uri":"x:2","text":"t"}},{"type":"text","text":"x:3"},{"type":"audio","data":"AA==","mimeType":"audio/wav"}],"structuredContent":{"a":[1]},"isError":false}"#,
    br#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"x:1","blob":"AA=="}}}]}"#,
    br#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m","content":[{"type":"resource_link","uri":"x:1"}]}}},"requestState":"s"}"#,
    br#"{"protocolVersion":"2025-06-18","capabilities":{"resources":{"subscribe":true,"listChanged":true},"tools":{},"prompts":{},"logging":{},"completions":{},"extensions":{"dev.refdesk/resource-metadata":{}}},"serverInfo":{"name":"s","version":"1"},"instructions":"i"}"#,
    br#"{"supportedVersions":["2026-07-28"],"capabilities":{"resources":{}},"serverInfo":{"name":"s","version":"1"},"resultType":"complete"}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":0.5,"total":1,"message":"m"}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:1"}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":4},"notifications":{"resourceSubscriptions":["x:1"]}}}"#,
    br#"{"jsonrpc":"2.0","id":9,"error":{"code":-32022,"message":"Unsupported","data":{"supported":["2025-06-18"],"uri":"x:1"}}}"#,
    br#"{"name":"t","arguments":{"uri":"p+x:1","deep":[{"a":"p+x:2"}],"p+x:3":4},"_meta":{"progressToken":1,"io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{}}}}"#,
];

/// A mount called `p`.
struct Rewrite;

impl UriRewrite for Rewrite {
    fn to_public(&self, local: &str) -> Option<String> {
        local.starts_with("x:").then(|| format!("p+{local}"))
    }

    fn to_local(&self, public: &str) -> Option<String> {
        public.strip_prefix("p+").map(str::to_owned)
    }
}

fn check(input: &[u8]) {
    check_start(input);
    check_split(input);
    for message in parse_lenient(input).unwrap_or_default() {
        match message {
            Message::Notification { method, params } | Message::Request { method, params, .. } => {
                let _ = UpstreamNotification::decode(&method, params);
                params.into_iter().for_each(check_result);
            }
            Message::Response { outcome: Ok(result), .. } => check_result(result),
            Message::Response { outcome: Err(error), .. } => check_error(error),
        }
    }
    if let Ok(result) = serde_json::from_slice::<&RawJson>(input) {
        check_result(result);
        check_error(result);
    }
}

/// A long response that is split, not parsed, has the same id and result.
fn check_split(input: &[u8]) {
    let mut long = input.to_vec();
    long.resize(long.len() + LONG, b' ');
    let Some((id, split)) = ResultText::split(&Bytes::from(long)) else { return };
    let Ok(messages) = parse_lenient(input) else { return };
    let [Message::Response { id: Some(parsed_id), outcome: Ok(result) }] = &*messages else {
        return;
    };
    assert_eq!(id, *parsed_id);
    assert_eq!(split.parse().expect("it was parsed before").get(), result.get());
}

/// The start of a message that was cut off tells nothing else than the whole message.
fn check_start(input: &[u8]) {
    let whole = classify_start(input);
    let part = classify_start(&input[..input.len() / 2]);
    let agrees = match part {
        MessageStart::Response(_) => whole == part || whole == MessageStart::Unsolicited,
        MessageStart::Unsolicited => whole == part,
        MessageStart::Unknown => true,
    };
    assert!(agrees, "{part:?} of {whole:?}");
}

fn check_result(result: &RawJson) {
    check_page(decode::resource_page(result), |resource| resource.uri.clone());
    check_page(decode::template_page(result), |template| template.uri.as_str().to_owned());
    for kind in [ComponentKind::Tool, ComponentKind::Prompt] {
        let page = decode::component_page(result, kind, &Rewrite);
        if let Ok(page) = &page {
            page.items.iter().for_each(|component| assert_json(&component.json));
        }
        check_page(page, |component| component.name.clone());
    }
    let asked = Uri::parse("x:asked").expect("it is a URI");
    if let Ok(ReadResult::Contents(elements, ..)) = decode::read_result(&result.into(), &asked) {
        for element in elements {
            assert!(!element.is_text || std::str::from_utf8(&element.bytes).is_ok());
        }
    }
    let _ = (decode::metadata_result(result), decode::completion_result(result));
    let _ = (Peer::from_initialize(result), Peer::from_discover(result));
    check_passed_on(result);
}

fn check_page<T, K: Hash + Eq, E>(page: Result<DecodedPage<T>, E>, key: impl Fn(&T) -> K) {
    let Ok(page) = page else { return };
    let mut seen = HashSet::new();
    assert!(page.items.iter().all(|item| seen.insert(key(item))), "an item occurs twice");
}

/// What is passed on stays JSON, and stays as it was where nothing is rewritten.
fn check_passed_on(result: &RawJson) {
    let text = result.get();
    use UriLocation::{CallArguments, CallResult, ErrorData, ToolDescription};
    for location in [CallArguments, CallResult, ErrorData, ToolDescription] {
        assert_eq!(rewrite_uris(text, location, &|_| None).as_str(), text);
        let public = rewrite_uris(text, location, &|uri| Rewrite.to_public(uri));
        assert_json(&public);
        let unique = !text.contains("p+") && !text.contains('\\');
        if unique {
            let local = rewrite_uris(public.as_str(), location, &|uri| Rewrite.to_local(uri));
            assert_eq!(local.as_str(), text, "{location:?}");
        }
    }
    let json = public_result(result, &Rewrite);
    for revision in Revision::ALL {
        if let Ok(adapted) = adapt_result(&json, Dialect::full(revision)) {
            assert_json(&adapted);
            assert!(!adapted.as_str().contains(['\n', '\r']), "a message is one line");
        }
    }
    if let Ok(params) = call_params(&json, "n", &Rewrite, None) {
        assert!(!params.get().contains(['\n', '\r']), "a message is one line");
    }
    if let Some(required) = decode_input_required(&json) {
        let answers: Vec<(String, Json)> =
            required.requests.into_iter().map(|request| (request.key, request.params)).collect();
        let state = required.state.as_ref();
        let line = to_raw_line(&json).expect("JSON has one line");
        retry_params(&line, &answers, state).expect("an answer can be sent");
    }
    let id = protocol::RequestId::Number("1".into());
    assert!(parse_lenient(&encode_result(&id, result)).is_ok());
}

fn check_error(raw: &RawJson) {
    let error = RpcError::decode(raw);
    let _ = (error.is_resource_not_found(), error.is_unknown_session());
    let _ = error.supported_revisions();
    if let Some(data) = public_error(&error, &Rewrite).and_then(|error| error.data) {
        assert_json(&data);
    }
    let id = protocol::RequestId::Text("\u{0}\"".into());
    let encoded = encode_error(&id, &error);
    let messages = parse_lenient(&encoded).expect("an encoded error is a message");
    let [Message::Response { id: Some(read), outcome: Err(raw) }] = &messages[..] else {
        panic!("an encoded error is another message")
    };
    let again = RpcError::decode(raw);
    assert_eq!((read, again.code, again.message), (&id, error.code, error.message));
}

fn assert_json(json: &Json) {
    let parsed = serde_json::from_str::<&RawJson>(json.as_str());
    assert!(parsed.is_ok(), "not JSON: {}", json.as_str());
}
