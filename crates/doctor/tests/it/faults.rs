//! Faults: what a broken server does other than the correct one.

use std::sync::Arc;

use serde_json::Value;

/// What the server is about to send.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) messages: Vec<Value>,
    /// Bytes that are sent before the messages, as they are.
    pub(crate) raw: Vec<u8>,
    /// Whether the server ends after this.
    pub(crate) ends: bool,
}

/// What the server sees of an HTTP request.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpSeen {
    pub(crate) method: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) message: Value,
}

impl HttpSeen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn method_is(&self, method: &str) -> bool {
        self.message["method"] == method
    }
}

/// An HTTP response that the server is about to send.
#[derive(Debug, Clone)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

type MessageFault = dyn Fn(&Value, &mut Outbox) + Send + Sync;
type HttpFault = dyn Fn(&HttpSeen, &mut HttpAnswer) + Send + Sync;

/// A fault of the server.
#[derive(Clone, Default)]
pub(crate) struct Fault {
    pub(crate) message: Option<Arc<MessageFault>>,
    pub(crate) http: Option<Arc<HttpFault>>,
    /// Whether the server stays after its input ended.
    pub(crate) lingers: bool,
    /// What is wrong with HTTP+SSE.
    pub(crate) sse: Option<SseFault>,
}

/// What a server does wrong over HTTP+SSE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SseFault {
    /// A message comes before the endpoint.
    LateEndpoint,
    /// The endpoint is on another host.
    ForeignEndpoint,
    /// Messages have another name.
    EventName,
    /// Answers come in the response to POST.
    AnswerInPost,
    /// POST is 200.
    Status,
    /// A foreign origin may open the stream.
    Origin,
    /// A foreign host may open the stream.
    Host,
}

impl Fault {
    pub(crate) fn messages(change: impl Fn(&Value, &mut Outbox) + Send + Sync + 'static) -> Self {
        Self { message: Some(Arc::new(change)), ..Self::default() }
    }

    pub(crate) fn http(
        change: impl Fn(&HttpSeen, &mut HttpAnswer) + Send + Sync + 'static,
    ) -> Self {
        Self { http: Some(Arc::new(change)), ..Self::default() }
    }

    /// Changes what is sent for requests of one method.
    pub(crate) fn on(
        method: &'static str,
        change: impl Fn(&Value, &mut Outbox) + Send + Sync + 'static,
    ) -> Self {
        Self::messages(move |request, outbox| {
            if request["method"] == method {
                change(request, outbox);
            }
        })
    }

    /// Changes the results of one method.
    pub(crate) fn result(
        method: &'static str,
        change: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Self {
        Self::on(method, move |_, outbox| {
            for message in &mut outbox.messages {
                if let Some(result) = message.get_mut("result") {
                    change(result);
                }
            }
        })
    }

    /// Changes the errors of one method.
    pub(crate) fn error(
        method: &'static str,
        change: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Self {
        Self::on(method, move |_, outbox| {
            for message in &mut outbox.messages {
                if let Some(error) = message.get_mut("error") {
                    change(error);
                }
            }
        })
    }

    /// Answers every request of one method with this result or error.
    pub(crate) fn reply(method: &'static str, member: &'static str, value: Value) -> Self {
        Self::on(method, move |_, outbox| {
            for message in &mut outbox.messages {
                set_reply(message, member, &value);
            }
        })
    }

    /// Changes a resource wherever it is described.
    pub(crate) fn resource(
        uri: &'static str,
        change: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Self {
        Self::messages(move |_, outbox| {
            outbox.messages.iter_mut().for_each(|message| change_resource(message, uri, &change));
        })
    }
}

/// Makes a response have this result or error.
pub(crate) fn set_reply(message: &mut Value, member: &str, value: &Value) {
    if let Some(members) = message.as_object_mut() {
        members.remove("result");
        members.remove("error");
        members.insert(member.to_owned(), value.clone());
    }
}

fn change_resource(value: &mut Value, uri: &str, change: &impl Fn(&mut Value)) {
    if value["uri"] == uri && value.get("name").is_some() {
        return change(value);
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| change_resource(item, uri, change)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| change_resource(member, uri, change));
        }
        _ => {}
    }
}
