//! Tasks of an upstream server's tools (SEP-2663): parameters, results and ids.

use std::time::Duration;

use resource::{Caller, Json, TaskAction, TaskCall, UriRewrite};
use serde_json::json;
use serde_json::value::RawValue;

use crate::json::raw_object::{
    JsonEdits, ObjectWriter, find_member, members_of, parse_members, parse_string,
};
use crate::outbound::components::{call_meta, one_line};
use crate::outbound::request::META_CLIENT_CAPABILITIES;
use crate::outbound::response::MalformedMessage;
use crate::outbound::uri_rewrite::{UriLocation, publish_uris};

/// The extension that defines tasks.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The member that names a task.
const TASK_ID: &str = "taskId";
/// The longest id of a task. It travels in every request about the task.
const MAX_ID_BYTES: usize = 1 << 10;
/// Bounds of the time between two requests for the state of a task.
const MIN_POLL: Duration = Duration::from_millis(250);
const MAX_POLL: Duration = Duration::from_secs(60);
/// The time between two requests, if the server names none.
const DEFAULT_POLL: Duration = Duration::from_secs(1);

/// The method of a request about a task.
pub fn task_method(action: TaskAction) -> &'static str {
    match action {
        TaskAction::Get => "tasks/get",
        TaskAction::Update => "tasks/update",
        TaskAction::Cancel => "tasks/cancel",
    }
}

/// Rewrites a client's parameters for the upstream server: its own id of the task, and `_meta`
/// narrowed to what refdesk can relay.
pub fn task_params(
    call: &TaskCall<'_>,
    caller: Option<&dyn Caller>,
) -> Result<Box<RawValue>, MalformedMessage> {
    let params = one_line(call.params.as_str());
    let raw: &RawValue = serde_json::from_str(&params)
        .map_err(|_| MalformedMessage::new("params: not an object"))?;
    let mut out = ObjectWriter::new();
    out.put_string(TASK_ID, call.task);
    let mut told = None;
    for (member, raw) in parse_members(Some(raw), "params")? {
        match &*member {
            TASK_ID => {}
            "_meta" => told = Some(raw),
            _ => out.put_raw(&member, raw.get()),
        }
    }
    out.put_raw("_meta", &call_meta(told, caller)?);
    RawValue::from_string(out.finish()).map_err(|_| MalformedMessage::new("params are not JSON"))
}

/// The state of a task with public URIs, also in its result.
pub fn public_task(result: &RawValue, rewrite: &dyn UriRewrite) -> Json {
    publish_uris(result.get(), UriLocation::TaskState, rewrite)
}

/// The id of the task that a tool call started; `None` if its result is another one.
pub fn created_task(result: &Json) -> Option<String> {
    let text = |name: &str| find_member(result.as_str(), name).and_then(parse_string);
    let id = text(TASK_ID).filter(|id| id.len() <= MAX_ID_BYTES)?;
    let is_task = text("resultType").as_deref() == Some("task");
    let id = is_task.then_some(id)?;
    Some(id.into_owned())
}

/// Whether the parameters of a request declare that its client knows tasks.
pub fn declares_tasks(params: &Json) -> bool {
    let path = ["_meta", META_CLIENT_CAPABILITIES, "extensions", TASKS_EXTENSION];
    let mut at = params.as_str();
    for wanted in path {
        let Some(raw) = find_member(at, wanted) else { return false };
        at = raw.get();
    }
    at.starts_with('{')
}

/// The state of a task under the id `public`.
pub fn with_task_id(state: &Json, public: &str) -> Json {
    let mut edits = JsonEdits::new(state.as_str());
    for (name, raw) in members_of(state.as_str()) {
        if name == TASK_ID {
            edits.replace(raw.get(), json_escape_simd::escape(public));
        }
    }
    edits.apply().map_or_else(|| state.clone(), Json::from)
}

/// Parameters of our own request for the state of a task.
pub fn poll_params() -> Json {
    let capabilities = json!({ "extensions": { TASKS_EXTENSION: {} } });
    json!({ "_meta": { META_CLIENT_CAPABILITIES: capabilities } }).to_string().into()
}

/// How long to wait before the next request for the state of a task; `None` if it has ended.
pub fn poll_interval(state: &Json) -> Option<Duration> {
    let members = members_of(state.as_str());
    let find = |wanted: &str| members.iter().rfind(|(name, _)| name == wanted);
    let status = find("status").and_then(|(_, raw)| parse_string(raw));
    if matches!(status.as_deref(), Some("completed" | "failed" | "cancelled")) {
        return None;
    }
    let millis = find("pollIntervalMs").and_then(|(_, raw)| raw.get().parse().ok());
    Some(millis.map_or(DEFAULT_POLL, Duration::from_millis).clamp(MIN_POLL, MAX_POLL))
}

/// A sealed id as text.
pub fn encode_task_id(sealed: &[u8]) -> String {
    base64_simd::URL_SAFE_NO_PAD.encode_to_string(sealed)
}

/// Undoes [`encode_task_id`].
pub fn decode_task_id(text: &str) -> Option<Vec<u8>> {
    base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{
        created_task, declares_tasks, decode_task_id, encode_task_id, poll_interval, with_task_id,
    };

    #[test]
    fn a_task_is_known_by_its_result_type_and_gets_another_id() {
        let task = r#"{"resultType":"task","taskId":"a","x":1.0}"#.into();
        assert_eq!(created_task(&task).as_deref(), Some("a"));
        assert_eq!(created_task(&r#"{"resultType":"complete","taskId":"a"}"#.into()), None);
        assert_eq!(created_task(&r#"{"resultType":"task","taskId":5}"#.into()), None);
        let public = with_task_id(&task, "b\"");
        assert_eq!(public.as_str(), r#"{"resultType":"task","taskId":"b\"","x":1.0}"#);
        assert_eq!(decode_task_id(&encode_task_id(b"\xff\x00")).unwrap(), b"\xff\x00");
    }

    #[test]
    fn a_request_declares_tasks_in_its_meta() {
        let declares = |extensions: &str| {
            let can = format!(r#"{{"extensions":{extensions}}}"#);
            let meta = format!(r#"{{"io.modelcontextprotocol/clientCapabilities":{can}}}"#);
            declares_tasks(&format!(r#"{{"name":"n","_meta":{meta}}}"#).into())
        };
        assert!(declares(r#"{"io.modelcontextprotocol/tasks":{}}"#));
        assert!(!declares("{}") && !declares(r#"{"io.modelcontextprotocol/tasks":null}"#));
        assert!(!declares_tasks(&"{}".into()));
    }

    #[test]
    fn a_task_is_asked_for_until_it_has_ended_and_not_too_often() {
        let wait = |state: &str| poll_interval(&state.into());
        assert_eq!(wait(r#"{"status":"completed"}"#), None);
        assert_eq!(wait(r#"{"status":"working"}"#), Some(Duration::from_secs(1)));
        let named = |millis: &str| wait(&format!(r#"{{"status":"x","pollIntervalMs":{millis}}}"#));
        assert_eq!(named("2000"), Some(Duration::from_secs(2)));
        assert_eq!(named("0"), Some(Duration::from_millis(250)));
        assert_eq!(named("99999999999"), Some(Duration::from_secs(60)));
    }
}
