//! Stream of server-sent events, read by a task of its own: the server can write it at any time.

use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time;

use super::Deadline;
use super::sse::{DoctorEvent, EventReader};
use crate::plain_text::plain;

/// How many events wait to be taken; a server that sends more of them is not read further.
const MAX_WAITING: usize = 100;

/// An open stream; it is closed when it is dropped.
pub(crate) struct DoctorEventStream {
    items: mpsc::Receiver<StreamItem>,
    task: JoinHandle<()>,
}

/// What comes from a stream.
#[derive(Debug)]
pub(super) enum StreamItem {
    Event(DoctorEvent),
    TooLarge,
    End(String),
}

impl DoctorEventStream {
    pub(super) fn read(body: Incoming, limit: usize) -> Self {
        let (sender, items) = mpsc::channel(MAX_WAITING);
        let task = tokio::spawn(read_events(body, limit, sender));
        Self { items, task }
    }

    /// The next item; `None` if there is none before the deadline.
    pub(super) async fn next(&mut self, deadline: Deadline) -> Option<StreamItem> {
        let item = time::timeout_at(deadline.0, self.items.recv()).await.ok()?;
        Some(item.unwrap_or_else(|| StreamItem::End("its stream of events ended".to_owned())))
    }

    /// The next event that is already there.
    pub(super) fn take(&mut self) -> Option<DoctorEvent> {
        match self.items.try_recv() {
            Ok(StreamItem::Event(event)) => Some(event),
            Ok(StreamItem::TooLarge | StreamItem::End(_)) | Err(_) => None,
        }
    }
}

impl Drop for DoctorEventStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_events(mut body: Incoming, limit: usize, sender: mpsc::Sender<StreamItem>) {
    let mut reader = EventReader::default();
    while let Some(frame) = body.frame().await {
        let chunk = match frame.map(Frame::into_data) {
            Ok(Ok(chunk)) => chunk,
            Ok(Err(_)) => continue,
            Err(error) => {
                let why = format!("its stream of events broke: {}", plain(&error.to_string()));
                let _ = sender.send(StreamItem::End(why)).await;
                return;
            }
        };
        let Ok(events) = reader.read(&chunk, limit) else {
            let _ = sender.send(StreamItem::TooLarge).await;
            return;
        };
        for event in events {
            if sender.send(StreamItem::Event(event)).await.is_err() {
                return;
            }
        }
    }
}
