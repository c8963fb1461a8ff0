//! Content streams of a PDF: the operators that show text, draw lines, and run other streams.

use std::rc::Rc;

use hayro_font::kurbo::{Affine, Point, Vec2};
use hayro_syntax::content::{Instruction, UntypedIter};
use hayro_syntax::object::{Array, Dict, MaybeRef, Name, Object, Stream, String as Bytes};
use hayro_syntax::page::{Page, Resources};

use super::drawn::PageInk;
use super::fonts::{DrawnFont, DrawnFonts};
use super::lines::DrawnGlyph;

/// The work of a glyph, and of a stream that another one runs; that of content is a unit for each
/// eight bytes.
const GLYPH_WORK: usize = 8;
const STREAM_WORK: usize = 1_024;

/// How deep streams may run other streams.
const MAX_DEPTH: usize = 12;

/// How many states may be saved.
const MAX_SAVED: usize = 256;

/// How many marks may be open.
const MAX_MARKS: usize = 256;

/// How many annotations of a page are drawn.
const MAX_ANNOTATIONS: usize = 2_000;

/// Walks the content of one page.
pub(super) struct ContentWalker<'w, 'a> {
    fonts: &'w mut DrawnFonts<'a>,
    ink: &'w mut PageInk,
    /// How much work is left for the page.
    left: &'w mut usize,
    state: ContentState<'a>,
    saved: Vec<ContentState<'a>>,
    /// The text matrices: of the place, and of the start of the line.
    place: Affine,
    line: Affine,
    path: Option<Point>,
    marks: Vec<ContentMark>,
}

/// The state that `q` saves and `Q` restores.
#[derive(Clone)]
struct ContentState<'a> {
    view: Affine,
    font: Option<Rc<DrawnFont<'a>>>,
    size: f64,
    letter_gap: f64,
    word_gap: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

/// A piece of content that the document marks.
struct ContentMark {
    /// The text that stands for all glyphs of the piece; empty after the first glyph.
    text: Option<String>,
}

