//! XML namespaces: the usual prefix of each, and the prefixes in scope while a part is parsed.

/// Prefixes and the ends of the namespaces they usually stand for. Office has two namespaces for
/// one meaning, of which one is the strict form of the standard.
const USUAL: &[(&str, &[&str])] = &[
    ("w", &["/wordprocessingml/2006/main", "ooxml/wordprocessingml/main"]),
    ("a", &["/drawingml/2006/main", "ooxml/drawingml/main"]),
    ("p", &["/presentationml/2006/main", "ooxml/presentationml/main"]),
    ("r", &["/officeDocument/2006/relationships", "ooxml/officeDocument/relationships"]),
    ("m", &["/officeDocument/2006/math", "ooxml/officeDocument/math"]),
    ("c", &["/drawingml/2006/chart", "ooxml/drawingml/chart"]),
    ("dgm", &["/drawingml/2006/diagram", "ooxml/drawingml/diagram"]),
    ("wp", &["/drawingml/2006/wordprocessingDrawing", "ooxml/drawingml/wordprocessingDrawing"]),
    ("pic", &["/drawingml/2006/picture", "ooxml/drawingml/picture"]),
    ("mc", &["/markup-compatibility/2006"]),
    ("wps", &["/word/2010/wordprocessingShape"]),
    ("w14", &["/office/word/2010/wordml"]),
    ("v", &["urn:schemas-microsoft-com:vml"]),
    ("o", &["urn:schemas-microsoft-com:office:office"]),
    ("p188", &["/office/powerpoint/2018/8/main"]),
    ("rel", &["/package/2006/relationships"]),
    ("office", &["opendocument:xmlns:office:1.0"]),
    ("text", &["opendocument:xmlns:text:1.0"]),
    ("table", &["opendocument:xmlns:table:1.0"]),
    ("draw", &["opendocument:xmlns:drawing:1.0"]),
    ("presentation", &["opendocument:xmlns:presentation:1.0"]),
    ("style", &["opendocument:xmlns:style:1.0"]),
    ("fo", &["opendocument:xmlns:xsl-fo-compatible:1.0"]),
    ("svg", &["opendocument:xmlns:svg-compatible:1.0"]),
    ("chart", &["opendocument:xmlns:chart:1.0"]),
    ("manifest", &["opendocument:xmlns:manifest:1.0"]),
    ("xlink", &["http://www.w3.org/1999/xlink"]),
    ("dc", &["http://purl.org/dc/elements/1.1/"]),
    ("math", &["http://www.w3.org/1998/Math/MathML"]),
    ("xml", &["http://www.w3.org/XML/1998/namespace"]),
];

/// The most prefixes in scope; they are looked up one by one.
const MAX_BINDINGS: usize = 256;

/// The usual prefix of a namespace; empty if it has none here.
fn usual_prefix(namespace: &str) -> &'static str {
    let row = USUAL.iter().find(|(_, ends)| ends.iter().any(|end| namespace.ends_with(end)));
    row.map_or("", |row| row.0)
}

/// The prefixes in scope.
#[derive(Default)]
pub(super) struct NamespaceScope {
    /// A prefix, what it usually is called, and the depth of the element that declares it.
    bindings: Vec<(String, String, usize)>,
}

impl NamespaceScope {
    /// Binds a prefix at an element; whether that changes what the prefix means.
    pub(super) fn bind(&mut self, prefix: &str, namespace: &str, depth: usize) -> bool {
        let usual = match (usual_prefix(namespace), prefix) {
            ("", prefix) => prefix,
            (usual, _) => usual,
        };
        if self.prefix(prefix) == Some(usual) || self.bindings.len() >= MAX_BINDINGS {
            return false;
        }
        self.bindings.push((prefix.to_owned(), usual.to_owned(), depth));
        true
    }

    /// Ends the scope of the element at `depth`; whether a prefix changed its meaning.
    pub(super) fn leave(&mut self, depth: usize) -> bool {
        let before = self.bindings.len();
        while self.bindings.last().is_some_and(|(.., at)| *at >= depth) {
            self.bindings.pop();
        }
        self.bindings.len() < before
    }

    /// The usual prefix of what `prefix` stands for.
    pub(super) fn prefix(&self, prefix: &str) -> Option<&str> {
        let bound = self.bindings.iter().rev().find(|(name, ..)| name == prefix);
        bound.map(|(_, usual, _)| usual.as_str())
    }
}
