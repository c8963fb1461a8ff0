//! Globs over slash-separated paths, bounded before they are compiled.
//!
//! A glob comes from a client or from a settings file. Compiling recurses at each `{` and takes
//! about a kilobyte of memory per character, so length and braces are checked first.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

/// The longest glob, in bytes.
pub const MAX_GLOB_BYTES: usize = 1024;
/// The most opening braces in a glob, which also bounds their nesting.
pub const MAX_GLOB_BRACES: usize = 32;
/// The most globs in a set.
pub const MAX_GLOBS: usize = 1000;

/// A valid glob. `*` and `?` match no slash, `**` matches any number of folders.
#[derive(Debug, Clone)]
pub struct PathGlob(globset::Glob);

/// Globs that are matched together.
#[derive(Debug, Clone, Default)]
pub struct PathGlobSet(GlobSet);

/// Why a glob is refused. The text names the limit, or the error in the syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobError(String);

impl PathGlob {
    /// Parses `pattern` if it is within the bounds.
    pub fn parse(pattern: &str) -> Result<Self, GlobError> {
        let length = pattern.len();
        if length > MAX_GLOB_BYTES {
            let text = format!("{length} bytes are over the limit of {MAX_GLOB_BYTES}; shorten it");
            return Err(GlobError(text));
        }
        let braces = pattern.bytes().filter(|byte| *byte == b'{').count();
        if braces > MAX_GLOB_BRACES {
            let text = format!("more than {MAX_GLOB_BRACES} braces; use fewer alternatives");
            return Err(GlobError(text));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        glob.map(Self).map_err(|error| GlobError(error.kind().to_string()))
    }

    /// The glob as it was written.
    pub fn as_str(&self) -> &str {
        self.0.glob()
    }

    /// Compiles the glob.
    pub fn into_matcher(self) -> impl Fn(&str) -> bool + Send + Sync + 'static {
        let matcher: GlobMatcher = self.0.compile_matcher();
        move |path| matcher.is_match(path)
    }
}

impl PathGlobSet {
    /// Compiles `globs`.
    pub fn new(globs: &[PathGlob]) -> Result<Self, GlobError> {
        if globs.len() > MAX_GLOBS {
            let text = format!("more than {MAX_GLOBS} globs; join some of them with braces");
            return Err(GlobError(text));
        }
        let mut builder = GlobSetBuilder::new();
        for glob in globs {
            builder.add(glob.0.clone());
        }
        builder.build().map(Self).map_err(|error| GlobError(error.kind().to_string()))
    }

    /// The positions of the globs that match `path`, in ascending order.
    pub fn matches(&self, path: &str) -> Vec<usize> {
        self.0.matches(path)
    }

    /// Whether any glob matches `path`.
    pub fn is_match(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GlobError {}

#[cfg(test)]
mod tests {
    use super::{MAX_GLOB_BYTES, MAX_GLOBS, PathGlob, PathGlobSet};

    fn refusal(pattern: &str) -> String {
        PathGlob::parse(pattern).expect_err("it is refused").to_string()
    }

    #[test]
    fn a_glob_over_a_bound_is_refused_before_it_is_compiled() {
        assert!(refusal(&"{a,".repeat(30_000)).contains("limit of 1024"));
        assert!(refusal(&"{a,".repeat(300)).contains("more than 32 braces"));
        assert!(refusal(&"?".repeat(MAX_GLOB_BYTES + 1)).contains("shorten"));
        assert!(!refusal("a[").is_empty());
        let nested = format!("{}b{}", "{a,".repeat(32), "}".repeat(32));
        let matcher = PathGlob::parse(&nested).expect("it is within the bounds").into_matcher();
        assert!(matcher("a") && matcher("b") && !matcher("c"));
    }

    #[test]
    fn a_set_has_a_bound_too() {
        let glob = PathGlob::parse("*.md").expect("it is valid");
        assert!(PathGlobSet::new(&vec![glob.clone(); MAX_GLOBS + 1]).is_err());
        let both = PathGlobSet::new(&[glob, PathGlob::parse("a/**").expect("it is valid")]);
        assert_eq!(both.expect("it is valid").matches("a/b.md"), [1]);
    }
}
