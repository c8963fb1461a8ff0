//! Parser for server-sent events, with a bound on the size of one event.

/// Collects the `data` of events from chunks.
#[derive(Default)]
pub(super) struct EventReader {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

/// One event is over the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventTooLarge;

impl EventReader {
    /// Reads a chunk; returns the data of the events that it completes.
    pub(super) fn read(
        &mut self,
        chunk: &[u8],
        limit: usize,
    ) -> Result<Vec<Vec<u8>>, EventTooLarge> {
        let mut events = Vec::new();
        for &byte in chunk {
            let is_pair = std::mem::take(&mut self.after_return) && byte == b'\n';
            match byte {
                _ if is_pair => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    events.extend(self.end_line());
                }
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.len() > limit {
                return Err(EventTooLarge);
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let is_event = std::mem::take(&mut self.has_data) && !data.is_empty();
            return is_event.then_some(data);
        }
        let value = line.strip_prefix(b"data:")?;
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{EventReader, EventTooLarge};

    fn events(chunks: &[&str]) -> Vec<String> {
        let mut reader = EventReader::default();
        let read = |chunk: &&str| reader.read(chunk.as_bytes(), 99).unwrap();
        let found: Vec<Vec<u8>> = chunks.iter().flat_map(read).collect();
        found.into_iter().map(|data| String::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn events_are_found_however_they_arrive_and_end() {
        assert_eq!(events(&["event: message\ndata: a\n\n"]), ["a"]);
        assert_eq!(
            events(&["da", "ta:a\r", "\n\r\ndata:b\r\rdata: c\ndata: d\n\n"]),
            ["a", "b", "c\nd"]
        );
        assert_eq!(events(&[": comment\n\nid: 1\ndata:\n\nretry: 5\n\n"]), [""; 0]);
    }

    #[test]
    fn an_event_past_the_bound_is_refused() {
        let mut reader = EventReader::default();
        assert_eq!(reader.read(&[b'x'; 100], 99), Err(EventTooLarge));
    }
}
