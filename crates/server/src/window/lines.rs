//! Windows by lines: finds the start of a line, then its bytes.

use memchr::{memchr, memchr_iter};
use resource::{Lines, Result};

use super::marks::{Marks, Place};
use super::walk::{AHEAD, CHUNK, Held, Walk};
use super::{MOST, Piece, cut};

/// Bytes per read when searching for a line.
const STRIDE: u64 = 256 << 10;

impl Walk<'_> {
    /// At most `most` lines and `bytes` bytes of a part, from line `start` on; `None` if it is
    /// not text.
    pub(super) async fn lines(
        &mut self,
        part: usize,
        marks: &Marks,
        start: u64,
        (most, bytes): (Option<u64>, u64),
    ) -> Result<Option<Piece>> {
        let Some(place) = self.find(part, marks, start).await? else { return Ok(None) };
        let bytes = bytes.min(MOST);
        let mut wanted = CHUNK.min(bytes + AHEAD);
        let Some(mut held) = self.text(part, place.offset, wanted).await? else { return Ok(None) };
        loop {
            self.fill(&mut held, part, wanted).await?;
            if let Some((end, lines)) = taken(&held, place.line, most, bytes as usize)? {
                let mut piece = held.piece(end);
                piece.slice.lines = Some(lines);
                if let (Some(line), Some(offset)) = (piece.slice.next_line(), piece.slice.next()) {
                    self.mark(marks, Place { part, line, offset });
                }
                return Ok(Some(piece));
            }
            wanted = (wanted * 2).min(bytes + AHEAD);
        }
    }

    /// Finds the start of a line, or the end of the part if it has fewer lines. `None` if the
    /// part does not begin with text.
    async fn find(&mut self, part: usize, marks: &Marks, line: u64) -> Result<Option<Place>> {
        let known = self.pin.as_ref().and_then(|etag| marks.before(self.uri, etag, part, line));
        let mut place = known.unwrap_or(Place::first(part));
        let mut at = place.offset;
        while place.line < line {
            let held = self.once(part, at, STRIDE).await?;
            if at == 0 && !held.is_text && !self.once(part, 0, 1).await?.is_text {
                return Ok(None);
            }
            let missing = line - place.line;
            let (passed, end) = passed(&held.bytes, missing);
            if passed > 0 {
                let (line, offset) = (place.line + passed, held.offset + end as u64);
                place = Place { part, line, offset };
                self.mark(marks, place);
            }
            at = held.end();
            if passed < missing && (held.bytes.is_empty() || at >= held.total) {
                // A last line without a newline counts as a line.
                let open = u64::from(place.offset < held.total);
                return Ok(Some(Place { part, line: place.line + open, offset: held.total }));
            }
            self.ctx.report(at, Some(held.total));
            // A provider may never be pending; let other requests run.
            tokio::task::yield_now().await;
        }
        Ok(Some(place))
    }

    fn mark(&self, marks: &Marks, place: Place) {
        if let Some(etag) = &self.pin {
            marks.put(self.uri, etag, place);
        }
    }
}

/// Counts the lines that end in `bytes`, up to `most`, and returns the end of the last.
fn passed(bytes: &[u8], most: u64) -> (u64, usize) {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let count = |(count, _), at| (count + 1, at + 1);
    memchr_iter(b'\n', bytes).take(most).fold((0, 0), count)
}

/// The end of the window within `held`, and its lines; `None` if more bytes are needed.
fn taken(
    held: &Held,
    start: u64,
    most: Option<u64>,
    bytes: usize,
) -> Result<Option<(usize, Lines)>> {
    let within = &held.bytes[..bytes.min(held.bytes.len())];
    let most = most.unwrap_or(u64::MAX);
    let (count, end) = passed(within, most);
    let is_all = held.torn || held.end() >= held.total;
    let (end, count, cut) = if count == most || (is_all && end == held.bytes.len()) {
        (end, count, false)
    } else if is_all && !held.torn && within.len() == held.bytes.len() {
        // The last line of a text may lack a newline.
        (within.len(), count + 1, false)
    } else if !is_all && held.bytes.len() < bytes + AHEAD as usize {
        return Ok(None);
    } else if count > 0 {
        (end, count, false)
    } else {
        let end = cut::end(held.text()?, bytes);
        (end, 1, memchr(b'\n', &held.bytes[..end]).is_none())
    };
    Ok(Some((end, Lines { start, count, cut })))
}
