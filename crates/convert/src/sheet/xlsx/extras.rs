//! What a sheet of Excel has beside its cells: merged ranges, links, comments, tables, shapes.

use std::collections::HashMap;

use super::super::grid::{
    CellNote, MAX_COLUMNS, SheetExtras, cell_address, column_letters, parse_address, parse_range,
};
use super::super::merged_cells::MergedCells;
use super::Workbook;
use super::drawing::{chart_title, read_shapes};
use super::page_header::header_text;
use super::parts::{Relations, rich_text};
use crate::conversion::counted;
use crate::error::ConvertError;
use crate::xml_reader::{XmlElement, XmlEvent, XmlPartReader, xml_text};

/// The start of the text that Excel writes for programs that know no threads of comments.
const THREAD_STAND_IN: &str = "[Threaded comment]";

/// What a sheet has beside its cells, while its rows are read.
#[derive(Debug, Default)]
pub(super) struct XlsxExtras {
    pub(super) merged: MergedCells,
    /// Links and comments that no row has taken yet.
    pub(super) links: HashMap<(u32, u32), String>,
    pub(super) notes: HashMap<(u32, u32), Vec<CellNote>>,
    pub(super) losses: Vec<String>,
    hidden_rows: Vec<(u32, u32)>,
    sheet: SheetExtras,
}

impl XlsxExtras {
    /// Reads what stands after the cells of the sheet at `name`, and the parts it refers to.
    pub(super) fn read(
        workbook: &Workbook<'_>,
        name: &str,
        text: &str,
    ) -> Result<Self, ConvertError> {
        let relations = workbook.relations_of(name)?;
        let mut extras = Self::default();
        extras.read_tail(text, &relations);
        extras.read_comments(workbook, &relations)?;
        for table in relations.all_of_type("/table") {
            let Some(part) = workbook.part(table)? else { continue };
            let text = xml_text(&part);
            if let Some(XmlEvent::Start(start)) = XmlPartReader::new(&text).next()? {
                let name = start.attribute("displayName").or_else(|| start.attribute("name"));
                let range = start.attribute("ref").unwrap_or_default();
                extras.sheet.tables.push((name.unwrap_or_default(), range));
            }
        }
        for drawing in relations.all_of_type("/drawing") {
            extras.read_drawing(workbook, drawing)?;
        }
        Ok(extras)
    }

    /// Reads merged ranges and links. They stand after the cells, and what is broken there is
    /// found again when the cells are read.
    fn read_tail(&mut self, text: &str, relations: &Relations) {
        let end = text.rfind("sheetData>").or_else(|| text.rfind("sheetData/>"));
        let Some(tail) = end.and_then(|end| text.get(end + "sheetData>".len()..)) else { return };
        let mut reader = XmlPartReader::of_piece(tail);
        let mut ranges = Vec::new();
        while let Ok(Some(event)) = reader.next() {
            let XmlEvent::Start(start) = event else { continue };
            match start.name() {
                "mergeCell" => {
                    let range = start.attribute("ref").unwrap_or_default();
                    if let Some(parsed) = parse_range(&range) {
                        ranges.push(parsed);
                        self.sheet.merged.push(range);
                    }
                }
                "hyperlink" => self.add_link(&start, relations),
                name @ ("oddHeader" | "firstHeader" | "oddFooter" | "firstFooter") => {
                    let word = if name.ends_with("Header") { "Page header" } else { "Page footer" };
                    let text = reader.text().map(|code| header_text(&code)).unwrap_or_default();
                    let line = format!("{word}: {text}");
                    if text.chars().any(char::is_alphanumeric) && !self.sheet.shapes.contains(&line)
                    {
                        self.sheet.shapes.push(line);
                    }
                }
                _ => {}
            }
        }
        self.merged = MergedCells::new(ranges);
    }

    fn add_link(&mut self, start: &XmlElement<'_>, relations: &Relations) {
        let range = start.attribute("ref").and_then(|range| parse_range(&range));
        let outside = start.attribute("id").and_then(|id| relations.of_id(&id));
        let outside = outside.map(|relation| relation.target.clone());
        let inside = start.attribute("location").map(|place| format!("#{place}"));
        let link = match (outside, inside) {
            (Some(outside), Some(inside)) => Some(outside + &inside),
            (outside, inside) => outside.or(inside),
        };
        if let (Some([first, _]), Some(link)) = (range, link.filter(|link| !runs_code(link))) {
            self.links.insert(first, link);
        }
    }

    fn read_comments(
        &mut self,
        workbook: &Workbook<'_>,
        relations: &Relations,
    ) -> Result<(), ConvertError> {
        let persons = self.persons(workbook)?;
        for threads in relations.all_of_type("/threadedComment") {
            let Some(part) = workbook.part(threads)? else { continue };
            self.read_notes(&xml_text(&part), "threadedComment", persons.clone())?;
        }
        for comments in relations.all_of_type("/comments") {
            let Some(part) = workbook.part(comments)? else { continue };
            self.read_notes(&xml_text(&part), "comment", HashMap::new())?;
        }
        Ok(())
    }

