//! The reader of Excel workbooks.

mod drawing;
mod extras;
mod page_header;
mod parts;
mod rows;

use extras::XlsxExtras;
use parts::{Relations, SharedStrings, XlsxStyles, relations};
use rows::XlsxRows;

use super::grid::{SheetExtras, SheetWriter};
use crate::document::Document;
use crate::error::{ConvertError, ConvertErrorKind};
use crate::package::Package;
use crate::xml_reader::{XmlEvent, XmlPartReader, xml_text};

/// The most sheets of a workbook.
const MAX_SHEETS: usize = 4_096;

/// A workbook: what all its sheets share.
struct Workbook<'a> {
    package: Package<'a>,
    /// The names of parts: in small letters, and as they are.
    names: std::collections::HashMap<String, String>,
    styles: XlsxStyles,
    strings: SharedStrings,
    is_1904: bool,
}

/// A sheet in the list of the workbook.
struct SheetEntry {
    name: String,
    is_hidden: bool,
    relation: String,
}

/// Reads all sheets of a workbook into `writer`.
pub(crate) fn read(
    document: &Document<'_>,
    writer: &mut dyn SheetWriter,
) -> Result<(), ConvertError> {
    if is_old_workbook(document.bytes) {
        return Err(ConvertError::new(
            ConvertErrorKind::Unsupported,
            "the workbook has the format of Excel 97 (.xls); save it as .xlsx to convert it",
        ));
    }
    let package = Package::open(document.bytes, document.options)?;
    let names = package.names().into_iter().map(|name| (name.to_lowercase(), name)).collect();
    let mut workbook = Workbook {
        package,
        names,
        styles: XlsxStyles::default(),
        strings: SharedStrings::default(),
        is_1904: false,
    };
    let root = workbook.relations_of("")?;
    let main = root.of_type("/officeDocument").unwrap_or_else(|| "xl/workbook.xml".to_owned());
    let content = workbook.package.required_part(&workbook.name_of(&main))?;
    let sheets = workbook.read_list(&content)?;
    let relations = workbook.relations_of(&main)?;
    if let Some(part) = workbook.part_of_type(&relations, "/styles")? {
        workbook.styles = XlsxStyles::parse(&xml_text(&part))?;
    }
    if let Some(part) = workbook.part_of_type(&relations, "/sharedStrings")? {
        workbook.strings = SharedStrings::parse(&xml_text(&part))?;
    }
    for sheet in &sheets {
        workbook.read_sheet(sheet, &relations, writer)?;
    }
    Ok(())
}

/// Whether the file is a compound file with a workbook in it, as Excel 97 wrote them, and not one
/// that hides a package behind a password.
fn is_old_workbook(bytes: &[u8]) -> bool {
    let utf16 = |name: &str| name.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let has = |name: &str| {
        let name = utf16(name);
        bytes.windows(name.len()).any(|window| window == name)
    };
    bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0])
        && !has("EncryptedPackage")
        && (has("Workbook") || has("Book"))
}

impl Workbook<'_> {
    /// The name of a part, however its letters are written.
    fn name_of(&self, name: &str) -> String {
        let found = self.names.get(&name.to_lowercase());
        found.cloned().unwrap_or_else(|| name.to_owned())
    }

    fn part(&self, name: &str) -> Result<Option<Vec<u8>>, ConvertError> {
        self.package.part(&self.name_of(name))
    }

    fn part_of_type(
        &self,
        relations: &Relations,
        kind: &str,
    ) -> Result<Option<Vec<u8>>, ConvertError> {
        relations.of_type(kind).map_or(Ok(None), |name| self.part(&name))
    }

    fn relations_of(&self, name: &str) -> Result<Relations, ConvertError> {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let slash = if folder.is_empty() { "" } else { "/" };
        let Some(part) = self.part(&format!("{folder}{slash}_rels/{file}.rels"))? else {
            return Ok(Relations::default());
        };
        relations(&xml_text(&part), folder)
    }

    /// The list of sheets, in the order of their tabs.
    fn read_list(&mut self, content: &[u8]) -> Result<Vec<SheetEntry>, ConvertError> {
        let text = xml_text(content);
        let mut reader = XmlPartReader::new(&text);
        let mut sheets = Vec::new();
        while let Some(event) = reader.next()? {
            let XmlEvent::Start(start) = event else { continue };
            match start.name() {
                "workbookPr" => self.is_1904 = start.is_set("date1904"),
                "sheet" => {
                    let state = start.attribute("state");
                    sheets.push(SheetEntry {
                        name: start.attribute("name").unwrap_or_default(),
                        is_hidden: matches!(state.as_deref(), Some("hidden" | "veryHidden")),
                        relation: start.attribute("id").unwrap_or_default(),
                    });
                }
                _ => {}
            }
            if sheets.len() > MAX_SHEETS {
                return Err(ConvertError::over_limit(format!(
                    "the workbook has over {MAX_SHEETS} sheets"
                )));
            }
        }
        Ok(sheets)
    }

    fn read_sheet(
        &self,
        sheet: &SheetEntry,
        relations: &Relations,
        writer: &mut dyn SheetWriter,
    ) -> Result<(), ConvertError> {
        writer.start_sheet(&sheet.name, sheet.is_hidden);
        let target = relations.of_id(&sheet.relation);
        let Some(name) = target.map(|relation| relation.target.clone()) else {
            writer.lose(format!("the sheet {:?} has no content in the workbook", sheet.name));
            writer.end_sheet(&SheetExtras::default());
            return Ok(());
        };
        let Some(part) = self.part(&name)? else {
            return Err(ConvertError::damaged(format!("the document has no part {name:?}")));
        };
        let text = xml_text(&part);
        let mut extras = XlsxExtras::read(self, &name, &text)?;
        let mut rows = XlsxRows::new(self, &mut extras);
        rows.read(&text, writer)?;
        rows.say_losses(&sheet.name, writer);
        for sentence in std::mem::take(&mut extras.losses) {
            writer.lose(format!("sheet {:?}: {sentence}", sheet.name));
        }
        writer.end_sheet(&extras.finish());
        Ok(())
    }
}
