//! Full-screen view on the terminal of the person: keys, drawing, and the terminal as it was
//! afterwards.
//!
//! The view is drawn on `/dev/tty`, so that standard output can be a pipe.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::os::fd::OwnedFd;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as std_mpsc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::error::CommandError;

/// How many keys wait for the view.
const MAX_KEYS: usize = 256;
/// How soon the thread that reads keys sees that the view is closed.
const KEY_POLL: Duration = Duration::from_millis(50);
/// How long the exit waits for that thread.
const READER_EXIT: Duration = Duration::from_millis(500);

/// The terminal while a view has it.
pub(crate) struct FullScreen {
    terminal: Terminal<CrosstermBackend<BufWriter<File>>>,
    keys: mpsc::Receiver<Event>,
    /// Closes when the thread that reads keys ends.
    reader_end: std_mpsc::Receiver<()>,
    is_closed: Arc<AtomicBool>,
    terminate: Signal,
    hangup: Signal,
    restore: Arc<TerminalRestore>,
}

/// What gives the terminal back, once: at the end, on an error, or on a panic.
struct TerminalRestore {
    device: Mutex<File>,
    /// Standard error, which goes nowhere while the view is on the same terminal.
    stderr: Option<OwnedFd>,
    is_done: AtomicBool,
}

impl TerminalRestore {
    fn restore(&self) {
        if self.is_done.swap(true, Ordering::SeqCst) {
            return;
        }
        // A terminal that is gone cannot be restored, and need not be.
        let mut device = self.device.lock();
        let _ = execute!(&mut *device, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
        if let Some(stderr) = &self.stderr {
            let _ = rustix::stdio::dup2_stderr(stderr);
        }
    }
}

impl FullScreen {
    /// Takes the terminal. `command` and `instead` are for a person who has none.
    pub(crate) fn open(command: &str, instead: &str) -> Result<Self, CommandError> {
        let no_terminal = || {
            let words = format!("`refdesk {command}` needs a terminal; in a script use {instead}");
            CommandError::Failed(words)
        };
        let (device, is_tty) = match OpenOptions::new().read(true).write(true).open("/dev/tty") {
            Ok(device) => (device, true),
            Err(_) if io::stderr().is_terminal() => {
                (File::from(rustix::io::dup(io::stderr()).map_err(io::Error::from)?), false)
            }
            Err(_) => return Err(no_terminal()),
        };
        let (terminate, hangup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        enable_raw_mode().map_err(|_| no_terminal())?;
        let restore = Arc::new(TerminalRestore {
            device: Mutex::new(device.try_clone()?),
            stderr: is_tty.then(silence_stderr).flatten(),
            is_done: AtomicBool::new(false),
        });
        restore_on_panic(&restore);
        let opened = Self::start(device, (terminate, hangup), &restore);
        if opened.is_err() {
            restore.restore();
        }
        opened
    }

    fn start(
        mut device: File,
        (terminate, hangup): (Signal, Signal),
        restore: &Arc<TerminalRestore>,
    ) -> Result<Self, CommandError> {
        execute!(device, EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(device)))?;
        let is_closed = Arc::new(AtomicBool::new(false));
        let (sender, keys) = mpsc::channel(MAX_KEYS);
        let closed = Arc::clone(&is_closed);
        let reader = thread::Builder::new().name("keys".to_owned());
        let (alive, reader_end) = std_mpsc::channel();
        reader.spawn(move || {
            read_keys(&sender, &closed);
            drop(alive);
        })?;
        let restore = Arc::clone(restore);
        Ok(Self { terminal, keys, reader_end, is_closed, terminate, hangup, restore })
    }

    /// The next key or change of size; `None` if a signal asks the program to end, or the terminal
    /// is gone.
    pub(crate) async fn next_event(&mut self) -> Option<Event> {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => None,
            _ = self.hangup.recv() => None,
            event = self.keys.recv() => event,
        }
    }

    /// A key that waits already.
    pub(crate) fn waiting_event(&mut self) -> Option<Event> {
        self.keys.try_recv().ok()
    }

    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), CommandError> {
        self.terminal.draw(draw)?;
        Ok(())
    }

    /// Draws everything again with the next frame.
    pub(crate) fn clear(&mut self) -> Result<(), CommandError> {
        // `Terminal::clear` would ask for the cursor on standard output, which may be a pipe.
        let (width, height) = self.size();
        Ok(self.terminal.resize(Rect::new(0, 0, width, height))?)
    }

    pub(crate) fn size(&self) -> (u16, u16) {
        self.terminal.size().map_or((80, 24), |size| (size.width, size.height))
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.keys.close();
        // The thread must not take a key that is for the next program. Where the terminal is gone,
        // it may never end, and the program must.
        let _ = self.reader_end.recv_timeout(READER_EXIT);
        self.restore.restore();
    }
}

fn read_keys(keys: &mpsc::Sender<Event>, is_closed: &AtomicBool) {
    while !is_closed.load(Ordering::SeqCst) {
        let read = match event::poll(KEY_POLL) {
            Ok(false) => continue,
            Ok(true) => event::read(),
            Err(error) => Err(error),
        };
        let Ok(event) = read else { return };
        if keys.blocking_send(event).is_err() {
            return;
        }
    }
}

/// Sends standard error nowhere, and returns what it was: a line of the log would spoil the view.
fn silence_stderr() -> Option<OwnedFd> {
    if !io::stderr().is_terminal() {
        return None;
    }
    let _ = io::stderr().flush();
    let nowhere = OpenOptions::new().write(true).open("/dev/null").ok()?;
    let stderr = rustix::io::dup(io::stderr()).ok()?;
    rustix::stdio::dup2_stderr(&nowhere).ok()?;
    Some(stderr)
}

/// Restores the terminal before a panic is reported, so that a person can read the report.
fn restore_on_panic(restore: &Arc<TerminalRestore>) {
    let restore = Arc::downgrade(restore);
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |report| {
        if let Some(restore) = restore.upgrade() {
            restore.restore();
        }
        previous(report);
    }));
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use parking_lot::Mutex;

    use super::{TerminalRestore, restore_on_panic};

    #[test]
    fn a_panic_gives_the_terminal_back_once() {
        let mut device = tempfile::tempfile().unwrap();
        let restore = Arc::new(TerminalRestore {
            device: Mutex::new(device.try_clone().unwrap()),
            stderr: None,
            is_done: AtomicBool::new(false),
        });
        restore_on_panic(&restore);
        let ended = thread::spawn(|| panic!("on purpose")).join();
        assert!(ended.is_err());
        restore.restore();
        let mut written = String::new();
        device.rewind().unwrap();
        device.read_to_string(&mut written).unwrap();
        assert_eq!(written.matches("\x1b[?1049l").count(), 1, "{written:?}");
        assert!(written.contains("\x1b[?25h"), "the cursor is shown: {written:?}");
    }
}