impl<'w, 'a> ContentWalker<'w, 'a> {
    pub(super) fn new(
        fonts: &'w mut DrawnFonts<'a>,
        ink: &'w mut PageInk,
        left: &'w mut usize,
        view: Affine,
    ) -> Self {
        let state = ContentState {
            view,
            font: None,
            size: 1.0,
            letter_gap: 0.0,
            word_gap: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        Self {
            fonts,
            ink,
            left,
            state,
            saved: Vec::new(),
            place: Affine::IDENTITY,
            line: Affine::IDENTITY,
            path: None,
            marks: Vec::new(),
        }
    }

    /// Walks the content of a page and its annotations.
    pub(super) fn walk_page(&mut self, page: &Page<'a>) {
        let state = self.state.clone();
        match page.page_stream() {
            Some(content) => {
                if !content.iter().any(|byte| !byte.is_ascii_whitespace()) {
                    self.note_missing(page);
                }
                self.walk(content, page.resources(), 0);
            }
            None => self.note_missing(page),
        }
        let annotations = page.raw().get::<Array<'a>>("Annots");
        let annotations = annotations.iter().flat_map(|array| array.iter::<Dict<'a>>());
        for annotation in annotations.take(MAX_ANNOTATIONS) {
            self.state = state.clone();
            self.saved.clear();
            self.walk_annotation(&annotation);
        }
    }

    /// Notes content that the page refers to but the document does not have.
    fn note_missing(&mut self, page: &Page<'a>) {
        let is_whole = match page.raw().get::<Object<'a>>("Contents") {
            Some(Object::Stream(stream)) => stream.decoded_data().is_ok(),
            Some(Object::Array(array)) => array.raw_iter().all(|item| match item {
                MaybeRef::Ref(id) => page.xref().get::<Stream<'a>>(id.into()).is_some(),
                MaybeRef::NotRef(_) => true,
            }),
            Some(_) => false,
            None => !page.raw().contains_key("Contents"),
        };
        if !is_whole {
            self.ink.broken();
        }
    }

    fn walk_annotation(&mut self, annotation: &Dict<'a>) {
        const HIDDEN: i32 = 0b10_0010;
        if annotation.get::<i32>("F").unwrap_or(0) & HIDDEN != 0 {
            return;
        }
        let appearance = || {
            let looks = annotation.get::<Dict<'a>>("AP")?;
            looks.get::<Stream<'a>>("N").or_else(|| {
                let state = annotation.get::<Name<'_>>("AS")?;
                looks.get::<Dict<'a>>("N")?.get::<Stream<'a>>(&*state)
            })
        };
        let area = annotation.get::<hayro_syntax::object::Rect>("Rect");
        if let (Some(stream), Some(area)) = (appearance(), area) {
            self.state.view *= Affine::translate(Vec2::new(area.x0, area.y0));
            self.walk_form(&stream, &Resources::new(Dict::empty()), 1);
        }
    }

    fn walk_form(&mut self, stream: &Stream<'a>, outer: &Resources<'a>, depth: usize) {
        if depth > MAX_DEPTH || *self.left == 0 {
            return;
        }
        let Ok(content) = stream.decoded_data() else { return };
        let own = stream.dict().get::<Dict<'a>>("Resources").map(Resources::new);
        let matrix = stream.dict().get::<Array<'_>>("Matrix").and_then(|array| {
            let numbers: Vec<f64> = array.iter::<f64>().take(6).collect();
            <[f64; 6]>::try_from(numbers).ok()
        });
        let (state, place, line) = (self.state.clone(), self.place, self.line);
        let saved = std::mem::take(&mut self.saved);
        if let Some(matrix) = matrix {
            self.state.view *= Affine::new(matrix);
        }
        self.walk(&content, own.as_ref().unwrap_or(outer), depth);
        (self.state, self.place, self.line, self.saved) = (state, place, line, saved);
    }

    fn walk(&mut self, content: &[u8], resources: &Resources<'a>, depth: usize) {
        self.spend(STREAM_WORK + content.len() / 8);
        let mut operators = UntypedIter::new(content);
        while *self.left > 0 {
            let Some(instruction) = operators.next() else { return };
            let operator: &[u8] = instruction.operator;
            match operator {
                b"Do" => self.run(&instruction, resources, depth),
                b"Tf" => self.set_font(&instruction, resources),
                b"BDC" | b"BMC" => self.begin_mark(&instruction, resources),
                b"EMC" => drop(self.marks.pop()),
                b"BI" => self.ink.image(),
                b"m" | b"l" | b"re" => self.draw_path(operator, &instruction),
                _ => self.apply(operator, &instruction),
            }
        }
    }

    fn spend(&mut self, work: usize) {
        *self.left = self.left.saturating_sub(work);
    }

    /// Operators of the state and of text.
    fn apply(&mut self, operator: &[u8], instruction: &Instruction<'_, '_>) {
        let numbers = numbers::<6>(instruction);
        match operator {
            b"q" if self.saved.len() < MAX_SAVED => self.saved.push(self.state.clone()),
            b"Q" => self.state = self.saved.pop().unwrap_or_else(|| self.state.clone()),
            b"cm" => self.state.view *= Affine::new(numbers),
            b"BT" => (self.place, self.line) = (Affine::IDENTITY, Affine::IDENTITY),
            b"Tm" => self.move_to(Affine::new(numbers)),
            b"Td" => self.next_line(numbers[0], numbers[1]),
            b"TD" => {
                self.state.leading = -numbers[1];
                self.next_line(numbers[0], numbers[1]);
            }
            b"T*" => self.next_line(0.0, -self.state.leading),
            b"Tc" => self.state.letter_gap = numbers[0],
            b"Tw" => self.state.word_gap = numbers[0],
            b"Tz" => self.state.stretch = numbers[0] / 100.0,
            b"TL" => self.state.leading = numbers[0],
            b"Ts" => self.state.rise = numbers[0],
            b"Tj" => self.show_operands(instruction),
            b"'" => {
                self.next_line(0.0, -self.state.leading);
                self.show_operands(instruction);
            }
            b"\"" => {
                (self.state.word_gap, self.state.letter_gap) = (numbers[0], numbers[1]);
                self.next_line(0.0, -self.state.leading);
                self.show_operands(instruction);
            }
            b"TJ" => self.show_array(instruction),
            _ => {}
        }
    }

    fn move_to(&mut self, matrix: Affine) {
        (self.place, self.line) = (matrix, matrix);
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.move_to(self.line * Affine::translate(Vec2::new(x, y)));
    }

    fn set_font(&mut self, instruction: &Instruction<'_, '_>, resources: &Resources<'a>) {
        let mut operands = instruction.operands();
        if let (Some(Object::Name(name)), Some(Object::Number(size))) =
            (operands.next(), operands.next())
        {
            self.state.size = size.as_f64();
            self.state.font = resources.get_font(name).map(|dict| self.fonts.font(&dict));
        }
    }

    fn run(&mut self, instruction: &Instruction<'_, '_>, resources: &Resources<'a>, depth: usize) {
        let Some(Object::Name(name)) = instruction.operands().next() else { return };
        let Some(stream) = resources.get_x_object(name) else { return };
        match stream.dict().get::<Name<'_>>("Subtype").as_deref() {
            Some(b"Image") => self.ink.image(),
            Some(b"Form") => self.walk_form(&stream, resources, depth + 1),
            _ => {}
        }
    }

    fn begin_mark(&mut self, instruction: &Instruction<'_, '_>, resources: &Resources<'a>) {
        let text = |dict: &Dict<'_>| dict.get::<Bytes<'_>>("ActualText").map(|text| decode(&text));
        let text = match instruction.operands().nth(1) {
            Some(Object::Dict(dict)) => text(dict),
            Some(Object::Name(name)) => {
                resources.properties.get::<Dict<'_>>(&**name).as_ref().and_then(text)
            }
            _ => None,
        };
        if self.marks.len() < MAX_MARKS {
            self.marks.push(ContentMark { text });
        }
    }

    fn draw_path(&mut self, operator: &[u8], instruction: &Instruction<'_, '_>) {
        let [x, y, width, height, ..] = numbers::<4>(instruction);
        let at = |x: f64, y: f64| self.state.view * Point::new(x, y);
        let here = at(x, y);
        match (operator, self.path) {
            (b"l", Some(start)) => {
                self.ink.rule(start, here);
                self.path = Some(here);
            }
            (b"re", _) => {
                let (far, above, below) =
                    (at(x + width, y + height), at(x, y + height), at(x + width, y));
                self.ink.rule(here, below);
                self.ink.rule(above, far);
                // A thin rectangle may stand for a line of either direction after rotation.
                self.ink.rule(here, above);
            }
            _ => self.path = Some(here),
        }
    }

    fn show_operands(&mut self, instruction: &Instruction<'_, '_>) {
        for operand in instruction.operands() {
            if let Object::String(text) = operand {
                self.show(text);
            }
        }
    }

    fn show_array(&mut self, instruction: &Instruction<'_, '_>) {
        let Some(Object::Array(array)) = instruction.operands().next() else { return };
        for item in array.iter::<Object<'_>>() {
            match item {
                Object::String(text) => self.show(&text),
                Object::Number(number) => {
                    let back = -number.as_f64() / 1000.0 * self.state.size;
                    let is_vertical =
                        self.state.font.as_ref().is_some_and(|font| font.is_vertical());
                    let (x, y) =
                        if is_vertical { (0.0, back) } else { (back * self.state.stretch, 0.0) };
                    self.place *= Affine::translate(Vec2::new(x, y));
                }
                _ => {}
            }
        }
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.state.font.clone() else { return };
        let state = &self.state;
        let (size, stretch) = (state.size, state.stretch);
        let shape = Affine::new([size * stretch, 0.0, 0.0, size, 0.0, state.rise]);
        let (view, letter_gap, word_gap) = (state.view, state.letter_gap, state.word_gap);
        let is_vertical = font.is_vertical();
        let mut at = 0;
        while at < bytes.len() && *self.left > 0 {
            *self.left = self.left.saturating_sub(GLYPH_WORK);
            let (code, length) = font.read_code(bytes, at);
            at += length;
            let drawn = font.code(code);
            if drawn.text.is_empty() && font.is_opaque() {
                self.ink.opaque();
            }
            let advance = drawn.advance;
            let place = view * self.place * shape;
            let (x, y) = if is_vertical { (0.0, advance.1) } else { (advance.0, 0.0) };
            let start = place * Point::ORIGIN;
            let glyph = DrawnGlyph {
                text: &drawn.text,
                start,
                end: place * Point::new(x, y),
                size: (place * Point::new(0.0, 1.0) - start).hypot(),
                is_vertical,
            };
            draw_marked(self.ink, &mut self.marks, code, &glyph);
            let gap = letter_gap + if code == 32 && length == 1 { word_gap } else { 0.0 };
            let step = if is_vertical {
                Vec2::new(0.0, advance.1 * size + gap)
            } else {
                Vec2::new((advance.0 * size + gap) * stretch, 0.0)
            };
            self.place *= Affine::translate(step);
        }
    }
}

/// Draws a glyph, with the text that the document gives for it where it does.
fn draw_marked(ink: &mut PageInk, marks: &mut [ContentMark], code: u32, glyph: &DrawnGlyph<'_>) {
    match marks.iter_mut().find_map(|mark| mark.text.as_mut()) {
        None => ink.glyph(code, glyph),
        // The first glyph of the piece carries its text.
        Some(text) if !text.is_empty() => {
            let text = std::mem::take(text);
            ink.glyph(code, &DrawnGlyph { text: &text, ..*glyph });
        }
        Some(_) => {}
    }
}

/// The first numbers of an instruction; 0 for those that are missing.
fn numbers<const COUNT: usize>(instruction: &Instruction<'_, '_>) -> [f64; COUNT] {
    let mut numbers = [0.0; COUNT];
    for (slot, operand) in numbers.iter_mut().zip(instruction.operands()) {
        if let Object::Number(number) = operand {
            *slot = number.as_f64();
        }
    }
    numbers
}

/// The text of a string: UTF-16 or UTF-8 with a mark, else taken as Latin-1.
fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => encoding_rs::UTF_16BE.decode(rest).0.into_owned(),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => encoding_rs::mem::decode_latin1(bytes).into_owned(),
    }
}
