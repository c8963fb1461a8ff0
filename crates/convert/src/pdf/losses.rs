//! Losses of a PDF: what its pages draw and their text does not have.

use super::drawn::DrawnPage;
use super::page::PdfPage;

/// The most sentences on losses.
const MAX_SENTENCES: usize = 100;

/// The losses of the pages until now, those of pages in a row in one sentence.
#[derive(Default)]
pub(super) struct PageLosses {
    sentences: Vec<String>,
    /// The first and last page, and what both lost.
    pages: Option<(usize, usize, String)>,
    /// How many pages with losses are over the limit of sentences.
    more: usize,
}

/// What a page says about itself in its text, and what is lost.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageNote {
    /// A note for the text.
    pub(super) note: Option<String>,
    /// What is lost.
    pub(super) loss: Option<String>,
}

/// Compares the text of a page with what it draws.
pub(super) fn note_of(page: &PdfPage, drawn: &DrawnPage) -> PageNote {
    let (glyphs, read) = (drawn.glyphs, page.characters());
    let lost = glyphs.saturating_sub(read);
    let both = |note: String, loss: String| PageNote { note: Some(note), loss: Some(loss) };
    if drawn.is_broken {
        let words = "content is broken or missing";
        return both(format!("some {words}"), format!("some {words}"));
    }
    // Some glyphs are no text: a few are not worth a word.
    if lost * 20 > glyphs {
        let note = if read == 0 {
            format!("the text of this page could not be read: {}", counted(glyphs, "glyph"))
        } else {
            let lost = counted(lost, "glyph");
            format!("a part of the text of this page could not be read: {lost} of {glyphs}")
        };
        let verb = if glyphs == 1 { "is" } else { "are" };
        let (glyphs, read) = (counted(glyphs, "glyph"), counted(read, "character"));
        return both(note, format!("{glyphs} {verb} drawn, {read} could be read"));
    }
    match (read, drawn.images) {
        (0, 0) => PageNote { note: Some("this page is empty".to_owned()), loss: None },
        (0, images) => {
            let images = counted(images, "image");
            both(format!("this page has no text, {images}"), format!("no text, {images}"))
        }
        _ => PageNote::default(),
    }
}

/// The sentence on the pages whose glyphs could not be counted: those after the first `counted` of
/// `pages`; `None` if there are none.
pub(super) fn uncounted(counted: usize, pages: usize) -> Option<String> {
    let which = match (counted, pages - counted) {
        (_, 0) => return None,
        (0, _) => "the glyphs of the pages are".to_owned(),
        (_, 1) => format!("the glyphs of page {pages} are"),
        (from, _) => format!("from page {} on, the glyphs are", from + 1),
    };
    Some(format!("{which} not counted: text that is lost there is not said"))
}

impl PageLosses {
    /// Notes what the page `number` lost.
    pub(super) fn push(&mut self, number: usize, loss: String) {
        match &mut self.pages {
            Some((_, last, words)) if *last + 1 == number && *words == loss => *last = number,
            _ => {
                self.end_sentence();
                self.pages = Some((number, number, loss));
            }
        }
    }

    fn end_sentence(&mut self) {
        let Some((first, last, words)) = self.pages.take() else { return };
        if self.sentences.len() >= MAX_SENTENCES {
            self.more += last + 1 - first;
        } else if first == last {
            self.sentences.push(format!("page {first}: {words}"));
        } else {
            self.sentences.push(format!("each of the pages {first} to {last}: {words}"));
        }
    }

    /// The sentences.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.end_sentence();
        if self.more > 0 {
            let pages = counted(self.more, "page");
            self.sentences.push(format!("text of {pages} more could not be read"));
        }
        self.sentences
    }
}

fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

#[cfg(test)]
mod tests {
    use super::{PageLosses, note_of, uncounted};
    use crate::pdf::drawn::DrawnPage;
    use crate::pdf::page::{PdfBlock, PdfLine, PdfPage};

    fn page(text: &str) -> PdfPage {
        let line = PdfLine { text: text.into(), ..PdfLine::default() };
        PdfPage { width: 100.0, blocks: vec![PdfBlock { lines: vec![line] }] }
    }

    #[test]
    fn glyphs_without_characters_are_said() {
        let drawn = |glyphs| DrawnPage { glyphs, ..DrawnPage::default() };
        let lost = note_of(&PdfPage::default(), &drawn(412));
        assert_eq!(lost.loss.unwrap(), "412 glyphs are drawn, 0 characters could be read");
        assert_eq!(lost.note.unwrap(), "the text of this page could not be read: 412 glyphs");
        let part = note_of(&page("abc\u{E001}"), &drawn(10));
        assert_eq!(
            part.note.unwrap(),
            "a part of the text of this page could not be read: 7 glyphs of 10"
        );
        assert_eq!(note_of(&page("abc"), &drawn(3)), super::PageNote::default());
    }

    #[test]
    fn a_page_of_images_is_not_passed_off_as_empty() {
        let drawn = DrawnPage { images: 1, ..DrawnPage::default() };
        let note = note_of(&PdfPage::default(), &drawn);
        assert_eq!(note.note.unwrap(), "this page has no text, 1 image");
        assert_eq!(note.loss.unwrap(), "no text, 1 image");
    }

    #[test]
    fn pages_that_are_not_counted_are_said() {
        assert_eq!(uncounted(3, 3), None);
        let said = |counted, pages| uncounted(counted, pages).unwrap();
        assert!(said(0, 3).starts_with("the glyphs of the pages are not counted"));
        assert!(said(2, 3).starts_with("the glyphs of page 3 are"));
        assert!(said(4, 9).starts_with("from page 5 on, the glyphs are not counted"));
    }

    #[test]
    fn the_same_loss_of_pages_in_a_row_is_one_sentence() {
        let mut losses = PageLosses::default();
        for page in [2, 3, 4, 9] {
            losses.push(page, "no text, 1 image".to_owned());
        }
        let expected = ["each of the pages 2 to 4: no text, 1 image", "page 9: no text, 1 image"];
        assert_eq!(losses.finish(), expected);
    }
}
