//! Tests of the converter of spreadsheets, on small workbooks.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{
    Conversion, ConvertError, ConvertErrorKind, Document, DocumentKind, Form, Options, convert,
};

const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn relations(rows: &[(&str, &str, &str)]) -> String {
    let rows = rows.iter().map(|(id, kind, target)| {
        let mode = if target.starts_with("http") { "External" } else { "Internal" };
        format!(
            "<Relationship Id='{id}' Type='{TYPES}/{kind}' Target='{target}' TargetMode='{mode}'/>"
        )
    });
    format!("<Relationships>{}</Relationships>", rows.collect::<String>())
}

/// A workbook with a sheet and a hidden one, and more parts.
fn workbook(sheet: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let root = relations(&[("r", "officeDocument", "xl/workbook.xml")]);
    let list = relations(&[
        ("r1", "worksheet", "worksheets/sheet1.xml"),
        ("r2", "worksheet", "/xl/worksheets/sheet2.xml"),
        ("r3", "styles", "styles.xml"),
        ("r4", "sharedStrings", "sharedStrings.xml"),
    ]);
    let mut parts = vec![
        ("_rels/.rels", root.as_str()),
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='First' sheetId='1' r:id='r1'/>\
             <sheet name='Second' sheetId='2' r:id='r2' state='hidden'/></sheets></workbook>",
        ),
        ("xl/_rels/workbook.xml.rels", list.as_str()),
        (
            "xl/styles.xml",
            "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='#,##0\"円\"'/></numFmts>\
             <cellStyleXfs><xf numFmtId='9'/></cellStyleXfs>\
             <cellXfs><xf numFmtId='0'/><xf numFmtId='14'/><xf numFmtId='164'/><xf numFmtId='10'/>\
             </cellXfs></styleSheet>",
        ),
        ("xl/sharedStrings.xml", "<sst><si><t>shared</t></si></sst>"),
        ("xl/worksheets/sheet1.xml", sheet),
        (
            "xl/worksheets/sheet2.xml",
            "<worksheet><sheetData><row r='1'><c r='A1' t='inlineStr'><is><t>secret</t></is></c>\
             </row></sheetData></worksheet>",
        ),
    ];
    parts.extend_from_slice(more);
    package(&parts)
}

fn rows(rows: &str) -> String {
    format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")
}

fn converted(kind: DocumentKind, bytes: &[u8], form: Form) -> Result<Conversion, ConvertError> {
    let options = Options { max_table_rows: 4, max_table_columns: 3, ..Options::default() };
    convert(&Document { kind, bytes, name: "", options: &options }, form)
}

fn first_sheet(bytes: &[u8], form: Form) -> String {
    let converted = converted(DocumentKind::Xlsx, bytes, form).unwrap();
    String::from_utf8(converted.section(0).unwrap().to_vec()).unwrap()
}

#[test]
fn values_are_given_as_they_are_shown() {
    let sheet = rows(
        "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' s='1'><v>45352</v></c>\
         <c r='C1' s='2'><v>1500</v></c></row>\
         <row r='2'><c r='A2' s='3'><v>0.5</v></c><c r='B2' t='b'><v>1</v></c>\
         <c r='C2' t='e'><v>#N/A</v></c></row>\
         <row r='3'><c r='A3' t='d'><v>2024-03-01</v></c><c t='str'><f>A1</f><v>x</v></c></row>",
    );
    let bytes = workbook(&sheet, &[]);
    assert_eq!(
        first_sheet(&bytes, Form::Markdown),
        "## First\n\n| shared | 2024-03-01 | 1,500円 |\n| --- | --- | --- |\n\
         | 50.00% | TRUE | #N/A |\n| 2024-03-01 | x (=A1) |  |\n\n"
    );
    assert_eq!(
        first_sheet(&bytes, Form::Csv),
        "shared,2024-03-01,\"1,500円\"\n50.00%,TRUE,#N/A\n2024-03-01,x,\n"
    );
    let json = converted(DocumentKind::Xlsx, &bytes, Form::Json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.body).unwrap();
    let expected = serde_json::json!({
        "name": "First", "hidden": false, "formulas": {"B3": "=A1"},
        "rows": [["shared", "2024-03-01", 1500], [0.5, true, "#N/A"], ["2024-03-01", "x"]],
    });
    assert_eq!(json["sheets"][0], expected);
    assert_eq!(json["complete"], true);
}

