//! Tests of how documents are given by settings: where, in which forms, within which limits.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::documents::{document, png_of_size, text_cell, workbook};

use crate::fake_server::{Era, FakeRequest, FakeResponse, FakeServer, TransportKind};
use crate::program::{StdioProgram, refdesk};

const ACCEPT: &str = "dev.refdesk/accept";
const FORMATS: &str = "dev.refdesk/formats";

const MOUNT: &str = "[mounts.app]\nkind = \"fs\"\npath = \"app\"\nindex = false\n";

fn folder() -> TempDir {
    let home = TempDir::with_prefix("settings").unwrap();
    let app = home.path().join("app");
    fs::create_dir(&app).unwrap();
    let cells: String = (1..=5)
        .map(|row| {
            let cell =
                |column| text_cell(&format!("{column}{row}"), &format!("cell {column}{row}"));
            format!("<row r='{row}'>{}{}{}</row>", cell('A'), cell('B'), cell('C'))
        })
        .collect();
    fs::write(app.join("plan.xlsx"), workbook("Costs", &cells)).unwrap();
    fs::write(app.join("deck.pptx"), document("pptx", "Harbours")).unwrap();
    fs::write(app.join("photo.png"), png_of_size(64, &positioned_exif())).unwrap();
    fs::write(app.join("page.html"), "<h1>Harbours</h1>").unwrap();
    home
}

/// EXIF with a position: 10 degrees north, 20 degrees east.
fn positioned_exif() -> Vec<u8> {
    let entry = |tag: u16, kind: u16, count: u32, value: [u8; 4]| {
        let mut entry = Vec::new();
        entry.extend(tag.to_le_bytes());
        entry.extend(kind.to_le_bytes());
        entry.extend(count.to_le_bytes());
        entry.extend(value);
        entry
    };
    let degrees = |whole: u32| [whole, 1, 0, 1, 0, 1].map(u32::to_le_bytes).concat();
    let mut exif = b"II*\0\x08\0\0\0\x01\0".to_vec();
    exif.extend(entry(0x8825, 4, 1, 26_u32.to_le_bytes()));
    exif.extend([0; 4]);
    exif.extend(4_u16.to_le_bytes());
    exif.extend(entry(1, 2, 2, *b"N\0\0\0"));
    exif.extend(entry(2, 5, 3, 80_u32.to_le_bytes()));
    exif.extend(entry(3, 2, 2, *b"E\0\0\0"));
    exif.extend(entry(4, 5, 3, 104_u32.to_le_bytes()));
    exif.extend([0; 4]);
    exif.extend(degrees(10));
    exif.extend(degrees(20));
    exif
}

fn start(home: &Path, settings: &str) -> StdioProgram {
    fs::write(home.join("refdesk.toml"), settings).unwrap();
    StdioProgram::start(refdesk(home, &["serve", "--stdio"]))
}

fn form(desk: &mut StdioProgram, uri: &str, mime: &str) -> Value {
    let meta = json!({ ACCEPT: [mime] });
    desk.request("resources/read", json!({ "uri": uri, "_meta": meta }))
}

