//! Options and limits of a conversion.

use std::path::PathBuf;

/// What a conversion may do and give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The most rows of a table in Markdown. A line says what is left out.
    pub max_table_rows: usize,
    /// The most columns of a table in Markdown.
    pub max_table_columns: usize,
    /// The most bytes that all parts of a package unpack to.
    pub max_unpacked_bytes: u64,
    /// The most bytes of the result.
    pub max_output_bytes: usize,
    /// The longest side of a thumbnail, in pixels.
    pub thumbnail_pixels: u32,
    /// Whether the text of an image tells where it was taken.
    pub with_position: bool,
    /// The program pdftotext of Poppler. Without it a reader of its own reads PDF, which knows less.
    pub pdftotext: Option<PathBuf>,
}

impl Options {
    /// A limit of rows or columns that no table reaches.
    pub const WITHOUT_LIMIT: usize = usize::MAX / 4;

    /// Whether tables are given with all of their rows and columns.
    pub(crate) fn has_whole_tables(&self) -> bool {
        self.max_table_rows.min(self.max_table_columns) >= Self::WITHOUT_LIMIT
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_table_rows: 1_000,
            max_table_columns: 50,
            max_unpacked_bytes: 512 << 20,
            max_output_bytes: 256 << 20,
            thumbnail_pixels: 1_024,
            with_position: false,
            pdftotext: None,
        }
    }
}