#[test]
fn a_hidden_sheet_is_given_and_marked() {
    let bytes = workbook(&rows(""), &[]);
    let converted = converted(DocumentKind::Xlsx, &bytes, Form::Markdown).unwrap();
    let sections: Vec<_> =
        converted.sections.iter().map(|one| (one.title.as_deref(), one.is_hidden)).collect();
    assert_eq!(sections, [(Some("First"), false), (Some("Second"), true)]);
    let text = String::from_utf8(converted.body).unwrap();
    assert_eq!(
        text,
        "## First\n\n*The sheet is empty*\n\n## Second (hidden)\n\n| secret |\n| --- |\n"
    );
}

#[test]
fn a_formula_without_a_value_is_given_instead_of_it() {
    let sheet = rows("<row r='1'><c r='A1'><f>SUM(B1:B3)</f><v></v></c></row>");
    let bytes = workbook(&sheet, &[]);
    assert!(first_sheet(&bytes, Form::Markdown).contains("| =SUM(B1:B3) |"));
    assert_eq!(first_sheet(&bytes, Form::Csv), "=SUM(B1:B3)\n");
    let losses = converted(DocumentKind::Xlsx, &bytes, Form::Markdown).unwrap().losses;
    assert_eq!(losses.len(), 1);
}

#[test]
fn a_shared_formula_moves_with_its_cell() {
    let sheet = rows(
        "<row r='1'><c r='A1'><f t='shared' ref='A1:A2' si='0'>B1*$C$1</f><v>1</v></c></row>\
         <row r='2'><c r='A2'><f t='shared' si='0'/><v>2</v></c></row>",
    );
    assert!(first_sheet(&workbook(&sheet, &[]), Form::Markdown).contains("| 2 (=B2\\*$C$1) |"));
}

#[test]
fn merged_cells_have_their_text_once() {
    let sheet = "<worksheet><sheetData><row r='1'><c r='A1'><v>1</v></c><c r='B1'><v>2</v></c></row>\
                 </sheetData><mergeCells><mergeCell ref='A1:B1'/></mergeCells></worksheet>";
    let bytes = workbook(sheet, &[]);
    assert_eq!(first_sheet(&bytes, Form::Csv), "1\n");
    let json = converted(DocumentKind::Xlsx, &bytes, Form::Json).unwrap();
    assert!(String::from_utf8(json.body).unwrap().contains("\"merged\":[\"A1:B1\"]"));
}

#[test]
fn comments_links_tables_and_shapes_are_given() {
    let sheet = "<worksheet><cols><col min='2' max='3' hidden='1'/></cols><sheetData>\
                 <row r='1' hidden='1'><c r='A1'><v>7</v></c></row></sheetData>\
                 <hyperlinks><hyperlink ref='A1' r:id='l'/></hyperlinks>\
                 <headerFooter><oddHeader>&amp;CTop</oddHeader></headerFooter></worksheet>";
    let links = relations(&[
        ("l", "hyperlink", "https://example.org/a(b)"),
        ("c", "comments", "../comments1.xml"),
        ("t", "table", "../tables/table1.xml"),
        ("d", "drawing", "../drawings/drawing1.xml"),
    ]);
    let more = [
        ("xl/worksheets/_rels/sheet1.xml.rels", links.as_str()),
        (
            "xl/comments1.xml",
            "<comments><authors><author>Ann</author></authors><commentList>\
             <comment ref='A1' authorId='0'><text><r><t>Ann:</t></r><r><t>\nlook</t></r></text></comment>\
             <comment ref='B9' authorId='0'><text><t>far</t></text></comment></commentList></comments>",
        ),
        ("xl/tables/table1.xml", "<table displayName='Totals' ref='A1:A1'/>"),
        (
            "xl/drawings/drawing1.xml",
            "<wsDr><sp><txBody><p><r><t>In a box</t></r></p></txBody></sp></wsDr>",
        ),
    ];
    assert_eq!(
        first_sheet(&workbook(sheet, &more), Form::Markdown),
        "## First\n\n| [7](https://example.org/a%28b%29)[^1] |\n| --- |\n\nTable Totals: A1:A1\n\n\
         Hidden columns: B:C\n\nHidden rows: 1\n\nPage header: Top\n\nIn a box\n\n[^1]: A1, Ann: look\n\n\
         [^2]: B9, Ann: far\n\n"
    );
}

