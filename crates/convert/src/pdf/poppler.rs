//! The program pdftotext of Poppler: runs it, and reads the layout that it writes.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::thread;

use super::page::{PdfArea, PdfBlock, PdfGap, PdfLine, PdfPage, push_character};
use crate::options::Options;

/// The most bytes of a line that pdftotext writes; it writes a word in each.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// How many bytes of layout there may be for a byte of text.
const LAYOUT_BYTES: u64 = 64;

/// The most lines of text of a document.
const MAX_LINES: usize = 4_000_000;

/// Why pdftotext gives no pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PopplerError {
    /// It does not run here.
    Missing,
    /// It cannot read the document.
    Failed,
    /// The text is over a limit.
    TooLong,
}

/// The pages of a document, as far as pdftotext reads it.
pub(super) fn read_pages(
    program: &Path,
    bytes: &[u8],
    options: &Options,
) -> Result<Vec<PdfPage>, PopplerError> {
    let mut child = Command::new(program)
        .args(["-bbox-layout", "-enc", "UTF-8", "-eol", "unix", "-q", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|_| PopplerError::Missing)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let pages = thread::scope(|scope| {
        // The child reads all of its input before it writes, but need not take all.
        scope.spawn(move || feed(input, bytes));
        match output {
            Some(output) => parse_layout(BufReader::with_capacity(1 << 16, output), options),
            None => Err(PopplerError::Failed),
        }
    });
    if pages.is_err() {
        // A child that still writes ends here; one that has ended cannot be killed, which is fine.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|_| PopplerError::Failed)?;
    let pages = pages?;
    if pages.is_empty() && !status.success() { Err(PopplerError::Failed) } else { Ok(pages) }
}

fn feed(input: Option<ChildStdin>, bytes: &[u8]) {
    if let Some(mut input) = input {
        // A child that ends early closes its end; its output then tells what it has read.
        let _ = input.write_all(bytes);
    }
}

/// The pages in what pdftotext writes with `-bbox-layout`: an element in each line.
fn parse_layout(mut output: impl BufRead, options: &Options) -> Result<Vec<PdfPage>, PopplerError> {
    let mut layout = LayoutBuilder::default();
    let mut left = (options.max_output_bytes as u64).saturating_mul(LAYOUT_BYTES);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let limit = MAX_LINE_BYTES.min(left);
        let count = (&mut output).take(limit).read_until(b'\n', &mut bytes);
        let count = count.map_err(|_| PopplerError::Failed)?;
        if count == 0 {
            let is_cut = left == 0;
            return if is_cut { Err(PopplerError::TooLong) } else { Ok(layout.finish()) };
        }
        left -= count as u64;
        layout.push(&String::from_utf8_lossy(&bytes));
        if layout.count > MAX_LINES || layout.text_bytes > options.max_output_bytes {
            return Err(PopplerError::TooLong);
        }
    }
}

/// Pages, as their elements come in.
#[derive(Default)]
struct LayoutBuilder {
    pages: Vec<PdfPage>,
    block: PdfBlock,
    words: Vec<(PdfArea, String)>,
    count: usize,
    text_bytes: usize,
}

impl LayoutBuilder {
    fn push(&mut self, element: &str) {
        let element = element.trim();
        if element.starts_with("<word ") {
            self.push_word(element);
        } else if element == "</line>" {
            self.end_line();
        } else if element == "</block>" {
            self.end_block();
        } else if element.starts_with("<page ") {
            self.end_block();
            let width = attribute(element, "width").unwrap_or(0.0);
            self.pages.push(PdfPage { width, blocks: Vec::new() });
        }
    }

    fn push_word(&mut self, element: &str) {
        let Some((head, rest)) = element.split_once('>') else { return };
        let raw = rest.strip_suffix("</word>").unwrap_or(rest);
        let mut text = String::with_capacity(raw.len());
        unescape(raw, &mut text);
        let number = |name| attribute(head, name).unwrap_or(0.0);
        let area = PdfArea {
            left: number("xMin"),
            top: number("yMin"),
            right: number("xMax"),
            bottom: number("yMax"),
        };
        if !text.is_empty() {
            self.text_bytes += text.len() + 1;
            self.words.push((area, text));
        }
    }

    fn end_line(&mut self) {
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return;
        }
        self.count += 1;
        self.block.lines.push(line_of(&words));
    }

    fn end_block(&mut self) {
        self.end_line();
        let block = std::mem::take(&mut self.block);
        if let (Some(page), false) = (self.pages.last_mut(), block.lines.is_empty()) {
            page.blocks.push(block);
        }
    }

    fn finish(mut self) -> Vec<PdfPage> {
        self.end_block();
        self.pages
    }
}

