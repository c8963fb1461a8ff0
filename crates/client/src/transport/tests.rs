//! Fuzz targets of the readers of what servers send: lines, and server-sent events.

use testkit::FuzzTarget;

use super::line_reader::{InputLine, LineReader};
use super::sse::{SseEvent, SseParser};

/// Cuts `input` into chunks whose lengths follow from its bytes.
fn chunks(input: &[u8]) -> Vec<&[u8]> {
    let (mut chunks, mut rest) = (Vec::new(), input);
    while let Some(first) = rest.first() {
        let (chunk, behind) = rest.split_at(rest.len().min(usize::from(first % 61) + 1));
        chunks.push(chunk);
        rest = behind;
    }
    chunks
}

/// The lines of `text` that have an end, as the HTML standard defines their ends.
fn sse_lines(text: &[u8]) -> Vec<&[u8]> {
    let (mut lines, mut rest) = (Vec::new(), text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
    while let Some(end) = rest.iter().position(|byte| b"\r\n".contains(byte)) {
        lines.push(&rest[..end]);
        let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + length..];
    }
    lines
}

/// The events of a stream, line by line as in the HTML standard.
fn expected_events(text: &[u8]) -> Vec<SseEvent> {
    let (mut events, mut event, mut data) = (Vec::new(), SseEvent::default(), None::<Vec<u8>>);
    for line in sse_lines(text) {
        if line.is_empty() {
            event.data = data.take().unwrap_or_default().into();
            let done = std::mem::take(&mut event);
            if !done.data.is_empty() || done.id.is_some() || done.retry.is_some() {
                events.push(done);
            }
            continue;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = String::from_utf8_lossy(value).into_owned();
        match field {
            b"data" => match &mut data {
                Some(data) => data.extend([b"\n", value].concat()),
                None => data = Some(value.to_vec()),
            },
            b"event" => event.name = Some(text),
            b"id" if !value.contains(&0) => event.id = Some(text),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                event.retry = text.parse().ok().or(event.retry);
            }
            _ => {}
        }
    }
    events
}

fn check_sse(input: &[u8]) {
    let expected = expected_events(input);
    let mut parser = SseParser::new(usize::MAX);
    let found = chunks(input).into_iter().flat_map(|chunk| parser.parse_chunk(chunk).unwrap());
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let mut bounded = SseParser::new(64);
    for chunk in chunks(input) {
        let Ok(events) = bounded.parse_chunk(chunk) else { return };
        assert!(events.iter().all(|event| event.data.len() <= 64));
    }
}

#[test]
fn any_stream_gives_the_events_of_the_standard() {
    let examples: &[&[u8]] = &[
        b"event: message\nid: 7\nretry: 50\ndata: {\"jsonrpc\":\"2.0\"}\n\n",
        b"\xef\xbb\xbf: hi\r\ndata: a\r\ndata:b\r\n\r\ndata\r\rdata: c\n\n",
        b"id: 1\n\nid\ndata:  two\n\n:comment\n\nevent:endpoint\ndata:/x\n\n",
        b"retry: 5\nretry: +6\nretry: x\ndata: \xff\n\nretry:\n\n",
    ];
    FuzzTarget { name: "sse", examples, check: check_sse }.test();
}

/// The most bytes of a line.
const MAX_LINE_BYTES: usize = 64;

fn check_lines(input: &[u8]) {
    let mut reader = LineReader::new(MAX_LINE_BYTES);
    let mut found = Vec::new();
    for chunk in chunks(input) {
        reader.buffer.extend_from_slice(chunk);
        found.extend(std::iter::from_fn(|| reader.next()));
        assert!(reader.buffer.len() <= MAX_LINE_BYTES, "the buffer grows with the line");
    }
    let mut lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    lines.pop_if(|line| line.len() <= MAX_LINE_BYTES);
    assert_eq!(found.len(), lines.len());
    for (found, line) in found.iter().zip(lines) {
        match found {
            InputLine::Complete(bytes) => assert_eq!(bytes, line),
            InputLine::TooLong(start) => {
                assert!(line.len() > MAX_LINE_BYTES && line.starts_with(start));
            }
        }
    }
}

#[test]
fn any_input_gives_its_lines() {
    let examples: &[&[u8]] = &[
        b"{\"jsonrpc\":\"2.0\"}\n{\"id\":1}\n",
        b"a\n\n\r\nthis line is longer than the sixty-four bytes that are allowed for a line\nb\n",
    ];
    FuzzTarget { name: "lines", examples, check: check_lines }.test();
}
