//! Lines and blocks made of glyphs, in the order in which a page draws them.

use hayro_font::kurbo::{Point, Vec2};

use super::page::{PdfArea, PdfBlock, PdfGap, PdfLine, is_unspaced, push_character};

/// A glyph that a page draws.
pub(super) struct DrawnGlyph<'a> {
    /// Its text.
    pub(super) text: &'a str,
    /// Where it starts, on the baseline.
    pub(super) start: Point,
    /// Where the next glyph starts.
    pub(super) end: Point,
    /// The height of the letters of its font.
    pub(super) size: f64,
    /// Whether the next glyph stands below it.
    pub(super) is_vertical: bool,
}

/// Puts glyphs together to lines, and lines to blocks.
#[derive(Default)]
pub(super) struct LineBuilder {
    blocks: Vec<PdfBlock>,
    line: PdfLine,
    /// Where the line ends.
    end: Point,
    /// The way in which the line goes, of length 1.
    way: Vec2,
    has_first_word: bool,
}

impl LineBuilder {
    /// Appends a glyph.
    pub(super) fn push(&mut self, glyph: &DrawnGlyph<'_>) {
        let advance = glyph.end - glyph.start;
        let fallback = if glyph.is_vertical { Vec2::new(0.0, 1.0) } else { Vec2::new(1.0, 0.0) };
        let length = advance.hypot();
        let way = if length > 1e-6 { advance / length } else { fallback };
        let is_space = glyph.text.chars().all(char::is_whitespace);
        if self.line.text.is_empty() {
            if is_space {
                return;
            }
            self.start_line(glyph, way);
        } else {
            let delta = glyph.start - self.end;
            let (along, across) = (delta.dot(self.way), delta.cross(self.way).abs());
            let size = f64::from(self.line.size).max(glyph.size);
            let is_same_way = way.dot(self.way) > 0.9;
            let is_same_line =
                is_same_way && across < 0.6 * size && along > -0.7 * size && along < 3.0 * size;
            if !is_same_line {
                self.end_line();
                if is_space {
                    return;
                }
                self.start_line(glyph, way);
            } else if is_space {
                // A space is drawn by its width: the gap before the next glyph tells it.
                self.space_if_missing();
                return;
            } else {
                self.space_if_gap(along, size, glyph);
            }
        }
        self.append(glyph);
    }

    /// The blocks.
    pub(super) fn finish(mut self) -> Vec<PdfBlock> {
        self.end_line();
        self.blocks
    }

    fn start_line(&mut self, glyph: &DrawnGlyph<'_>, way: Vec2) {
        self.line = PdfLine {
            area: area_of(glyph),
            size: glyph.size as f32,
            is_vertical: glyph.is_vertical,
            ..PdfLine::default()
        };
        self.way = way;
        self.has_first_word = false;
    }

    fn space_if_missing(&mut self) {
        if !self.line.text.ends_with(' ') {
            if !self.has_first_word {
                self.has_first_word = true;
                self.line.first_word = self.length();
            }
            self.line.text.push(' ');
        }
    }

    fn space_if_gap(&mut self, along: f64, size: f64, glyph: &DrawnGlyph<'_>) {
        let last = self.line.text.chars().rev().find(|letter| !letter.is_whitespace());
        let next = glyph.text.chars().next();
        let is_dense = last.is_some_and(is_unspaced) && next.is_some_and(is_unspaced);
        // Justified Japanese is spread out, without words between the gaps.
        let limit = if is_dense { 0.6 } else { 0.15 };
        if along > limit * size {
            self.space_if_missing();
        }
        if along > 0.9 * size && self.line.text.ends_with(' ') && !glyph.is_vertical {
            self.line.gaps.push(PdfGap {
                at: self.line.text.len(),
                left: self.end.x as f32,
                right: glyph.start.x as f32,
            });
        }
    }

    fn append(&mut self, glyph: &DrawnGlyph<'_>) {
        for letter in glyph.text.chars() {
            push_character(&mut self.line.text, letter);
        }
        self.line.area = self.line.area.union(&area_of(glyph));
        self.line.size = self.line.size.max(glyph.size as f32);
        self.end = glyph.end;
    }

