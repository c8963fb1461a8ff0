//! Connection threads: each runs its connections on a runtime of its own.
//!
//! A connection stays on its thread, so that a request is not handed from one thread to another,
//! which costs about as much as a small answer. Work that takes long leaves these threads for the
//! work pool, as it leaves any other.

use std::io;
use std::sync::Arc;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Threads for connections. They end when it is dropped.
#[derive(Debug)]
pub struct ConnectionThreads(Vec<ConnectionThread>);

#[derive(Debug)]
struct ConnectionThread {
    runtime: Handle,
    /// Held once more by each of its connections.
    connections: Arc<()>,
    /// Ends the thread when it is dropped.
    _end: oneshot::Sender<()>,
}

/// Counts as one connection of a thread while it is held.
pub(super) type ThreadSeat = Arc<()>;

impl ConnectionThreads {
    /// Starts `count` threads.
    pub fn start(count: usize) -> io::Result<Self> {
        (0..count.max(1)).map(|_| ConnectionThread::start()).collect::<io::Result<_>>().map(Self)
    }

    /// The runtime of the thread with the fewest connections, and a seat there.
    pub(super) fn least_busy(&self) -> Option<(&Handle, ThreadSeat)> {
        let thread = self.0.iter().min_by_key(|thread| Arc::strong_count(&thread.connections))?;
        Some((&thread.runtime, Arc::clone(&thread.connections)))
    }
}

impl ConnectionThread {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let run = move || {
            let _ = runtime.block_on(ended);
            // A blocking read of a disk that does not answer must not keep the thread.
            runtime.shutdown_background();
        };
        thread::Builder::new().name("connections".to_owned()).spawn(run)?;
        Ok(Self { runtime: handle, connections: Arc::default(), _end: end })
    }
}

#[cfg(test)]
mod tests {
    use super::ConnectionThreads;

    #[test]
    fn a_connection_goes_to_the_thread_with_the_fewest() {
        let threads = ConnectionThreads::start(2).unwrap();
        let [first, second, third] = [(); 3].map(|()| threads.least_busy().unwrap());
        assert_ne!(first.0.id(), second.0.id());
        let (freed, gone) = (second.0.id(), second.1);
        assert_eq!(third.0.id(), first.0.id());
        drop(gone);
        assert_eq!(threads.least_busy().unwrap().0.id(), freed);
    }

    #[test]
    fn work_runs_on_a_thread_until_the_threads_are_dropped() {
        let threads = ConnectionThreads::start(1).unwrap();
        let (runtime, _seat) = threads.least_busy().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let dropped = tell.clone();
        let running = runtime.spawn(async move {
            tell.send(std::thread::current().name().map(str::to_owned)).unwrap();
            std::future::pending::<()>().await;
            drop(dropped);
        });
        assert_eq!(told.recv().unwrap().as_deref(), Some("connections"));
        drop((threads, running));
        assert!(told.recv().is_err(), "the task was dropped with its thread");
    }
}
