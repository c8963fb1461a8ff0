//! File globs of a configuration mount: which paths are served, and which folders may hold some.
//!
//! `*`, `?` and `[…]` match no leading dot, and `**` enters no dot folder: a dot file is served
//! only where a glob names the dot.

use machinery::{GlobError, PathGlob, PathGlobSet};

/// The most folders that a glob names.
const MAX_SEGMENTS: usize = 64;

/// Globs over slash-separated paths.
#[derive(Debug, Clone, Default)]
pub struct FileGlobs(Vec<FileGlob>);

/// One glob, segment by segment.
#[derive(Debug, Clone)]
struct FileGlob(Vec<GlobSegment>);

#[derive(Debug, Clone)]
enum GlobSegment {
    /// `**`: any number of folders.
    Folders,
    /// Anything else: one name.
    Name { names_dot: bool, pattern: PathGlobSet },
}

impl FileGlobs {
    /// Adds a glob. Braces may hold no slash.
    pub fn add(&mut self, glob: &str) -> Result<(), GlobError> {
        // The whole is checked first: its bounds hold for all segments together.
        PathGlob::parse(glob)?;
        let glob = glob.trim_start_matches("./");
        let segments = glob.split('/').take(MAX_SEGMENTS).map(GlobSegment::parse);
        self.0.push(FileGlob(segments.collect::<Result<_, _>>()?));
        Ok(())
    }

    /// Adds the file at exactly `path`.
    pub fn add_path(&mut self, path: &str) -> Result<(), GlobError> {
        let mut glob = String::new();
        for letter in path.chars() {
            if "*?[]{}!\\".contains(letter) {
                glob.push('\\');
            }
            glob.push(letter);
        }
        self.add(&glob)
    }

    /// Whether the file at `path` is served.
    pub fn is_match(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        self.0.iter().any(|glob| matches_all(&glob.0, &names))
    }

    /// Whether neither `path` nor anything below it is served.
    pub fn excludes(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        !self.0.iter().any(|glob| matches_all(&glob.0, &names) || may_hold(&glob.0, &names))
    }
}

impl GlobSegment {
    fn parse(text: &str) -> Result<Self, GlobError> {
        if text == "**" {
            return Ok(Self::Folders);
        }
        let pattern = PathGlobSet::new(&[PathGlob::parse(text)?])?;
        let names_dot = text.trim_start_matches('\\').starts_with('.') || text.starts_with("{.");
        Ok(Self::Name { names_dot, pattern })
    }

    fn admits(&self, name: &str) -> bool {
        match self {
            Self::Folders => !name.starts_with('.'),
            Self::Name { names_dot, pattern } => {
                (*names_dot || !name.starts_with('.')) && pattern.is_match(name)
            }
        }
    }
}

/// Whether the segments match all names.
fn matches_all(segments: &[GlobSegment], names: &[&str]) -> bool {
    reachable(segments, names).last() == Some(&true)
}

/// Whether something below the folder with these names may match.
fn may_hold(segments: &[GlobSegment], names: &[&str]) -> bool {
    let ends = reachable(segments, names);
    ends[..segments.len()].contains(&true)
}

/// After which numbers of segments all names may be used up. Linear in segments times names.
fn reachable(segments: &[GlobSegment], names: &[&str]) -> Vec<bool> {
    let skip_folders = |ends: &mut Vec<bool>| {
        for (at, segment) in segments.iter().enumerate() {
            if ends[at] && matches!(segment, GlobSegment::Folders) {
                ends[at + 1] = true;
            }
        }
    };
    let mut ends = vec![false; segments.len() + 1];
    ends[0] = true;
    skip_folders(&mut ends);
    for name in names {
        let mut next = vec![false; segments.len() + 1];
        for (at, segment) in segments.iter().enumerate() {
            if ends[at] && segment.admits(name) {
                let stays = matches!(segment, GlobSegment::Folders);
                next[if stays { at } else { at + 1 }] = true;
            }
        }
        skip_folders(&mut next);
        ends = next;
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::FileGlobs;

    fn globs(all: &[&str]) -> FileGlobs {
        let mut globs = FileGlobs::default();
        for glob in all {
            globs.add(glob).unwrap();
        }
        globs
    }

    #[test]
    fn a_dot_file_is_served_only_where_a_glob_names_the_dot() {
        for (glob, path, is_match) in [
            ("*.toml", "a.toml", true),
            ("*.toml", ".a.toml", false),
            ("*.toml", "sub/a.toml", false),
            ("**/*.toml", "a.toml", true),
            ("**/*.toml", "x/y/a.toml", true),
            ("**/*.toml", ".x/a.toml", false),
            ("**/.env", "x/.env", true),
            (".env*", ".env.local", true),
            ("{.env,a.toml}", ".env", true),
            (".github/**/*.yml", ".github/workflows/ci.yml", true),
            ("./a.toml", "a.toml", true),
            ("a/**", "a/b/c", true),
            ("[a-b].ini", "b.ini", true),
        ] {
            assert_eq!(globs(&[glob]).is_match(path), is_match, "{glob} and {path}");
        }
        let mut exact = FileGlobs::default();
        exact.add_path("a[1]*.toml").unwrap();
        assert!(exact.is_match("a[1]*.toml") && !exact.is_match("a1x.toml"));
    }

    #[test]
    fn folders_that_hold_nothing_served_are_excluded() {
        let globs = globs(&["config/*.toml", "**/app.json"]);
        for (path, excluded) in [
            ("config", false),
            ("config/a.toml", false),
            ("config/a.txt", false),
            ("src", false),
            (".git", true),
            ("src/.hidden", true),
        ] {
            assert_eq!(globs.excludes(path), excluded, "{path}");
        }
        let globs = super::tests::globs(&["config/*.toml"]);
        assert!(globs.excludes("src") && globs.excludes("config/a.txt/x"));
        assert!(!globs.excludes("config"));
        assert!(globs.excludes("config/a.txt"));
    }
}
