//! What the pages of a PDF draw: walks their content streams for glyphs, images and rules.
//!
//! The glyphs are counted to tell text that is lost, and give the text where no other reader of
//! PDF is installed.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hayro_font::kurbo::{Affine, Point};
use hayro_syntax::page::{Page, Rotation};
use hayro_syntax::{LoadPdfError, Pdf};

use super::content::ContentWalker;
use super::fonts::DrawnFonts;
use super::lines::{DrawnGlyph, LineBuilder};
use super::page::{PdfArea, PdfPage, PdfRules, is_readable};

/// The most work for a page and for all pages, in the units of [`ContentWalker`]: 2 and 20 million
/// glyphs.
const MAX_PAGE_WORK: usize = 16_000_000;
const MAX_WORK: usize = 160_000_000;

/// The most glyphs of one page that are told from glyphs drawn twice.
const MAX_PLACES: usize = 1 << 20;

/// The most rules of one page.
const MAX_RULES: usize = 20_000;

/// What the pages of a document draw.
#[derive(Debug, Default)]
pub(super) struct DrawnDocument {
    /// The pages, up to the first one that could not be walked.
    pub(super) pages: Vec<DrawnPage>,
    /// Whether the walk ended at a limit or at a fault of the reader, before the last page.
    pub(super) is_cut: bool,
}

/// What a page draws.
#[derive(Debug, Default)]
pub(super) struct DrawnPage {
    /// Its text.
    pub(super) page: PdfPage,
    /// How many glyphs it draws; spaces, glyphs drawn twice and those outside the page are none.
    pub(super) glyphs: usize,
    /// How many of them have a text.
    pub(super) readable: usize,
    /// How many glyphs have codes that mean nothing outside their font.
    pub(super) opaque: usize,
    /// How many images it draws.
    pub(super) images: usize,
    /// Whether some of its content is missing or broken.
    pub(super) is_broken: bool,
    /// Its straight lines.
    pub(super) rules: PdfRules,
}

/// Why the pages cannot be walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DrawnError {
    /// The document needs a password.
    Protected,
    /// The document is no PDF, or too broken.
    Damaged,
    /// A page, by its number, draws too much.
    OverLimit(usize),
}

/// Walks the pages of a document.
pub(super) fn walk_document(bytes: &[u8]) -> Result<DrawnDocument, DrawnError> {
    let data = Arc::new(bytes.to_vec());
    // The reader is young: a fault of it must not be worse than a document that it cannot read.
    let loaded = catch_unwind(AssertUnwindSafe(|| Pdf::new(data)));
    let pdf = match loaded {
        Ok(Ok(pdf)) => pdf,
        Ok(Err(LoadPdfError::Decryption(_))) => return Err(DrawnError::Protected),
        Ok(Err(LoadPdfError::Invalid)) | Err(_) => return Err(DrawnError::Damaged),
    };
    let mut document = DrawnDocument::default();
    let walked = catch_unwind(AssertUnwindSafe(|| walk_pages(&pdf, &mut document)));
    match walked {
        Ok(result) => result?,
        Err(_) => document.is_cut = true,
    }
    Ok(document)
}

fn walk_pages(pdf: &Pdf, document: &mut DrawnDocument) -> Result<(), DrawnError> {
    let mut fonts = DrawnFonts::new();
    let mut work = 0;
    for page in pdf.pages().iter() {
        let mut ink = PageInk::new(page);
        let mut left = MAX_PAGE_WORK;
        ContentWalker::new(&mut fonts, &mut ink, &mut left, view_of(page)).walk_page(page);
        if left == 0 {
            return Err(DrawnError::OverLimit(document.pages.len() + 1));
        }
        // A page at which the reader fails is none: it would pass for an empty one.
        document.pages.push(ink.finish());
        work += MAX_PAGE_WORK - left;
        if work > MAX_WORK {
            document.is_cut = true;
            break;
        }
    }
    Ok(())
}