#[test]
fn blocks_far_from_each_other_are_tables_of_their_own() {
    let sheet = rows(
        "<row r='2'><c r='B2'><v>1</v></c></row><row r='4'><c r='C4'><v>2</v></c></row>\
         <row r='9'><c r='A9'><v>3</v></c></row>",
    );
    assert_eq!(
        first_sheet(&workbook(&sheet, &[]), Form::Markdown),
        "## First\n\nCells B2:C4:\n\n| 1 |  |\n| --- | --- |\n|  |  |\n|  | 2 |\n\n\
         Cells A9:A9:\n\n| 3 |\n| --- |\n\n"
    );
}

#[test]
fn a_long_and_wide_sheet_says_what_it_leaves_out() {
    let cells = "<c><v>1</v></c>".repeat(5);
    let sheet = rows(&format!("<row>{cells}</row>").repeat(9));
    let text = first_sheet(&workbook(&sheet, &[]), Form::Markdown);
    assert_eq!(text.lines().filter(|line| line.starts_with("| 1 |")).count(), 5);
    assert!(text.contains("*2 more columns are left out*"), "{text}");
    assert!(text.contains("*4 more rows are left out*"), "{text}");
}

#[test]
fn one_cell_in_the_last_corner_is_cheap() {
    let sheet = "<worksheet><dimension ref='A1:XFD1048576'/><sheetData><row r='1048576'>\
                 <c r='XFD1048576'><v>1</v></c></row></sheetData></worksheet>";
    let bytes = workbook(sheet, &[]);
    assert!(first_sheet(&bytes, Form::Markdown).contains("Cells XFD1048576:XFD1048576"));
    assert!(first_sheet(&bytes, Form::Csv).len() < 2_000_000);
}

#[test]
fn a_text_that_is_not_there_is_a_loss() {
    let bytes = workbook(&rows("<row><c t='s'><v>99</v></c></row>"), &[]);
    let converted = converted(DocumentKind::Xlsx, &bytes, Form::Markdown).unwrap();
    let expected = "sheet \"First\": 1 cell refers to a text that the workbook does not have";
    assert_eq!(converted.losses, [expected]);
}

#[test]
fn a_password_an_old_format_and_a_cut_are_told_apart() {
    let kind =
        |bytes: &[u8]| converted(DocumentKind::Xlsx, bytes, Form::Markdown).unwrap_err().kind;
    let compound = |name: &str| {
        let mut bytes = vec![0xD0, 0xCF, 0x11, 0xE0];
        bytes.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
        bytes
    };
    assert_eq!(kind(&compound("EncryptedPackage")), ConvertErrorKind::Protected);
    assert_eq!(kind(&compound("Workbook")), ConvertErrorKind::Unsupported);
    let bytes = workbook(&rows(""), &[]);
    assert_eq!(kind(&bytes[..bytes.len() / 2]), ConvertErrorKind::Damaged);
    assert_eq!(kind(&workbook("<worksheet><sheetData>", &[])), ConvertErrorKind::Damaged);
}

fn open_document(table: &str) -> Vec<u8> {
    let content = format!(
        "<document-content><automatic-styles><style name='ta1'><table-properties display='true'/>\
         </style><style name='ta2'><table-properties display='false'/></style></automatic-styles>\
         <body><spreadsheet>{table}</spreadsheet></body></document-content>"
    );
    package(&[("mimetype", DocumentKind::Ods.mime()), ("content.xml", &content)])
}

#[test]
fn an_open_document_sheet_is_read() {
    let bytes = open_document(
        "<table name='表' style-name='ta2'><table-row>\
         <table-cell value-type='currency' value='1200'><p>¥1,200</p></table-cell>\
         <table-cell value-type='date' date-value='2024-03-01'><p>1.3.24</p></table-cell>\
         <table-cell value-type='time' time-value='PT09H05M00S'><p>9:05</p></table-cell></table-row>\
         <table-row><table-cell formula='of:=[.A1]*2' number-columns-spanned='2'/>\
         <covered-table-cell><p>under</p></covered-table-cell>\
         <table-cell value-type='string'><p><ruby><ruby-base>漢字</ruby-base><ruby-text>かんじ</ruby-text>\
         </ruby><s c='2'/>x</p><p>y</p><annotation><creator>Ann</creator><p>look</p></annotation>\
         </table-cell></table-row></table>",
    );
    let converted = converted(DocumentKind::Ods, &bytes, Form::Markdown).unwrap();
    assert_eq!(
        String::from_utf8(converted.body).unwrap(),
        "## 表 (hidden)\n\n| ¥1,200 | 2024-03-01 | 09:05:00 |\n| --- | --- | --- |\n\
         | =A1\\*2 |  | 漢字(かんじ)  x<br>y[^1] |\n\n[^1]: C2, Ann: look\n"
    );
    assert!(converted.sections[0].is_hidden);
    assert_eq!(converted.losses.len(), 1);
}

