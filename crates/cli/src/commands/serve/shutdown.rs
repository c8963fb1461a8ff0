//! Shutdown signals: caught from the first moment, also while the server is being set up.

use std::io;

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::spawn_blocking;

/// SIGTERM and SIGINT of this process.
pub(super) struct ShutdownSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl ShutdownSignals {
    /// Catches the signals from now on. Without this, the first process of a container ignores them,
    /// and any other one dies of them.
    pub(super) fn catch() -> io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Completes at the first signal since they are caught.
    pub(super) async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Runs `step`, which may block, on another thread; `None` if a signal arrives first. Then the
    /// exit of the process ends the step.
    pub(super) async fn run_step<T: Send + 'static>(
        &mut self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> anyhow::Result<Option<T>> {
        tokio::select! {
            biased;
            () = self.received() => Ok(None),
            done = spawn_blocking(step) => done.map(Some).context("a step of the start failed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rustix::process::{Signal, getpid, kill_process};
    use tokio::runtime::Builder;

    use super::ShutdownSignals;

    #[test]
    fn a_signal_ends_a_start_that_does_not_come_to_its_end() {
        for sent in [Signal::TERM, Signal::INT] {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            let (never, end) = mpsc::channel::<()>();
            let ended = runtime.block_on(async {
                let mut signals = ShutdownSignals::catch().unwrap();
                let step = move || {
                    kill_process(getpid(), sent).unwrap();
                    end.recv()
                };
                signals.run_step(step).await.unwrap()
            });
            assert!(ended.is_none(), "{sent:?}");
            drop(never);
        }
    }

    #[test]
    fn a_signal_during_a_step_that_ends_is_not_lost() {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut signals = ShutdownSignals::catch().unwrap();
            assert_eq!(signals.run_step(|| 7).await.unwrap(), Some(7));
            kill_process(getpid(), Signal::TERM).unwrap();
            signals.received().await;
        });
    }
}