/// From the space of a page to places from its left and top, as a reader sees it.
fn view_of(page: &Page<'_>) -> Affine {
    let area = page.media_box();
    let (width, height) = (area.x1 - area.x0, area.y1 - area.y0);
    let upright = Affine::new([1.0, 0.0, 0.0, -1.0, -area.x0, area.y1]);
    let turned = match page.rotation() {
        Rotation::None => Affine::IDENTITY,
        Rotation::Horizontal => Affine::new([0.0, 1.0, -1.0, 0.0, height, 0.0]),
        Rotation::Flipped => Affine::new([-1.0, 0.0, 0.0, -1.0, width, height]),
        Rotation::FlippedHorizontal => Affine::new([0.0, -1.0, 1.0, 0.0, 0.0, width]),
    };
    turned * upright
}

/// What is drawn on one page until now.
pub(super) struct PageInk {
    width: f64,
    height: f64,
    lines: LineBuilder,
    places: HashSet<(u32, i32, i32)>,
    drawn: DrawnPage,
}

impl PageInk {
    fn new(page: &Page<'_>) -> Self {
        let area = page.media_box();
        let (mut width, mut height) = (area.x1 - area.x0, area.y1 - area.y0);
        if matches!(page.rotation(), Rotation::Horizontal | Rotation::FlippedHorizontal) {
            (width, height) = (height, width);
        }
        Self {
            width,
            height,
            lines: LineBuilder::default(),
            places: HashSet::new(),
            drawn: DrawnPage::default(),
        }
    }

    /// Draws the glyph of `code`.
    pub(super) fn glyph(&mut self, code: u32, glyph: &DrawnGlyph<'_>) {
        let (start, end) = (glyph.start, glyph.end);
        let is_finite = start.is_finite() && end.is_finite() && glyph.size.is_finite();
        let margin = glyph.size;
        let is_inside = |place: Point| {
            (-margin..self.width + margin).contains(&place.x)
                && (-margin..self.height + margin).contains(&place.y)
        };
        if !is_finite || glyph.size <= 0.0 || !(is_inside(start) || is_inside(end)) {
            return;
        }
        let is_space = !glyph.text.is_empty() && glyph.text.chars().all(char::is_whitespace);
        if !is_space && self.is_double(code, glyph) {
            return;
        }
        if !is_space {
            self.drawn.glyphs += 1;
            self.drawn.readable += usize::from(glyph.text.chars().any(is_readable));
        }
        if !glyph.text.is_empty() {
            self.lines.push(glyph);
        }
    }

    /// Whether the same glyph is drawn at the same place again, as some programs write bold.
    fn is_double(&mut self, code: u32, glyph: &DrawnGlyph<'_>) -> bool {
        let cell = (glyph.size * 0.2).max(0.01);
        let (x, y) = ((glyph.start.x / cell) as i32, (glyph.start.y / cell) as i32);
        match self.places.len() < MAX_PLACES {
            true => !self.places.insert((code, x, y)),
            false => self.places.contains(&(code, x, y)),
        }
    }

    /// Draws an image.
    pub(super) fn image(&mut self) {
        self.drawn.images += 1;
    }

    /// Notes a glyph whose code means nothing outside its font.
    pub(super) fn opaque(&mut self) {
        self.drawn.opaque += 1;
    }

    /// Notes that content is missing or broken.
    pub(super) fn broken(&mut self) {
        self.drawn.is_broken = true;
    }

    /// Draws a straight line, or a rectangle as thin as one.
    pub(super) fn rule(&mut self, a: Point, b: Point) {
        let rules = &mut self.drawn.rules.horizontal;
        let is_rule = (a.y - b.y).abs() < 2.0 && (a.x - b.x).abs() > 5.0;
        if is_rule && rules.len() < MAX_RULES {
            rules.push(PdfArea {
                left: a.x.min(b.x) as f32,
                top: a.y.min(b.y) as f32,
                right: a.x.max(b.x) as f32,
                bottom: a.y.max(b.y) as f32,
            });
        }
    }

    fn finish(self) -> DrawnPage {
        let page = PdfPage { width: self.width as f32, blocks: self.lines.finish() };
        DrawnPage { page, ..self.drawn }
    }
}
