//! Compares `docs/troubleshooting.md` with the program: every message there is one that it prints.

use std::fs;
use std::path::Path;

/// All source code under `folder`, with the texts that go over several lines joined.
fn read_sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            read_sources(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap().replace("\\\"", "\"");
            let mut lines = text.split("\\\n");
            all.push_str(lines.next().unwrap());
            lines.for_each(|line| all.push_str(line.trim_start()));
        }
    }
}

#[test]
fn every_message_of_the_troubleshooting_page_is_really_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = String::new();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        read_sources(&entry.unwrap().path(), &mut sources);
    }
    let page = fs::read_to_string(root.join("docs/troubleshooting.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let messages: Vec<&str> = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(messages.len() > 20, "{messages:?}");
    // What the operating system says.
    let foreign = ["Connection refused"];
    for message in messages.iter().filter(|message| !foreign.contains(message)) {
        for part in message.split('…').map(|part| part.trim_end_matches([' ', ':'])) {
            assert!(sources.contains(part), "{part:?} of {message:?} is not printed");
        }
    }
}
