//! Parser for server-sent events (SSE), with a size limit per event.

use bytes::{Bytes, BytesMut};

/// One event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Event {
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
pub(super) struct TooLong;

/// Incremental parser. It does not store comments, so they may be of any number and length.
#[derive(Debug)]
pub(super) struct Events {
    most: usize,
    line: BytesMut,
    data: BytesMut,
    has_data: bool,
    event: Event,
    /// Whether the last chunk ended with a carriage return, whose line feed may follow.
    returned: bool,
    is_first: bool,
}

impl Events {
    pub(super) fn new(most: usize) -> Self {
        let (line, data, event) = Default::default();
        Self { most, line, data, has_data: false, event, returned: false, is_first: true }
    }

    /// Parses a chunk and returns the events that it completes.
    pub(super) fn feed(&mut self, mut chunk: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        if chunk.is_empty() {
            return Ok(events);
        }
        if std::mem::take(&mut self.returned) && chunk.first() == Some(&b'\n') {
            chunk = &chunk[1..];
        }
        while let Some(end) = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.add(&chunk[..end])?;
            let line = self.line.split();
            events.extend(self.end_line(&line)?);
            let returned = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            if returned && chunk.first() == Some(&b'\n') {
                chunk = &chunk[1..];
            }
            self.returned = returned && chunk.is_empty();
        }
        self.add(chunk)?;
        Ok(events)
    }

    fn add(&mut self, part: &[u8]) -> Result<(), TooLong> {
        // A comment is not stored, so it may be of any length.
        if self.line.first() == Some(&b':') || self.line.is_empty() && part.first() == Some(&b':') {
            self.line.clear();
            self.line.extend_from_slice(b":");
            return Ok(());
        }
        if self.line.len() + self.data.len() + part.len() > self.most {
            return Err(TooLong);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self, line: &[u8]) -> Result<Option<Event>, TooLong> {
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
                if self.data.len() > self.most {
                    return Err(TooLong);
                }
            }
            b"event" => self.event.name = Some(text()),
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"retry" => self.event.retry = text().parse().ok(),
            _ => {}
        }
        Ok(None)
    }

    /// Completes an event. One without data counts only if it has `id` or `retry`.
    fn end_event(&mut self) -> Option<Event> {
        let data = self.data.split().freeze();
        self.has_data = false;
        let event = Event { data, ..std::mem::take(&mut self.event) };
        let says = !event.data.is_empty() || event.id.is_some() || event.retry.is_some();
        says.then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, proptest};

    use super::{Event, Events, TooLong};

    fn events(chunks: &[&[u8]]) -> Vec<Event> {
        let mut events = Events::new(64);
        chunks.iter().flat_map(|chunk| events.feed(chunk).unwrap()).collect()
    }

    fn event(name: Option<&str>, data: &'static str) -> Event {
        Event { name: name.map(str::to_owned), data: data.into(), ..Event::default() }
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
        let told = Event { id: Some("7".to_owned()), retry: Some(50), ..Event::default() };
        assert_eq!(found, [told]);
    }

    #[test]
    fn comments_may_be_endless_and_events_may_not() {
        let mut events = Events::new(8);
        for _ in 0..1_000 {
            assert_eq!(events.feed(b":comment\n\n:: and a long one"), Ok(vec![]));
            assert_eq!(events.feed(b" that goes on\n"), Ok(vec![]));
        }
        assert_eq!(events.feed(b"data:abc"), Ok(vec![]));
        assert_eq!(events.feed(b"d"), Err(TooLong));
        let mut events = Events::new(8);
        assert_eq!(events.feed(b"data:a\ndata:b\ndata:cccccccc\n"), Err(TooLong));
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