    /// How long the line is until now.
    fn length(&self) -> f32 {
        if self.line.is_vertical { self.line.area.height() } else { self.line.area.width() }
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        line.text.truncate(line.text.trim_end().len());
        if line.text.is_empty() {
            return;
        }
        if !self.has_first_word {
            line.first_word = if line.is_vertical { line.area.height() } else { line.area.width() };
        }
        match self.blocks.last_mut() {
            Some(block) if block.lines.last().is_some_and(|last| follows(last, &line)) => {
                block.lines.push(line);
            }
            _ => self.blocks.push(PdfBlock { lines: vec![line] }),
        }
    }
}

/// Whether `line` is the next line of a block that ends with `last`.
fn follows(last: &PdfLine, line: &PdfLine) -> bool {
    let is_same_size = line.size < last.size * 1.15 && last.size < line.size * 1.15;
    if last.is_vertical != line.is_vertical || !is_same_size {
        return false;
    }
    let (a, b) = (&last.area, &line.area);
    if line.is_vertical {
        let step = a.left - b.left;
        return step > 0.0 && step < 2.2 * line.size && (a.top - b.top).abs() < 4.0 * line.size;
    }
    let step = b.top - a.top;
    let overlaps = a.left < b.right && b.left < a.right;
    step > 0.3 * line.size && step < 1.7 * line.size && overlaps
}

/// Where a glyph is, by the usual shape of letters.
fn area_of(glyph: &DrawnGlyph<'_>) -> PdfArea {
    let size = glyph.size;
    let (a, b) = (glyph.start, glyph.end);
    let (above, below, aside) =
        if glyph.is_vertical { (0.0, 0.0, 0.5 * size) } else { (0.8 * size, 0.2 * size, 0.0) };
    PdfArea {
        left: (a.x.min(b.x) - aside) as f32,
        top: (a.y.min(b.y) - above) as f32,
        right: (a.x.max(b.x) + aside) as f32,
        bottom: (a.y.max(b.y) + below) as f32,
    }
}

#[cfg(test)]
mod tests {
    use hayro_font::kurbo::Point;

    use super::{DrawnGlyph, LineBuilder};

    fn draw(lines: &mut LineBuilder, text: &str, x: f64, y: f64, is_vertical: bool) {
        for (at, letter) in text.chars().enumerate() {
            let step = at as f64 * 10.0;
            let start = if is_vertical { Point::new(x, y + step) } else { Point::new(x + step, y) };
            let end = if is_vertical {
                Point::new(x, start.y + 10.0)
            } else {
                Point::new(start.x + 10.0, y)
            };
            let mut buffer = [0; 4];
            let text = &*letter.encode_utf8(&mut buffer);
            lines.push(&DrawnGlyph { text, start, end, size: 10.0, is_vertical });
        }
    }

    fn texts(lines: LineBuilder) -> Vec<Vec<String>> {
        let blocks = lines.finish();
        let line = |block: &super::PdfBlock| block.lines.iter().map(|l| l.text.clone()).collect();
        blocks.iter().map(line).collect()
    }

    #[test]
    fn glyphs_become_words_by_gaps_and_lines_become_blocks_by_distance() {
        let mut lines = LineBuilder::default();
        draw(&mut lines, "two", 0.0, 100.0, false);
        draw(&mut lines, "words", 33.0, 100.0, false);
        draw(&mut lines, "below", 0.0, 112.0, false);
        draw(&mut lines, "far", 0.0, 160.0, false);
        assert_eq!(texts(lines), [vec!["two words", "below"], vec!["far"]]);
    }

    #[test]
    fn vertical_columns_follow_each_other_from_right_to_left() {
        let mut lines = LineBuilder::default();
        draw(&mut lines, "縦書き︒", 300.0, 100.0, true);
        draw(&mut lines, "二行目", 280.0, 100.0, true);
        assert_eq!(texts(lines), [vec!["縦書き。", "二行目"]]);
    }
}