    /// The names of the people who wrote in threads, by their ids.
    fn persons(&self, workbook: &Workbook<'_>) -> Result<HashMap<String, String>, ConvertError> {
        let mut persons = HashMap::new();
        let parts = workbook.names.iter().filter(|name| name.0.starts_with("xl/persons/"));
        for (_, name) in parts {
            let Some(part) = workbook.part(name)? else { continue };
            let text = xml_text(&part);
            let mut reader = XmlPartReader::new(&text);
            while let Some(event) = reader.next()? {
                if let XmlEvent::Start(start) = event
                    && start.name() == "person"
                {
                    persons.extend(start.attribute("id").zip(start.attribute("displayName")));
                }
            }
        }
        Ok(persons)
    }

    fn read_notes(
        &mut self,
        text: &str,
        element: &str,
        mut authors: HashMap<String, String>,
    ) -> Result<(), ConvertError> {
        let mut reader = XmlPartReader::new(text);
        let mut author_count = 0;
        while let Some(event) = reader.next()? {
            let XmlEvent::Start(start) = event else { continue };
            if start.name() == "author" {
                authors.insert(author_count.to_string(), reader.text()?);
                author_count += 1;
            }
            if start.name() != element {
                continue;
            }
            let place = start.attribute("ref").and_then(|address| parse_address(&address));
            let author = start.attribute("authorId").or_else(|| start.attribute("personId"));
            let author = author.and_then(|id| authors.get(&id)).cloned().unwrap_or_default();
            let text = match element {
                "comment" => rich_text(&mut reader)?,
                _ => reader.text()?,
            };
            // Excel puts the author into the text too.
            let signed = text.trim().strip_prefix(&author);
            let unsigned = signed.and_then(|rest| rest.strip_prefix(':'));
            let text = unsigned.filter(|_| !author.is_empty()).unwrap_or(&text).trim();
            self.add_note(place, CellNote { text: text.to_owned(), author });
        }
        Ok(())
    }

    /// Reads the texts of shapes, the descriptions of pictures and the titles of charts.
    fn read_drawing(&mut self, workbook: &Workbook<'_>, name: &str) -> Result<(), ConvertError> {
        let Some(part) = workbook.part(name)? else { return Ok(()) };
        let relations = workbook.relations_of(name)?;
        let drawing = read_shapes(&xml_text(&part))?;
        self.sheet.shapes.extend(drawing.texts);
        let charts: Vec<_> = relations.all_of_type("/chart").collect();
        for chart in &charts {
            let Some(part) = workbook.part(chart)? else { continue };
            let title = chart_title(&xml_text(&part))?;
            if !title.is_empty() {
                self.sheet.shapes.push(format!("Chart: {title}"));
            }
        }
        let charts = (charts.len(), "chart is not shown", "charts are not shown");
        let pictures = (drawing.pictures, "picture is not shown", "pictures are not shown");
        for (count, one, several) in [charts, pictures].into_iter().filter(|row| row.0 > 0) {
            self.losses.push(counted(count, one, several));
        }
        Ok(())
    }

    pub(super) fn hide_columns(&mut self, start: &XmlElement<'_>) {
        let first = start.number::<u32>("min").unwrap_or(0);
        let last = start.number::<u32>("max").unwrap_or(first).min(MAX_COLUMNS);
        if (1..=last).contains(&first) {
            let letters = [first, last].map(|column| column_letters(column - 1));
            self.sheet.hidden_columns.push(range_of(&letters));
        }
    }

    pub(super) fn hide_row(&mut self, row: u32) {
        match self.hidden_rows.last_mut() {
            Some(range) if range.1 + 1 == row => range.1 = row,
            _ => self.hidden_rows.push((row, row)),
        }
    }

    /// What is left when all rows are read.
    pub(super) fn finish(mut self) -> SheetExtras {
        let mut left: Vec<_> = self.notes.into_iter().collect();
        left.sort_unstable_by_key(|note| note.0);
        for ((row, column), notes) in left {
            let address = cell_address(row, column);
            self.sheet.notes.extend(notes.into_iter().map(|note| (address.clone(), note)));
        }
        let rows = self.hidden_rows.iter();
        let rows = rows.map(|(first, last)| [first, last].map(|row| (row + 1).to_string()));
        self.sheet.hidden_rows = rows.map(|ends| range_of(&ends)).collect();
        self.sheet
    }

    fn add_note(&mut self, place: Option<(u32, u32)>, note: CellNote) {
        if note.text.is_empty() || note.text.starts_with(THREAD_STAND_IN) {
            return;
        }
        if let Some(place) = place {
            self.notes.entry(place).or_default().push(note);
        }
    }
}

/// A range by its ends; one place is named once.
fn range_of(ends: &[String; 2]) -> String {
    if ends[0] == ends[1] { ends[0].clone() } else { ends.join(":") }
}

/// Whether a link would run code, or is content itself.
fn runs_code(link: &str) -> bool {
    let scheme = link.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(scheme.as_str(), "javascript" | "vbscript" | "data")
}
