//! Paths of parts in a package, as other parts name them.

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
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *byte == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
    }

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(percent_decoded("a%20b%E6%97%A5%zz%"), "a b日%zz%");
    }
}