fn text_of(answer: &Value) -> &str {
    let text = &answer["result"]["contents"][0]["text"];
    text.as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn kept_forms(home: &Path) -> usize {
    fs::read_dir(home.join(".cache/refdesk/forms")).map_or(0, Iterator::count)
}

/// Width and height in the header of a PNG.
fn size_of_png(answer: &Value) -> (u32, u32) {
    let blob =
        answer["result"]["contents"][0]["blob"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let bytes = base64_simd::STANDARD.decode_to_vec(blob).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn the_settings_of_conversions_change_what_they_give() {
    let home = folder();
    let plan = "file:///app/plan.xlsx";
    let photo = "file:///app/photo.png";
    let usual = |home: &Path| {
        let mut desk = start(home, MOUNT);
        let table = form(&mut desk, plan, "text/markdown");
        assert!(text_of(&table).contains("cell C5"), "{table}");
        let small = size_of_png(&form(&mut desk, photo, "image/png;variant=thumbnail"));
        let words = form(&mut desk, photo, "text/plain");
        assert!(!text_of(&words).contains("20"), "no position: {words}");
        (small, kept_forms(home))
    };
    assert_eq!(usual(home.path()), ((64, 64), 3));
    let render = "[render]\ntable_rows = 2\ntable_columns = 2\nthumbnail = 16\nposition = true\n";
    let mut desk = start(home.path(), &format!("{MOUNT}{render}"));
    let table = form(&mut desk, plan, "text/markdown");
    let table = text_of(&table);
    assert!(table.contains("cell B3") && !table.contains("cell C"), "{table}");
    assert!(!table.contains("cell A4") && table.contains("2 more rows are left out"), "{table}");
    let small = size_of_png(&form(&mut desk, photo, "image/png;variant=thumbnail"));
    assert_eq!(small, (16, 16));
    let words = form(&mut desk, photo, "text/plain");
    assert!(text_of(&words).contains("10") && text_of(&words).contains("20"), "{words}");
}

#[test]
fn without_a_cache_nothing_is_written() {
    let home = folder();
    let mut desk = start(home.path(), &format!("{MOUNT}[render]\ncache = false\n"));
    text_of(&form(&mut desk, "file:///app/plan.xlsx", "text/markdown"));
    assert_eq!(kept_forms(home.path()), 0);
}

#[test]
fn the_formats_of_a_mount_are_what_a_plain_reading_gives() {
    let home = folder();
    let mut desk = start(home.path(), &format!("{MOUNT}formats = [\"text/markdown\"]\n"));
    for name in ["plan.xlsx", "page.html"] {
        let uri = format!("file:///app/{name}");
        let whole = desk.request("resources/read", json!({ "uri": uri }));
        let contents = whole["result"]["contents"].as_array().unwrap();
        assert_eq!((contents.len(), &contents[0]["mimeType"]), (1, &json!("text/markdown")));
    }
    let broken = start(home.path(), &format!("{MOUNT}formats = [\"nonsense\"]\n")).close();
    assert!(!broken.0, "a format that is none is refused");
}

#[test]
fn a_mount_without_rendering_gives_documents_as_they_are() {
    let home = folder();
    let mut desk = start(home.path(), &format!("{MOUNT}render = false\n"));
    let uri = "file:///app/plan.xlsx";
    let metadata = desk.request("resources/metadata", json!({ "uri": uri }));
    assert!(metadata["result"]["resource"]["_meta"][FORMATS].is_null(), "{metadata}");
    let whole = desk.request("resources/read", json!({ "uri": uri }));
    assert_eq!(whole["result"]["contents"].as_array().map(Vec::len), Some(1), "{whole}");
    let refused = form(&mut desk, uri, "text/markdown");
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

/// A server that knows no forms, with a page and a table.
fn plain_server() -> FakeServer {
    let answer = |request: &FakeRequest<'_>| match request.method {
        "resources/list" => FakeResponse::Result(json!({ "resources": [
            { "uri": "far:///page.html", "name": "page", "mimeType": "text/html" },
            { "uri": "far:///table.csv", "name": "table", "mimeType": "text/csv" },
        ] })),
        "resources/read" => {
            let uri = request.params["uri"].clone();
            let is_page = uri == "far:///page.html";
            let (mime, text) = match is_page {
                true => ("text/html", "<h1>Harbours</h1><script>x()</script>"),
                false => ("text/csv", "name,price\n茶,120\n"),
            };
            let part = json!({ "uri": uri, "mimeType": mime, "text": text });
            FakeResponse::Result(json!({ "contents": [part] }))
        }
        _ => FakeResponse::Error(-32601, "no such method"),
    };
    FakeServer::start(Era::Modern, TransportKind::Pipe, answer)
}

#[test]
fn documents_of_another_server_are_converted_only_if_the_settings_say_so_and_never_kept() {
    let home = folder();
    let uri = "far:///page.html";
    for (more, is_rendered) in [("", false), ("render = false", false), ("render = true", true)] {
        let server = plain_server();
        let mut desk = start(home.path(), &server.mount("far", more));
        let listed = desk.request("resources/list", json!({}));
        let rows = listed["result"]["resources"].as_array().unwrap();
        let row =
            rows.iter().find(|row| row["name"] == "page").unwrap_or_else(|| panic!("{listed}"));
        let public = row["uri"].as_str().unwrap().to_owned();
        assert!(public.ends_with(uri), "{public}");
        assert_eq!(row["_meta"][FORMATS].is_array(), is_rendered, "{more} {row}");
        let markdown = form(&mut desk, &public, "text/markdown");
        match is_rendered {
            true => assert_eq!(text_of(&markdown).trim(), "# Harbours"),
            false => assert_eq!(markdown["error"]["code"], -32602, "{more} {markdown}"),
        }
        let table = form(&mut desk, &public.replace("page.html", "table.csv"), "application/json");
        assert_eq!(table["result"].is_object(), is_rendered, "{more} {table}");
        assert_eq!(kept_forms(home.path()), 0, "what another server gave may be for one client");
    }
}

#[test]
fn a_model_names_sheets_slides_and_several_formats() {
    let home = folder();
    let mut desk = start(home.path(), MOUNT);
    let mut call = |arguments: Value| {
        let params = json!({ "name": "resources_read", "arguments": arguments });
        desk.request("tools/call", params)["result"].clone()
    };
    let text = |result: &Value| {
        let text = result["structuredContent"]["text"].as_str();
        text.unwrap_or_else(|| panic!("{result}")).to_owned()
    };
    let plan = "file:///app/plan.xlsx";
    for sheet in [json!("Costs"), json!("1"), json!(1)] {
        let given = text(&call(json!({ "uri": plan, "sheet": sheet })));
        assert!(given.starts_with("## Costs") && !given.contains("日本"), "{given}");
    }
    let table = text(&call(json!({ "uri": plan, "sheet": "日本", "accept": ["text/csv"] })));
    assert!(table.starts_with("cell A1,cell B1,cell C1\n"), "{table}");
    let slide = text(&call(json!({ "uri": "file:///app/deck.pptx", "slide": 2 })));
    assert!(slide.starts_with("## Slide 2: Harbours") && !slide.contains("Slide 1"), "{slide}");
    let missing = call(json!({ "uri": "file:///app/deck.pptx", "slide": 3 }));
    assert!(missing["isError"] == true && missing.to_string().contains("2 slides"), "{missing}");
    let accept = json!(["image/png", "application/json;q=0.4", "text/csv;q=0.9"]);
    let best = text(&call(json!({ "uri": plan, "accept": accept })));
    assert!(best.starts_with("cell A1,"), "{best}");
    let photo = call(json!({ "uri": "file:///app/photo.png" }));
    assert!(photo.to_string().contains("accept \\\"text/plain\\\""), "{photo}");
    let words = text(&call(json!({ "uri": "file:///app/photo.png", "accept": "text/plain" })));
    assert!(words.contains("64"), "{words}");
    let none = call(json!({ "uri": plan, "accept": ["image/png"] }));
    assert!(none["isError"] == true && none.to_string().contains("text/csv"), "{none}");
}
