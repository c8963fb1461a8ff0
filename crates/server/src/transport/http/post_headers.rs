//! Headers of a posted message that say how to treat it, found in one pass.

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use protocol::header::{self, RequestEra};
use resource::TraceContext;

use super::{UNUSABLE, accepts_sse};

/// The headers that every message is treated by.
pub(super) struct PostHeaders<'a> {
    pub(super) all: &'a HeaderMap,
    /// The protocol version.
    pub(super) version: Option<&'a str>,
    pub(super) era: RequestEra,
    /// The method, and the name of what it is about.
    pub(super) method: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    /// Whether the client accepts SSE.
    pub(super) accepts_sse: bool,
    /// The fields of the trace context, in their order there.
    trace: [Option<&'a str>; TraceContext::FIELDS.len()],
}

impl<'a> PostHeaders<'a> {
    pub(super) fn read(all: &'a HeaderMap) -> Self {
        let (mut version, mut method, mut name) = (None, None, None);
        let mut trace = [None; TraceContext::FIELDS.len()];
        for (header, value) in all {
            match header.as_str() {
                header::PROTOCOL_VERSION => set_text(&mut version, value),
                header::METHOD => set_text(&mut method, value),
                header::NAME => set_text(&mut name, value),
                other => {
                    if let Some(at) = trace_field(other) {
                        set_text(&mut trace[at], value);
                    }
                }
            }
        }
        let era = RequestEra::from_header(version);
        Self { all, version, era, method, name, accepts_sse: accepts_sse(all), trace }
    }

    /// The trace that the message belongs to.
    pub(super) fn trace(&self) -> Option<TraceContext> {
        TraceContext::read(|name| self.trace[trace_field(name)?].map(str::to_owned))
    }

    /// Whether the headers mark the message as stateless.
    pub(super) fn is_stateless(&self) -> bool {
        self.era == RequestEra::Stateless
    }
}

/// The place of a field of the trace context.
fn trace_field(name: &str) -> Option<usize> {
    TraceContext::FIELDS.iter().position(|known| *known == name)
}

/// Sets the text of a header; one that is repeated or not text matches nothing.
fn set_text<'a>(text: &mut Option<&'a str>, value: &'a HeaderValue) {
    let value = value.to_str().ok().filter(|_| text.is_none());
    *text = Some(value.unwrap_or(UNUSABLE));
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use hyper::header::{HeaderName, HeaderValue};
    use protocol::header::{self, RequestEra};

    use super::PostHeaders;
    use crate::transport::http::UNUSABLE;

    fn headers(rows: &[(&'static str, &'static [u8])]) -> HeaderMap {
        let row = |(name, value): &(&'static str, &'static [u8])| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap())
        };
        let mut all = HeaderMap::new();
        for (name, value) in rows.iter().map(row) {
            all.append(name, value);
        }
        all
    }

    #[test]
    fn a_header_that_is_repeated_or_no_text_matches_nothing() {
        let all = headers(&[
            (header::METHOD, b"ping"),
            (header::METHOD, b"ping"),
            (header::NAME, b"\xE9"),
            (header::PROTOCOL_VERSION, b"2026-07-28"),
            ("accept", b"text/event-stream"),
        ]);
        let found = PostHeaders::read(&all);
        assert_eq!((found.method, found.name), (Some(UNUSABLE), Some(UNUSABLE)));
        assert_eq!((found.version, found.era), (Some("2026-07-28"), RequestEra::Stateless));
        assert!(found.accepts_sse && found.is_stateless() && found.trace().is_none());
    }

    #[test]
    fn the_trace_has_the_fields_that_are_valid() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let all = headers(&[
            ("traceparent", parent.as_bytes()),
            ("tracestate", b"a=1"),
            ("baggage", b"b=2"),
        ]);
        let trace = PostHeaders::read(&all).trace().unwrap();
        let fields: Vec<_> = trace.fields().collect();
        assert_eq!(fields, [("traceparent", parent), ("tracestate", "a=1"), ("baggage", "b=2")]);
        assert!(PostHeaders::read(&headers(&[("tracestate", b"a=1")])).trace().is_none());
    }
}
