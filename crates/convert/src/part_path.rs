//! Paths of parts in a package, as other parts name them.

use resource::uri::percent_decode_lossy;

/// The name of the part at `target`, as a part in `folder` names it. It never leaves the package.
pub(crate) fn resolve_part(folder: &str, target: &str) -> String {
    let mut names: Vec<&str> =
        if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.retain(|name| !name.is_empty());
    names.join("/")
}

/// A target without the escapes of an address: `a%20b` is `a b`.
pub(crate) fn percent_decoded(target: &str) -> String {
    percent_decode_lossy(target).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{percent_decoded, resolve_part};

    #[test]
    fn a_target_is_resolved_from_its_folder() {
        assert_eq!(resolve_part("xl/worksheets", "../comments1.xml"), "xl/comments1.xml");
        assert_eq!(resolve_part("xl", "/xl/worksheets/sheet1.xml"), "xl/worksheets/sheet1.xml");
        assert_eq!(resolve_part("xl", "../../../../etc/passwd"), "etc/passwd");
        assert_eq!(resolve_part("", "a.xhtml"), "a.xhtml");
        assert_eq!(resolve_part("word", "styles.xml"), "word/styles.xml");
    }

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(percent_decoded("a%20b%E6%97%A5%zz%"), "a b日%zz%");
    }
}
