//! Windows by lines: finds the start of a line, then its bytes.

use memchr::{memchr, memchr_iter};
use resource::{LineRange, Result};

use super::line_index::{LineIndex, LineStart};
use super::window_reader::{FIRST_READ_BYTES, LOOKAHEAD_BYTES, PartBytes, WindowReader};
use super::{FormatWindow, MAX_WINDOW_BYTES, cut};

/// Bytes per read when searching for a line.
const SEARCH_READ_BYTES: u64 = 256 << 10;

impl WindowReader<'_> {
    /// At most `most` lines and `bytes` bytes of a part, from line `start` on; `None` if it is
    /// not text.
    pub(super) async fn read_lines(
        &mut self,
        part: usize,
        marks: &LineIndex,
        start: u64,
        (most, bytes): (Option<u64>, u64),
    ) -> Result<Option<FormatWindow>> {
        let Some(place) = self.find_line(part, marks, start).await? else { return Ok(None) };
        let bytes = bytes.min(MAX_WINDOW_BYTES);
        let mut wanted = FIRST_READ_BYTES.min(bytes + LOOKAHEAD_BYTES);
        let Some(mut held) = self.read_text(part, place.offset, wanted).await? else {
            return Ok(None);
        };
        loop {
            self.extend_to(&mut held, part, wanted).await?;
            if let Some((end, lines)) = select_lines(&held, place.line, most, bytes as usize)? {
                let mut piece = held.window_up_to(end);
                piece.slice.lines = Some(lines);
                if let (Some(line), Some(offset)) =
                    (piece.slice.next_line(), piece.slice.next_offset())
                {
                    self.remember_line(marks, LineStart { part, line, offset });
                }
                return Ok(Some(piece));
            }
            wanted = (wanted * 2).min(bytes + LOOKAHEAD_BYTES);
        }
    }

    /// Finds the start of a line, or the end of the part if it has fewer lines. `None` if the
    /// part does not begin with text.
    async fn find_line(
        &mut self,
        part: usize,
        marks: &LineIndex,
        line: u64,
    ) -> Result<Option<LineStart>> {
        let known = self
            .pinned_etag
            .as_ref()
            .and_then(|etag| marks.nearest_before(self.uri, etag, part, line));
        let mut place = known.unwrap_or(LineStart::first(part));
        let mut at = place.offset;
        while place.line < line {
            let held = self.read_once(part, at, SEARCH_READ_BYTES).await?;
            if at == 0 && !held.is_text && !self.read_once(part, 0, 1).await?.is_text {
                return Ok(None);
            }
            let missing = line - place.line;
            let (passed, end) = count_lines(&held.bytes, missing);
            if passed > 0 {
                let (line, offset) = (place.line + passed, held.offset + end as u64);
                place = LineStart { part, line, offset };
                self.remember_line(marks, place);
            }
            at = held.end();
            if passed < missing && (held.bytes.is_empty() || at >= held.total) {
                // A last line without a newline counts as a line.
                let open = u64::from(place.offset < held.total);
                return Ok(Some(LineStart { part, line: place.line + open, offset: held.total }));
            }
            self.ctx.report_progress(at, Some(held.total));
            // A provider may never be pending; let other requests run.
            tokio::task::yield_now().await;
        }
        Ok(Some(place))
    }

    fn remember_line(&self, marks: &LineIndex, start: LineStart) {
        if let Some(etag) = &self.pinned_etag {
            marks.insert(self.uri, etag, start);
        }
    }
}

/// Counts the lines that end in `bytes`, up to `most`, and returns the end of the last.
fn count_lines(bytes: &[u8], most: u64) -> (u64, usize) {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let count = |(count, _), at| (count + 1, at + 1);
    memchr_iter(b'\n', bytes).take(most).fold((0, 0), count)
}

/// The end of the window within `held`, and its lines; `None` if more bytes are needed.
fn select_lines(
    held: &PartBytes,
    start: u64,
    most: Option<u64>,
    bytes: usize,
) -> Result<Option<(usize, LineRange)>> {
    let within = &held.bytes[..bytes.min(held.bytes.len())];
    let most = most.unwrap_or(u64::MAX);
    let (count, end) = count_lines(within, most);
    let is_all = held.kind_changes || held.end() >= held.total;
    let (end, count, cut) = if count == most || (is_all && end == held.bytes.len()) {
        (end, count, false)
    } else if is_all && !held.kind_changes && within.len() == held.bytes.len() {
        // The last line of a text may lack a newline.
        (within.len(), count + 1, false)
    } else if !is_all && held.bytes.len() < bytes + LOOKAHEAD_BYTES as usize {
        return Ok(None);
    } else if count > 0 {
        (end, count, false)
    } else {
        let end = cut::end(held.text()?, bytes);
        (end, 1, memchr(b'\n', &held.bytes[..end]).is_none())
    };
    Ok(Some((end, LineRange { start, count, truncated: cut })))
}
