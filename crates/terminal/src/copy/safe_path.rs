//! Paths of copied resources: below the target folder, whatever a server names its resources.

use std::path::PathBuf;

use resource::uri::percent_decode;

use super::journal::JOURNAL;
use super::part::PART;
use crate::output::one_line;

/// The longest name of a file, in bytes; most file systems take 255, and a part needs its ending.
const MAX_NAME_BYTES: usize = 200;

/// A relative path below the target folder, whatever a server names its resources.
pub(crate) fn safe_path(below: &str) -> PathBuf {
    let names = below.split('/').filter(|name| !name.is_empty());
    let path: PathBuf = names.map(safe_name).collect();
    if path.as_os_str().is_empty() { PathBuf::from("resource") } else { path }
}

fn safe_name(encoded: &str) -> String {
    let decoded = percent_decode(encoded);
    let name = one_line(&String::from_utf8_lossy(&decoded));
    let is_unsafe =
        |letter: char| matches!(letter, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let mut name: String =
        name.chars().map(|letter| if is_unsafe(letter) { '_' } else { letter }).collect();
    if name.chars().all(|letter| letter == '.') {
        name = name.replace('.', "_");
    }
    if name == JOURNAL || name.ends_with(PART) {
        // No resource may pass for a file of the copy itself.
        name.push('_');
    }
    if name.len() > MAX_NAME_BYTES {
        // The ending says what the file is, so the middle goes.
        let ending = name.rsplit_once('.').map(|(_, ending)| ending).filter(|own| own.len() < 16);
        let ending = ending.map_or_else(String::new, |ending| format!(".{ending}"));
        let end = name.floor_char_boundary(MAX_NAME_BYTES - ending.len());
        name = format!("{}{ending}", &name[..end]);
    }
    name
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::{prop_assert, proptest};

    use super::{MAX_NAME_BYTES, safe_path};

    #[test]
    fn names_stay_readable_and_inside_the_folder() {
        let path = |below: &str| safe_path(below).display().to_string();
        assert_eq!(path("a/%E8%B3%87%E6%96%99.md"), "a/資料.md");
        assert_eq!(path("../../etc/passwd"), "__/__/etc/passwd");
        assert_eq!(path("a/..%2F..%2Fx"), "a/.._.._x");
        assert_eq!(path("a%00b\u{1b}"), "a b ");
        assert_eq!(path(""), "resource");
        assert_eq!(path("a/.refdesk-copy"), "a/.refdesk-copy_");
        assert_eq!(path("a.refdesk-part/b"), "a.refdesk-part_/b");
        let long = path(&format!("{}.md", "あ".repeat(300)));
        assert!(long.len() <= MAX_NAME_BYTES && long.ends_with(".md"), "{long}");
    }

    proptest! {
        #[test]
        fn no_name_leads_out(below in ".{0,40}") {
            let path = safe_path(&below);
            prop_assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
            prop_assert!(path != Path::new(""));
        }
    }
}
