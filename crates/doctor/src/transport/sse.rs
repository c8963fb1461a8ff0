//! Parser for server-sent events, with a bound on the size of one event.

/// Collects events from chunks.
#[derive(Default)]
pub(super) struct EventReader {
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

/// An event with data. Its name is empty where the server gives none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DoctorEvent {
    pub(super) name: Vec<u8>,
    pub(super) data: Vec<u8>,
}

/// One event is over the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventTooLarge;

impl EventReader {
    /// Reads a chunk; returns the events that it completes.
    pub(super) fn read(
        &mut self,
        chunk: &[u8],
        limit: usize,
    ) -> Result<Vec<DoctorEvent>, EventTooLarge> {
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
            if self.line.len() + self.name.len() + self.data.len() > limit {
                return Err(EventTooLarge);
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<DoctorEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
            let is_event = std::mem::take(&mut self.has_data) && !data.is_empty();
            return is_event.then_some(DoctorEvent { name, data });
        }
        let value = |field: &[u8]| {
            let value = line.strip_prefix(field)?;
            Some(value.strip_prefix(b" ").unwrap_or(value))
        };
        if let Some(name) = value(b"event:") {
            self.name = name.to_vec();
        }
        if let Some(data) = value(b"data:") {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data.extend_from_slice(data);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{DoctorEvent, EventReader, EventTooLarge};

    fn events(chunks: &[&str]) -> Vec<String> {
        let mut reader = EventReader::default();
        let read = |chunk: &&str| reader.read(chunk.as_bytes(), 99).unwrap();
        let found: Vec<DoctorEvent> = chunks.iter().flat_map(read).collect();
        found.into_iter().map(|event| String::from_utf8(event.data).unwrap()).collect()
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
    fn a_name_belongs_to_one_event() {
        let mut reader = EventReader::default();
        let found = reader.read(b"event: endpoint\ndata: /m\n\ndata: {}\n\n", 99).unwrap();
        let names: Vec<&[u8]> = found.iter().map(|event| &event.name[..]).collect();
        assert_eq!(names, [&b"endpoint"[..], b""]);
    }

    #[test]
    fn an_event_past_the_bound_is_refused() {
        let mut reader = EventReader::default();
        assert_eq!(reader.read(&[b'x'; 100], 99), Err(EventTooLarge));
    }
}
