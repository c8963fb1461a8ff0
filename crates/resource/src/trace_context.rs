//! W3C trace context of a request: which distributed trace it belongs to.

/// The longest value of a field.
const MAX_FIELD_BYTES: usize = 8 << 10;

/// The fields, as HTTP headers and members of `_meta` name them.
const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";
const BAGGAGE: &str = "baggage";

/// The trace context of a request. refdesk opens no span of its own and passes it on unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext(Vec<(&'static str, String)>);

impl TraceContext {
    /// The names of the fields.
    pub const FIELDS: [&str; 3] = [PARENT, STATE, BAGGAGE];

    /// Reads each field with `read`, and leaves out invalid ones; `None` if nothing is left.
    pub fn read(read: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let parent = read(PARENT).filter(|value| is_traceparent(value));
        // Without its parent, the state of a trace means nothing.
        let state = parent.as_ref().and_then(|_| read(STATE)).filter(|value| is_text(value));
        let baggage = read(BAGGAGE).filter(|value| is_text(value));
        let fields = [(PARENT, parent), (STATE, state), (BAGGAGE, baggage)];
        let fields: Vec<_> =
            fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        (!fields.is_empty()).then_some(Self(fields))
    }

    /// The fields and their values.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

/// Version, trace id, parent id and flags, in lower-case hexadecimal digits.
fn is_traceparent(value: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let mut parts = value.split('-');
    let fits = [2, 32, 16, 2].iter().all(|length| {
        parts.next().is_some_and(|part| part.len() == *length && part.bytes().all(is_hex))
    });
    fits && !value.starts_with("ff")
        && (parts.next().is_none() || !value.starts_with("00"))
        && value.len() <= MAX_FIELD_BYTES
        && is_text(value)
}

fn is_text(value: &str) -> bool {
    let is_visible = |byte: u8| (b' '..=b'~').contains(&byte);
    !value.is_empty() && value.len() <= MAX_FIELD_BYTES && value.bytes().all(is_visible)
}

#[cfg(test)]
mod tests {
    use super::TraceContext;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(fields: &[(&str, &str)]) -> Option<Vec<&'static str>> {
        let find = |name: &str| {
            fields.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned())
        };
        TraceContext::read(find).map(|trace| trace.fields().map(|(name, _)| name).collect())
    }

    #[test]
    fn valid_fields_are_kept_and_others_left_out() {
        let all = [("traceparent", PARENT), ("tracestate", "a=1"), ("baggage", "k=v")];
        assert_eq!(read(&all), Some(vec!["traceparent", "tracestate", "baggage"]));
        assert_eq!(read(&all[1..]), Some(vec!["baggage"]));
        for bad in
            ["", "t", &PARENT.to_uppercase(), &PARENT[1..], "00-0-0-0", &format!("{PARENT}-x")]
        {
            assert_eq!(read(&[("traceparent", bad)]), None, "{bad}");
        }
        assert_eq!(read(&[("baggage", "a\r\nb")]), None);
        assert_eq!(read(&[]), None);
    }
}
