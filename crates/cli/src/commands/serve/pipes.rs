//! Non-blocking standard input and output.
//!
//! Hosts connect pipes or sockets, which the async runtime polls directly. A terminal or a file
//! goes through tokio's blocking threads, because its flags are shared with other processes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;

use rustix::fs::{FileType, fstat};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

type Input = Box<dyn AsyncRead + Unpin>;
type Output = Box<dyn AsyncWrite + Unpin + Send>;

/// Opens standard input and output, non-blocking where possible.
pub(super) fn open() -> io::Result<(Input, Output)> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let input: Input = match kind(stdin.as_fd())? {
        FileType::Fifo => Box::new(pipe::Receiver::from_owned_fd(copy(stdin.as_fd())?)?),
        FileType::Socket => Box::new(socket(stdin.as_fd())?),
        _ => Box::new(tokio::io::stdin()),
    };
    let output: Output = match kind(stdout.as_fd())? {
        FileType::Fifo => Box::new(pipe::Sender::from_owned_fd(copy(stdout.as_fd())?)?),
        FileType::Socket => Box::new(socket(stdout.as_fd())?),
        _ => Box::new(tokio::io::stdout()),
    };
    Ok((input, output))
}

fn kind(fd: BorrowedFd<'_>) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode))
}

fn copy(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    fd.try_clone_to_owned()
}

fn socket(fd: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let stream = StdStream::from(copy(fd)?);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
