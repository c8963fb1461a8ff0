//! SSE client for the notifications of `subscriptions/listen`.

use std::net::SocketAddr;

use anyhow::{Context, ensure};

use crate::{http::Connection, message::BenchRequest};

const ACKNOWLEDGED: &[u8] = b"notifications/subscriptions/acknowledged";
const UPDATED: &[u8] = b"notifications/resources/updated";

/// One open SSE stream.
pub(crate) struct NotificationEvents {
    connection: Connection,
    text: Vec<u8>,
    start: usize,
}

/// One event of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEvent<'a> {
    /// A keep-alive comment.
    Comment,
    /// This resource has changed.
    Updated(&'a str),
}

impl NotificationEvents {
    /// Subscribes to these resources and waits for the acknowledgement.
    pub(crate) async fn open(address: SocketAddr, uris: &[String]) -> anyhow::Result<Self> {
        let request = BenchRequest::listen(uris).over_http(&address.to_string());
        Self::listen(Connection::open(address).await?, &request, uris).await
    }

    /// The same over `connection`, with a request of the caller's own for these resources.
    pub(crate) async fn listen(
        mut connection: Connection,
        request: &[u8],
        uris: &[String],
    ) -> anyhow::Result<Self> {
        connection.open_stream(request).await?;
        let mut events = Self { connection, text: Vec::new(), start: 0 };
        let first = events.next_raw_event().await?;
        let granted = memchr::memmem::find_iter(first, b"file:///").count();
        let is_acknowledged = memchr::memmem::find(first, ACKNOWLEDGED).is_some();
        ensure!(is_acknowledged, "the first message is not an acknowledgement");
        ensure!(granted == uris.len(), "{granted} of {} resources were granted", uris.len());
        Ok(events)
    }

    /// Waits for the next event.
    pub(crate) async fn next(&mut self) -> anyhow::Result<StreamEvent<'_>> {
        parse_event(self.next_raw_event().await?)
    }

    /// Opens a connection of HTTP+SSE (2024-11-05); returns it and where its messages are posted.
    pub(crate) async fn open_endpoint(
        address: SocketAddr,
        request: &[u8],
    ) -> anyhow::Result<(Self, String)> {
        let mut connection = Connection::open(address).await?;
        connection.open_stream(request).await?;
        let mut events = Self { connection, text: Vec::new(), start: 0 };
        let first = std::str::from_utf8(events.next_raw_event().await?)?;
        let path = first.lines().find_map(|line| line.strip_prefix("data: "));
        let path = path.filter(|_| first.contains("event: endpoint"));
        let path = path.context("the first event is no endpoint")?.to_owned();
        Ok((events, path))
    }

    /// Waits for the next message of an HTTP+SSE connection, past comments.
    pub(crate) async fn next_message(&mut self) -> anyhow::Result<&[u8]> {
        loop {
            let is_comment = self.next_raw_event().await?.starts_with(b":");
            if !is_comment {
                break;
            }
        }
        // The event stands before `start`, with the two line breaks behind it.
        let text = &self.text[..self.start - 2];
        let begin = memchr::memmem::rfind(text, b"\n\n").map_or(0, |at| at + 2);
        Ok(&text[begin..])
    }

    async fn next_raw_event(&mut self) -> anyhow::Result<&[u8]> {
        loop {
            let unread = &self.text[self.start..];
            if let Some(length) = memchr::memmem::find(unread, b"\n\n") {
                let from = self.start;
                self.start += length + 2;
                return Ok(&self.text[from..from + length]);
            }
            self.text.drain(..self.start);
            self.start = 0;
            self.connection.next_chunk(&mut self.text).await?;
        }
    }
}

fn parse_event(event: &[u8]) -> anyhow::Result<StreamEvent<'_>> {
    if event.starts_with(b":") {
        return Ok(StreamEvent::Comment);
    }
    ensure!(memchr::memmem::find(event, UPDATED).is_some(), "unexpected event");
    let key = br#""uri":""#;
    let from = memchr::memmem::find(event, key).context("notification without a URI")? + key.len();
    let length = memchr::memchr(b'"', &event[from..]).context("truncated notification")?;
    Ok(StreamEvent::Updated(std::str::from_utf8(&event[from..from + length])?))
}

#[cfg(test)]
mod tests {
    use super::{StreamEvent, parse_event};

    #[test]
    fn a_notice_names_its_resource_and_a_comment_nothing() {
        let notice =
            br#"data: {"method":"notifications/resources/updated","params":{"uri":"a:b"}}"#;
        assert_eq!(parse_event(notice).unwrap(), StreamEvent::Updated("a:b"));
        assert_eq!(parse_event(b":").unwrap(), StreamEvent::Comment);
        assert!(parse_event(b"data: {}").is_err());
    }
}
