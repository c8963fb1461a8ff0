//! Pages of a PDF as text with places: blocks, lines, and the rules between them.
//!
//! Places are in points, from the left and the top of the page as a reader sees it.

/// A page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PdfPage {
    /// Its width.
    pub(super) width: f32,
    /// Its blocks, in reading order.
    pub(super) blocks: Vec<PdfBlock>,
}

/// Lines that belong together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PdfBlock {
    /// The lines, in reading order.
    pub(super) lines: Vec<PdfLine>,
}

/// A line, or a piece of one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PdfLine {
    /// Its text, with a space between words.
    pub(super) text: String,
    /// Where it is.
    pub(super) area: PdfArea,
    /// The height of its letters.
    pub(super) size: f32,
    /// Whether its letters stand below each other.
    pub(super) is_vertical: bool,
    /// How long its first word is.
    pub(super) first_word: f32,
    /// The wide gaps between its words.
    pub(super) gaps: Vec<PdfGap>,
}

/// A gap between two words that may separate columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PdfGap {
    /// Where the word after it starts in the text of the line, in bytes.
    pub(super) at: usize,
    /// Where the word before it ends.
    pub(super) left: f32,
    /// Where the word after it starts.
    pub(super) right: f32,
}

/// A rectangle.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PdfArea {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) right: f32,
    pub(super) bottom: f32,
}

impl PdfArea {
    pub(super) fn width(&self) -> f32 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f32 {
        self.bottom - self.top
    }

    /// The smallest rectangle around both.
    pub(super) fn union(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// Straight lines drawn on a page, such as those of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PdfRules {
    /// Horizontal ones.
    pub(super) horizontal: Vec<PdfArea>,
}

impl PdfPage {
    /// How many characters its text has that a reader can see and know.
    pub(super) fn characters(&self) -> usize {
        let lines = self.blocks.iter().flat_map(|block| &block.lines);
        lines.map(|line| line.text.chars().filter(|letter| is_readable(*letter)).count()).sum()
    }
}

impl PdfBlock {
    /// Where it is.
    pub(super) fn area(&self) -> PdfArea {
        let areas = self.lines.iter().map(|line| line.area);
        areas.reduce(|all, area| all.union(&area)).unwrap_or_default()
    }
}

/// Whether a character is one that a reader can see and know: no space, no control, none for
/// private use, which fonts without a map to Unicode give.
pub(super) fn is_readable(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_control() && !is_private(letter) && letter != '\u{FFFD}'
}

/// Whether a character is for private use.
pub(super) fn is_private(letter: char) -> bool {
    matches!(letter, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}')
}

/// Whether a script writes this character without spaces between words.
pub(super) fn is_unspaced(letter: char) -> bool {
    matches!(
        letter,
        '\u{2E80}'..='\u{A4CF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE10}'..='\u{FE4F}'
            | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}'
    )
}

/// The character as it is stored in text: without the forms for vertical writing, of ligatures and
/// of bullets in symbol fonts. Pushes nothing for a control character.
pub(super) fn push_character(text: &mut String, letter: char) {
    const VERTICAL: &[(char, char)] = &[
        ('︐', '，'),
        ('︑', '、'),
        ('︒', '。'),
        ('︓', '：'),
        ('︔', '；'),
        ('︕', '！'),
        ('︖', '？'),
        ('︗', '〖'),
        ('︘', '〗'),
        ('︙', '…'),
        ('︰', '‥'),
        ('︱', '—'),
        ('︲', '–'),
        ('︳', '＿'),
        ('︵', '（'),
        ('︶', '）'),
        ('︷', '｛'),
        ('︸', '｝'),
        ('︹', '〔'),
        ('︺', '〕'),
        ('︻', '【'),
        ('︼', '】'),
        ('︽', '《'),
        ('︾', '》'),
        ('︿', '〈'),
        ('﹀', '〉'),
        ('﹁', '「'),
        ('﹂', '」'),
        ('﹃', '『'),
        ('﹄', '』'),
        ('﹇', '［'),
        ('﹈', '］'),
    ];
    match letter {
        'ﬀ' => text.push_str("ff"),
        'ﬁ' => text.push_str("fi"),
        'ﬂ' => text.push_str("fl"),
        'ﬃ' => text.push_str("ffi"),
        'ﬄ' => text.push_str("ffl"),
        'ﬅ' | 'ﬆ' => text.push_str("st"),
        '\u{F0A7}' | '\u{F0B7}' | '\u{F0D8}' => text.push('•'),
        '\u{FE10}'..='\u{FE48}' => {
            let form = VERTICAL.iter().find(|(form, _)| *form == letter);
            text.push(form.map_or(letter, |(_, usual)| *usual));
        }
        letter if letter.is_control() => {}
        letter => text.push(letter),
    }
}
