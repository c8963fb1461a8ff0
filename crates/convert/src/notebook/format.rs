//! The file format of notebooks: JSON, whose cells are parsed one by one.
//!
//! A value that is not needed stays text, and of a list only so many values are kept, so that a
//! notebook takes little more memory than its file.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::lists::{FirstMembers, FirstValues, joined_text};
use crate::error::ConvertError;

/// The longest name of a language in a fence.
const MAX_LANGUAGE: usize = 32;

/// The most cells of a notebook.
pub(super) const MAX_CELLS: usize = 100_000;

/// The most outputs of a cell.
const MAX_OUTPUTS: usize = 10_000;

/// The most forms of an output.
const MAX_FORMS: usize = 64;

/// A notebook.
#[derive(Deserialize)]
pub(super) struct NotebookFile<'a> {
    #[serde(borrow)]
    cells: Option<FirstValues<'a, MAX_CELLS>>,
    /// Where format 3 has its cells.
    #[serde(borrow)]
    worksheets: Option<FirstValues<'a, MAX_CELLS>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct NotebookWorksheet<'a> {
    #[serde(borrow)]
    cells: FirstValues<'a, MAX_CELLS>,
}

#[derive(Deserialize, Default)]
struct NotebookMetadata {
    kernelspec: Option<NotebookKernel>,
    language_info: Option<NotebookLanguage>,
}

#[derive(Deserialize)]
struct NotebookKernel {
    language: Option<String>,
}

#[derive(Deserialize)]
struct NotebookLanguage {
    name: Option<String>,
}

/// A cell of a notebook.
#[derive(Deserialize)]
pub(super) struct NotebookCell<'a> {
    cell_type: Option<String>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    /// The source of code in format 3.
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    language: Option<String>,
    level: Option<usize>,
    #[serde(borrow)]
    outputs: Option<FirstValues<'a, MAX_OUTPUTS>>,
}

/// An output of a cell. Format 3 has the data beside the other members.
#[derive(Deserialize)]
pub(super) struct NotebookOutput<'a> {
    pub(super) output_type: Option<String>,
    pub(super) name: Option<String>,
    /// The stream in format 3.
    pub(super) stream: Option<String>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<FirstMembers<'a, MAX_FORMS>>,
    pub(super) ename: Option<String>,
    pub(super) evalue: Option<String>,
    #[serde(borrow)]
    traceback: Option<&'a RawValue>,
    #[serde(borrow)]
    html: Option<&'a RawValue>,
    #[serde(borrow)]
    latex: Option<&'a RawValue>,
    #[serde(borrow)]
    png: Option<&'a RawValue>,
    #[serde(borrow)]
    jpeg: Option<&'a RawValue>,
    #[serde(borrow)]
    svg: Option<&'a RawValue>,
}

impl<'a> NotebookFile<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, ConvertError> {
        serde_json::from_str(text)
            .map_err(|flaw| ConvertError::damaged(format!("the document is no notebook: {flaw}")))
    }

    /// The cells in order, and how many more there are.
    pub(super) fn cells(&self) -> Result<FirstValues<'a, MAX_CELLS>, ConvertError> {
        if let Some(cells) = &self.cells {
            return Ok(cells.clone());
        }
        let Some(worksheets) = &self.worksheets else {
            return Err(ConvertError::damaged("the document is no notebook: it has no cells"));
        };
        let mut cells = FirstValues::default();
        for raw in &worksheets.values {
            let worksheet: NotebookWorksheet<'a> = serde_json::from_str(raw.get())
                .map_err(|flaw| ConvertError::damaged(format!("a worksheet is broken: {flaw}")))?;
            cells.append(worksheet.cells);
        }
        Ok(cells)
    }

    /// The language of the kernel, as a word for fences.
    pub(super) fn language(&self) -> String {
        let metadata = self.metadata.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let metadata: NotebookMetadata = metadata.unwrap_or_default();
        let by_kernel = metadata.kernelspec.and_then(|kernel| kernel.language);
        let by_info = metadata.language_info.and_then(|language| language.name);
        fence_word(by_info.or(by_kernel).as_deref().unwrap_or("python"))
    }
}

fn fence_word(language: &str) -> String {
    let is_word =
        |letter: &char| letter.is_alphanumeric() || matches!(letter, '+' | '#' | '-' | '_');
    language.chars().filter(is_word).take(MAX_LANGUAGE).collect::<String>().to_lowercase()
}

impl<'a> NotebookCell<'a> {
    pub(super) fn parse(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    pub(super) fn kind(&self) -> &str {
        self.cell_type.as_deref().unwrap_or("code")
    }

    pub(super) fn level(&self) -> usize {
        self.level.unwrap_or(1)
    }

    pub(super) fn language(&self) -> Option<&str> {
        let is_word = |word: &&str| fence_word(word) == *word;
        self.language.as_deref().filter(is_word)
    }

    pub(super) fn source(&self) -> String {
        self.source.or(self.input).map(|raw| joined_text(raw, "")).unwrap_or_default()
    }

    /// The outputs; `None` in place of a broken one.
    pub(super) fn outputs(&self) -> impl Iterator<Item = Option<NotebookOutput<'a>>> {
        let raw = self.outputs.iter().flat_map(|outputs| &outputs.values);
        raw.map(|raw| serde_json::from_str(raw.get()).ok())
    }

    /// How many outputs it has beyond those.
    pub(super) fn outputs_left_out(&self) -> usize {
        self.outputs.as_ref().map_or(0, |outputs| outputs.left_out)
    }
}

impl NotebookOutput<'_> {
    /// The text of a stream.
    pub(super) fn text(&self) -> String {
        self.text.map(|raw| joined_text(raw, "")).unwrap_or_default()
    }

    pub(super) fn traceback(&self) -> String {
        let lines = self.traceback.filter(|raw| raw.get().starts_with('['));
        lines.map(|raw| joined_text(raw, "\n")).unwrap_or_default()
    }

    /// The data of an output with this MIME type.
    pub(super) fn data(&self, mime: &str) -> Option<String> {
        let raw = match &self.data {
            Some(data) => data.0.get(mime).copied(),
            None => match mime {
                "text/plain" => self.text,
                "text/html" => self.html,
                "text/latex" => self.latex,
                "image/png" => self.png,
                "image/jpeg" => self.jpeg,
                "image/svg+xml" => self.svg,
                _ => None,
            },
        };
        raw.map(|raw| joined_text(raw, ""))
    }

    /// The MIME types of the data.
    pub(super) fn mimes(&self) -> impl Iterator<Item = &str> {
        self.data.iter().flat_map(|data| data.0.keys()).map(String::as_str)
    }
}
