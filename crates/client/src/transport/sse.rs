//! Parser for server-sent events (SSE), with a size limit per event.

use bytes::{Bytes, BytesMut};

use super::reserve;

/// One event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct SseEvent {
    /// The `event` field; `None` means `message`.
    pub(super) name: Option<String>,
    /// The `data` lines, joined.
    pub(super) data: Bytes,
    /// The `id` field, from which a client can resume the stream.
    pub(super) id: Option<String>,
    /// The `retry` field: milliseconds to wait before reconnecting.
    pub(super) retry: Option<u64>,
}

/// One event exceeds the size limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventTooLong;

/// Incremental parser. It does not store comments, so they may be of any number and length.
#[derive(Debug)]
pub(super) struct SseParser {
    max_bytes: usize,
    line: BytesMut,
    data: BytesMut,
    has_data: bool,
    event: SseEvent,
    /// Whether the last chunk ended with a carriage return, whose line feed may follow.
    after_carriage_return: bool,
    is_first: bool,
}

impl SseParser {
    pub(super) fn new(max_bytes: usize) -> Self {
        let (line, data, event) = Default::default();
        Self {
            max_bytes,
            line,
            data,
            has_data: false,
            event,
            after_carriage_return: false,
            is_first: true,
        }
    }

    /// The bytes of the event that is not complete yet.
    pub(super) fn held_bytes(&self) -> usize {
        self.line.len() + self.data.len()
    }

    /// Parses a chunk and returns the events that it completes.
    pub(super) fn parse_chunk(&mut self, mut chunk: &[u8]) -> Result<Vec<SseEvent>, EventTooLong> {
        let mut events = Vec::new();
        if chunk.is_empty() {
            return Ok(events);
        }
        if std::mem::take(&mut self.after_carriage_return) && chunk.first() == Some(&b'\n') {
            chunk = &chunk[1..];
        }
        while let Some(end) = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.append(&chunk[..end])?;
            let line = self.line.split();
            events.extend(self.end_line(&line)?);
            let returned = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            self.after_carriage_return = returned && chunk.is_empty();
            if returned && chunk.first() == Some(&b'\n') {
                chunk = &chunk[1..];
            }
        }
        self.append(chunk)?;
        Ok(events)
    }

    fn append(&mut self, part: &[u8]) -> Result<(), EventTooLong> {
        // A comment is not stored, so it may be of any length.
        if self.line.first() == Some(&b':') || self.line.is_empty() && part.first() == Some(&b':') {
            self.line.clear();
            self.line.extend_from_slice(b":");
            return Ok(());
        }
        if self.line.len() + self.data.len() + part.len() > self.max_bytes {
            return Err(EventTooLong);
        }
        reserve(&mut self.line, part.len(), self.max_bytes);
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self, line: &[u8]) -> Result<Option<SseEvent>, EventTooLong> {
        let bom = "\u{feff}".as_bytes();
        let first = std::mem::take(&mut self.is_first);
        let line = if first { line.strip_prefix(bom).unwrap_or(line) } else { line };
        if line.is_empty() {
            return Ok(self.end_event());
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, rest) = line.split_at(colon);
        let value = rest.strip_prefix(b":").unwrap_or(rest);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.extend_from_slice(b"\n");
                }
                self.data.extend_from_slice(value);
                if self.data.len() > self.max_bytes {
                    return Err(EventTooLong);
                }
            }
            b"event" => self.event.name = Some(text()),
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            // The standard: a value that is not only digits is ignored.
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                self.event.retry = text().parse().ok().or(self.event.retry);
            }
            _ => {}
        }
        Ok(None)
    }

    /// Completes an event. One without data counts only if it has `id` or `retry`.
    fn end_event(&mut self) -> Option<SseEvent> {
        let data = self.data.split().freeze();
        self.has_data = false;
        let event = SseEvent { data, ..std::mem::take(&mut self.event) };
        let says = !event.data.is_empty() || event.id.is_some() || event.retry.is_some();
        says.then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, proptest};

    use super::{EventTooLong, SseEvent, SseParser};

    fn events(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut events = SseParser::new(64);
        chunks.iter().flat_map(|chunk| events.parse_chunk(chunk).unwrap()).collect()
    }

    fn event(name: Option<&str>, data: &'static str) -> SseEvent {
        SseEvent { name: name.map(str::to_owned), data: data.into(), ..SseEvent::default() }
    }

    #[test]
    fn events_are_found_with_every_kind_of_line_end() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "\u{feff}: hi\nevent: message\ndata: a\ndata:b\n\ndata\n\ndata: c\n\n"
                .replace('\n', end);
            let found = events(&[text.as_bytes()]);
            assert_eq!(found, [event(Some("message"), "a\nb"), event(None, "c")], "{end:?}");
        }
    }

    #[test]
    fn an_event_without_data_still_tells_of_the_stream() {
        let found = events(&[b"id: 7\nretry: 50\ndata:\n\nid: a\0b\n\n"]);
        let told = SseEvent { id: Some("7".to_owned()), retry: Some(50), ..SseEvent::default() };
        assert_eq!(found, [told]);
    }

    #[test]
    fn a_line_feed_behind_a_line_end_at_the_end_of_a_chunk_is_a_line() {
        assert_eq!(events(&[b"data: a\r\n", b"\n"]), [event(None, "a")]);
        assert_eq!(events(&[b"data: a\r", b"\n", b"\n"]), [event(None, "a")]);
        assert_eq!(events(&[b"data: a\r", b"\r"]), [event(None, "a")]);
    }

    #[test]
    fn a_retry_that_is_not_a_number_is_ignored() {
        let found = events(&[b"retry: 50\nretry: +6\nretry: x\nretry:\n\nretry: +7\n\n"]);
        assert_eq!(found, [SseEvent { retry: Some(50), ..SseEvent::default() }]);
    }

    #[test]
    fn comments_may_be_endless_and_events_may_not() {
        let mut events = SseParser::new(8);
        for _ in 0..1_000 {
            assert_eq!(events.parse_chunk(b":comment\n\n:: and a long one"), Ok(vec![]));
            assert_eq!(events.parse_chunk(b" that goes on\n"), Ok(vec![]));
        }
        assert_eq!(events.parse_chunk(b"data:abc"), Ok(vec![]));
        assert_eq!(events.parse_chunk(b"d"), Err(EventTooLong));
        let mut events = SseParser::new(8);
        assert_eq!(events.parse_chunk(b"data:a\ndata:b\ndata:cccccccc\n"), Err(EventTooLong));
    }

    proptest! {
        #[test]
        fn events_are_the_same_however_they_are_cut(cuts in vec(0_usize..60, 0..6)) {
            let text = b"event: x\r\ndata: one\r\n\r\n: c\r\ndata: two\rdata: 3\n\nid: 5\n\n";
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut parts: Vec<&[u8]> = Vec::new();
            let mut at = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                parts.push(&text[at..cut]);
                at = cut;
            }
            assert_eq!(events(&parts), events(&[text]));
        }
    }
}