/// A line of words.
fn line_of(words: &[(PdfArea, String)]) -> PdfLine {
    let area = words.iter().map(|(area, _)| *area).reduce(|all, area| all.union(&area));
    let area = area.unwrap_or_default();
    let is_vertical = words
        .iter()
        .all(|(area, text)| text.chars().nth(1).is_some() && area.height() > 1.5 * area.width());
    let longest = words.iter().max_by_key(|(_, text)| text.len()).map(|(area, _)| *area);
    let size = longest.map_or(0.0, |area| if is_vertical { area.width() } else { area.height() });
    let mut line = PdfLine { area, size, is_vertical, ..PdfLine::default() };
    let mut last: Option<&PdfArea> = None;
    for (area, text) in words {
        if let Some(last) = last {
            let gap = area.left - last.right;
            // An index or an accent is a word of its own for pdftotext.
            if is_vertical || gap > 0.1 * size || gap < -size {
                line.text.push(' ');
            }
            if !is_vertical && gap > 0.8 * size {
                let at = line.text.len();
                line.gaps.push(PdfGap { at, left: last.right, right: area.left });
            }
        } else {
            line.first_word = if is_vertical { area.height() } else { area.width() };
        }
        line.text.push_str(text);
        last = Some(area);
    }
    line
}

/// The number in the attribute `name` of an element.
fn attribute(element: &str, name: &str) -> Option<f32> {
    // A document has four of them for each word.
    let mut parts = element.split('"');
    while let (Some(before), Some(value)) = (parts.next(), parts.next()) {
        if before.strip_suffix('=').is_some_and(|before| before.ends_with(name)) {
            return value.parse().ok().filter(|number: &f32| number.is_finite());
        }
    }
    None
}

/// Appends the text of an element.
fn unescape(raw: &str, text: &mut String) {
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        rest[..at].chars().for_each(|letter| push_character(text, letter));
        rest = &rest[at..];
        let found =
            [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"'), ("&apos;", '\'')]
                .into_iter()
                .find(|(name, _)| rest.starts_with(name));
        let (length, letter) = found.map_or((1, '&'), |(name, letter)| (name.len(), letter));
        text.push(letter);
        rest = &rest[length..];
    }
    rest.chars().for_each(|letter| push_character(text, letter));
}

#[cfg(test)]
mod tests {
    use super::{PopplerError, parse_layout};
    use crate::options::Options;

    const LAYOUT: &str = r#"<doc>
  <page width="400.000000" height="500.000000">
    <flow>
      <block xMin="10" yMin="10" xMax="90" yMax="34">
        <line xMin="10" yMin="10" xMax="90" yMax="20">
          <word xMin="10.0" yMin="10.0" xMax="40.0" yMax="20.0">a&amp;b</word>
          <word xMin="43.0" yMin="10.0" xMax="60.0" yMax="20.0">ﬁn&lt;</word>
          <word xMin="80.0" yMin="10.0" xMax="90.0" yMax="20.0">far</word>
        </line>
      </block>
      <block xMin="350.0" yMin="36.0" xMax="364.0" yMax="246.0">
        <line xMin="350.0" yMin="36.0" xMax="364.0" yMax="246.0">
          <word xMin="350.0" yMin="36.0" xMax="364.0" yMax="246.0">縦書きです︒</word>
        </line>
      </block>
    </flow>
  </page>
  <page width="400.000000" height="500.000000">
  </page>
</doc>
"#;

    #[test]
    fn the_layout_of_pdftotext_becomes_pages_blocks_and_lines() {
        let pages = parse_layout(LAYOUT.as_bytes(), &Options::default()).unwrap();
        assert_eq!(pages.len(), 2);
        let line = &pages[0].blocks[0].lines[0];
        assert_eq!(line.text, "a&b fin< far");
        assert_eq!(&line.text[line.gaps[0].at..], "far");
        let vertical = &pages[0].blocks[1].lines[0];
        assert_eq!((vertical.text.as_str(), vertical.is_vertical), ("縦書きです。", true));
        assert!(pages[1].blocks.is_empty());
    }

    #[test]
    fn a_layout_over_the_limit_is_refused() {
        let options = Options { max_output_bytes: 10, ..Options::default() };
        assert_eq!(parse_layout(LAYOUT.as_bytes(), &options), Err(PopplerError::TooLong));
    }
}