#[test]
fn repeated_rows_and_cells_are_never_written_out() {
    let cell = "<table-cell value-type='float' value='1' number-columns-repeated='4294967295'/>";
    let row = format!("<table-row number-rows-repeated='1048576'>{cell}</table-row>");
    let bytes = open_document(&format!("<table name='x'>{}</table>", row.repeat(100)));
    let converted = converted(DocumentKind::Ods, &bytes, Form::Markdown).unwrap();
    let text = String::from_utf8(converted.body).unwrap();
    assert!(text.contains("*16381 more columns are left out*"), "{text}");
    assert!(text.contains("*1048571 more rows are left out*"), "{text}");
    let empty = "<table-row number-rows-repeated='1048576'><table-cell number-columns-repeated='16384'/></table-row>";
    let bytes = open_document(&format!("<table name='x'>{empty}</table>"));
    let csv = super::super::convert(
        &Document {
            kind: DocumentKind::Ods,
            bytes: &bytes,
            name: "",
            options: &Options::default(),
        },
        Form::Csv,
    );
    assert_eq!(csv.unwrap().body, b"");
}

#[test]
fn a_protected_open_document_is_protected() {
    let manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>";
    let bytes = package(&[("META-INF/manifest.xml", manifest), ("content.xml", "\u{1}")]);
    let error = converted(DocumentKind::Ods, &bytes, Form::Markdown).unwrap_err();
    assert_eq!(error.kind, ConvertErrorKind::Protected);
}

#[test]
fn one_long_text_in_all_cells_stays_bounded() {
    let text = "x".repeat(200 << 10);
    let strings = format!("<sst><si><t>{text}</t></si></sst>");
    let cells = "<c t='s'><v>0</v></c>".repeat(1_000);
    let sheet = rows(&format!("<row>{cells}</row>"));
    let list = relations(&[
        ("r1", "worksheet", "worksheets/sheet1.xml"),
        ("r4", "sharedStrings", "sharedStrings.xml"),
    ]);
    let root = relations(&[("r", "officeDocument", "xl/workbook.xml")]);
    let book = "<workbook><sheets><sheet name='First' r:id='r1'/></sheets></workbook>";
    let bytes = package(&[
        ("_rels/.rels", &root),
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", &list),
        ("xl/sharedStrings.xml", &strings),
        ("xl/worksheets/sheet1.xml", &sheet),
    ]);
    let options = Options { max_output_bytes: 20 << 20, ..Options::default() };
    for form in [Form::Markdown, Form::Csv] {
        let document =
            Document { kind: DocumentKind::Xlsx, bytes: &bytes, name: "", options: &options };
        let converted = convert(&document, form).unwrap();
        assert!(converted.body.len() < 20 << 20, "{form:?} has {} bytes", converted.body.len());
        assert!(!converted.losses.is_empty());
    }
}

#[test]
fn a_repeated_row_has_its_comments_once() {
    let bytes = open_document(
        "<table name='x'><table-row number-rows-repeated='3'><table-cell value-type='string'><p>a</p>\
         <annotation><p>note</p></annotation></table-cell></table-row></table>",
    );
    let converted = converted(DocumentKind::Ods, &bytes, Form::Markdown).unwrap();
    let text = String::from_utf8(converted.body).unwrap();
    assert_eq!(text.matches("[^1]:").count(), 1);
    assert!(!text.contains("[^2]"));
}

#[test]
fn texts_over_an_open_document_sheet_are_given_and_pictures_are_a_loss() {
    let bytes = open_document(
        "<table name='x'><shapes><frame><text-box><p>In a box</p></text-box></frame></shapes>\
         <table-row><table-cell><frame><image/><desc>A hill</desc></frame></table-cell></table-row></table>",
    );
    let converted = converted(DocumentKind::Ods, &bytes, Form::Markdown).unwrap();
    let text = String::from_utf8(converted.body).unwrap();
    assert_eq!(text, "## x\n\nIn a box\n\nA hill\n");
    assert_eq!(converted.losses, ["sheet \"x\": 1 picture or chart is not shown"]);
}
