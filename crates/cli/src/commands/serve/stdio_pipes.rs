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
type OutputPipe = Box<dyn AsyncWrite + Unpin + Send>;

/// Opens standard input and output, non-blocking where possible.
pub(super) fn open_stdio() -> io::Result<(Input, OutputPipe)> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let input: Input = match file_type(stdin.as_fd())? {
        FileType::Fifo => Box::new(pipe::Receiver::from_owned_fd(duplicate(stdin.as_fd())?)?),
        FileType::Socket => Box::new(socket(stdin.as_fd())?),
        _ => Box::new(tokio::io::stdin()),
    };
    let output: OutputPipe = match file_type(stdout.as_fd())? {
        FileType::Fifo => Box::new(pipe::Sender::from_owned_fd(duplicate(stdout.as_fd())?)?),
        FileType::Socket => Box::new(socket(stdout.as_fd())?),
        _ => Box::new(tokio::io::stdout()),
    };
    Ok((input, output))
}

fn file_type(fd: BorrowedFd<'_>) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode))
}

fn duplicate(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    fd.try_clone_to_owned()
}

fn socket(fd: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let stream = StdStream::from(duplicate(fd)?);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
