//! What a terminal says of itself (primary device attributes): whether it draws sixel graphics.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// How long the terminal may take to answer. All that are in use answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest answer.
const MAX_BYTES: usize = 256;
/// The attribute of sixel graphics.
const SIXEL: &str = "4";

/// Asks the terminal whether it draws sixel graphics.
pub(super) fn has_sixel() -> bool {
    let device = OpenOptions::new().read(true).write(true).open("/dev/tty");
    let answer = device.ok().and_then(|device| ask(device).ok()).unwrap_or_default();
    says_sixel(&answer)
}

/// Sends the question and reads the answer, which must neither be shown nor wait for Enter.
fn ask(mut device: File) -> std::io::Result<Vec<u8>> {
    let usual = tcgetattr(&device)?;
    let mut quiet = usual.clone();
    quiet.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    tcsetattr(&device, OptionalActions::Now, &quiet)?;
    let answer = device.write_all(b"\x1b[c").and_then(|()| read_answer(&mut device));
    tcsetattr(&device, OptionalActions::Now, &usual)?;
    answer
}

fn read_answer(device: &mut File) -> std::io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    let end = Instant::now() + PATIENCE;
    while answer.len() < MAX_BYTES && !answer.ends_with(b"c") {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap_or_default();
        if poll(&mut [PollFd::new(device, PollFlags::IN)], Some(&left))? == 0 {
            break;
        }
        let mut byte = [0];
        if device.read(&mut byte)? == 0 {
            break;
        }
        answer.push(byte[0]);
    }
    Ok(answer)
}

/// Whether an answer such as `ESC [ ? 62 ; 4 ; 22 c` has sixel graphics.
fn says_sixel(answer: &[u8]) -> bool {
    let answer = String::from_utf8_lossy(answer);
    let attributes = answer.rsplit_once("\x1b[?").and_then(|(_, rest)| rest.strip_suffix('c'));
    // The first number is the level of the terminal.
    attributes.is_some_and(|numbers| numbers.split(';').skip(1).any(|number| number == SIXEL))
}

#[cfg(test)]
mod tests {
    use super::says_sixel;

    #[test]
    fn sixel_is_one_of_the_attributes_of_a_terminal() {
        assert!(says_sixel(b"\x1b[?62;4;22c") && says_sixel(b"x\x1b[?64;1;2;4c"));
        for other in
            [&b""[..], b"\x1b[?62;22c", b"\x1b[?4c", b"\x1b[?62;14;44c", b"\x1b[?62;4", b"4c"]
        {
            assert!(!says_sixel(other), "{other:?}");
        }
    }
}
