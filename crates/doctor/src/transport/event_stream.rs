//! Stream of server-sent events, read by a task of its own: the server can write it at any time.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time;

use super::Deadline;
use super::sse::{DoctorEvent, EventReader};
use crate::plain_text::plain;

/// How many events wait to be taken, with as many bytes together as one may have. A server that sends
/// more of them is not read further.
const MAX_WAITING: usize = 100;

/// An open stream; it is closed when it is dropped.
pub(crate) struct DoctorEventStream {
    items: mpsc::Receiver<WaitingItem>,
    task: JoinHandle<()>,
}

/// What comes from a stream.
#[derive(Debug)]
pub(super) enum StreamItem {
    Event(DoctorEvent),
    TooLarge,
    End(String),
}

/// An item, with its share of the bytes that may wait.
type WaitingItem = (StreamItem, Option<OwnedSemaphorePermit>);

impl DoctorEventStream {
    pub(super) fn read(body: Incoming, limit: usize) -> Self {
        let (sender, items) = mpsc::channel(MAX_WAITING);
        let task = tokio::spawn(read_events(body, limit, sender));
        Self { items, task }
    }

    /// The next item; `None` if there is none before the deadline.
    pub(super) async fn next(&mut self, deadline: Deadline) -> Option<StreamItem> {
        let item = time::timeout_at(deadline.0, self.items.recv()).await.ok()?;
        let ended = || StreamItem::End("its stream of events ended".to_owned());
        Some(item.map_or_else(ended, |(item, _)| item))
    }

    /// The next event that is already there.
    pub(super) fn take(&mut self) -> Option<DoctorEvent> {
        match self.items.try_recv() {
            Ok((StreamItem::Event(event), _)) => Some(event),
            Ok((StreamItem::TooLarge | StreamItem::End(_), _)) | Err(_) => None,
        }
    }
}

impl Drop for DoctorEventStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_events(mut body: Incoming, limit: usize, sender: mpsc::Sender<WaitingItem>) {
    let mut reader = EventReader::default();
    let room = Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS)));
    while let Some(frame) = body.frame().await {
        let chunk = match frame.map(Frame::into_data) {
            Ok(Ok(chunk)) => chunk,
            Ok(Err(_)) => continue,
            Err(error) => {
                let why = format!("its stream of events broke: {}", plain(&error.to_string()));
                let _ = sender.send((StreamItem::End(why), None)).await;
                return;
            }
        };
        let Ok(events) = reader.read(&chunk, limit) else {
            let _ = sender.send((StreamItem::TooLarge, None)).await;
            return;
        };
        for event in events {
            let bytes = u32::try_from(event.data.len().min(limit)).unwrap_or(u32::MAX);
            let share = Arc::clone(&room).acquire_many_owned(bytes).await.ok();
            if sender.send((StreamItem::Event(event), share)).await.is_err() {
                return;
            }
        }
    }
}
