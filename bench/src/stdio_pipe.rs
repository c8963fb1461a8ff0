//! Line-based JSON-RPC over a child's standard input and output.

use anyhow::{Context, ensure};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{ChildStdin, ChildStdout},
};

/// A buffered connection over two pipes.
pub(crate) struct Pipe {
    input: ChildStdin,
    output: ChildStdout,
    buffer: Vec<u8>,
    start: usize,
    searched: usize,
    end: usize,
}

impl Pipe {
    pub(crate) fn new(input: ChildStdin, output: ChildStdout) -> Self {
        Self { input, output, buffer: vec![0; 64 << 10], start: 0, searched: 0, end: 0 }
    }

    /// Sends one line, its line end included.
    pub(crate) async fn send(&mut self, line: &[u8]) -> anyhow::Result<()> {
        self.input.write_all(line).await.context("write to the server's input")
    }

    /// Waits for the next line.
    pub(crate) async fn receive(&mut self) -> anyhow::Result<&[u8]> {
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.buffer[self.searched..self.end]) {
                let from = self.start;
                let to = self.searched + length;
                (self.start, self.searched) = (to + 1, to + 1);
                return Ok(&self.buffer[from..to]);
            }
            self.searched = self.end;
            self.more().await?;
        }
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.searched, self.end) = (self.searched - self.start, self.end - self.start);
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let count = self.output.read(&mut self.buffer[self.end..]).await;
        let count = count.context("read the server's output")?;
        ensure!(count > 0, "the server closed its output");
        self.end += count;
        Ok(())
    }
}

/// The id of a response, if it is a small number as the benchmarks use.
pub(crate) fn answer_id(line: &[u8]) -> Option<usize> {
    // Inside a JSON string the quotes would be escaped, so this is a member and not content.
    let key = br#""id":"#;
    let from = memchr::memmem::find(line, key)? + key.len();
    let value = line[from..].trim_ascii_start();
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&value[..digits]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::answer_id;

    #[test]
    fn the_id_is_found_behind_a_text_that_speaks_of_ids() {
        let line = br#"{"jsonrpc":"2.0","result":{"text":"\"id\":9"},"id":3}"#;
        assert_eq!(answer_id(line), Some(3));
        assert_eq!(answer_id(br#"{"id": 12, "result": {}}"#), Some(12));
    }
}
