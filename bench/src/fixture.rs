//! Creates the folders and settings files that the servers under test use.

use std::{
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::{
    options::TreeSize,
    test_data::{self, PAGE, TestBody},
};

/// The mount name in every settings file of the benchmarks.
const MOUNT: &str = "bench";

/// The bytes of the large sparse file a window is read from.
pub(crate) const LARGE: u64 = 2 << 30;
/// The bytes of the small file a window is read from.
pub(crate) const SMALL: u64 = 64 << 10;

/// The `listing` setting of an `fs` mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListingOption {
    Flat,
    Default,
}

/// The public URI of a file right under a mount's root.
pub(crate) fn file_uri(name: &str) -> String {
    format!("file:///{MOUNT}/{name}")
}

/// Writes the catalogue as files; again in every run, since it is small and its text may change.
pub(crate) fn write_catalogue(scratch: &Path) -> anyhow::Result<PathBuf> {
    let root = scratch.join("catalogue");
    fs::create_dir_all(&root).context("make the scratch folder")?;
    for number in test_data::entries() {
        let path = root.join(test_data::entry_name(number));
        fs::write(path, test_data::entry_text(number)).context("make a file")?;
    }
    for body in TestBody::ALL {
        fs::write(root.join(body.name()), body.bytes()).context("make a file")?;
    }
    Ok(root)
}

/// Settings of a `static` mount that declares the whole catalogue.
pub(crate) fn static_settings(scratch: &Path, catalogue: &Path) -> anyhow::Result<PathBuf> {
    let mut settings = settings_head(PAGE);
    settings.push_str("kind = \"static\"\n");
    for number in test_data::entries() {
        let text = format!("text = {}", quoted(&test_data::entry_text(number)));
        let name = test_data::entry_name(number);
        declare(&mut settings, [&test_data::entry_uri(number), &name, "text/plain", &text])?;
    }
    for body in TestBody::ALL {
        let source = match body {
            TestBody::Kib | TestBody::Mib => {
                format!("text = {}", quoted(&test_data::prose(body.size())))
            }
            // 10 MiB of base64 in a settings file would be unrealistic.
            TestBody::Blob => format!("file = {}", quoted_path(&catalogue.join(body.name()))),
        };
        declare(&mut settings, [&body.uri(), body.name(), body.mime(), &source])?;
    }
    write_settings(&scratch.join("static.toml"), &settings)
}

fn declare(
    settings: &mut String,
    [uri, name, mime, source]: [&str; 4],
) -> Result<(), std::fmt::Error> {
    writeln!(settings, "\n[[mounts.{MOUNT}.resources]]")?;
    writeln!(settings, "uri = \"{uri}\"\nname = \"{name}\"\nmime = \"{mime}\"\n{source}")
}

/// Settings of an `fs` mount of a folder that holds the whole catalogue as files.
pub(crate) fn folder_settings(scratch: &Path, catalogue: &Path) -> anyhow::Result<PathBuf> {
    fs_settings(&scratch.join("folder.toml"), catalogue, ListingOption::Flat, PAGE)
}

/// Settings of an `fs` mount.
pub(crate) fn fs_settings(
    path: &Path,
    folder: &Path,
    listing: ListingOption,
    page_size: usize,
) -> anyhow::Result<PathBuf> {
    let mut settings = settings_head(page_size);
    let folder = quoted_path(folder);
    writeln!(settings, "kind = \"fs\"\npath = {folder}\nmax_read = \"16 MiB\"")?;
    if listing == ListingOption::Flat {
        settings.push_str("listing = \"flat\"\n");
    }
    write_settings(path, &settings)
}

/// Settings of an `fs` mount that is searched through its index.
pub(crate) fn indexed_settings(path: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let folder = quoted_path(folder);
    write_settings(path, &format!("[mounts.{MOUNT}]\nkind = \"fs\"\npath = {folder}\n"))
}

/// The URI of the text beside the repository of [`git_settings`].
pub(crate) const BESIDE_GIT: &str = "bench://beside/text";

/// Settings of a `git` mount of the repository in a folder, and of a `static` mount that declares
/// `text`.
pub(crate) fn git_settings(path: &Path, folder: &Path, text: &str) -> anyhow::Result<PathBuf> {
    let folder = quoted_path(folder);
    let mut settings = format!("{}kind = \"git\"\npath = {folder}\n", settings_head(PAGE));
    writeln!(settings, "[mounts.beside]\nkind = \"static\"\n\n[[mounts.beside.resources]]")?;
    writeln!(settings, "uri = \"{BESIDE_GIT}\"\nname = \"beside\"\ntext = {}", quoted(text))?;
    write_settings(path, &settings)
}

/// The public URI of a file at HEAD of that mount.
pub(crate) fn git_uri(path: &str) -> String {
    format!("git://{MOUNT}/HEAD/{path}")
}

/// Settings of an `upstream` mount of the server at an address.
pub(crate) fn upstream_settings(scratch: &Path, url: &str) -> anyhow::Result<PathBuf> {
    let settings = format!("{}kind = \"upstream\"\nurl = {}\n", settings_head(PAGE), quoted(url));
    write_settings(&scratch.join("upstream.toml"), &settings)
}

/// The public URI of a resource of the server behind an `upstream` mount.
pub(crate) fn mounted_uri(uri: &str) -> String {
    format!("{MOUNT}+{uri}")
}

/// A folder of small files to modify; created anew in every run.
pub(crate) fn watched_folder(scratch: &Path, files: usize) -> anyhow::Result<PathBuf> {
    let root = scratch.join("watched");
    if root.exists() {
        fs::remove_dir_all(&root).context("remove an earlier run's folder")?;
    }
    fs::create_dir_all(&root).context("make the scratch folder")?;
    for file in 0..files {
        fs::write(root.join(test_data::entry_name(file)), "at first\n").context("make a file")?;
    }
    Ok(root)
}

/// A tree of empty files, `folders` times `files`.
pub(crate) fn tree(scratch: &Path, size: TreeSize) -> anyhow::Result<PathBuf> {
    let name = format!("tree-{}x{}", size.folders, size.files);
    create_once(scratch, &name, |root| {
        for folder in 0..size.folders {
            let folder = root.join(format!("folder-{folder:04}"));
            fs::create_dir(&folder).context("make a folder")?;
            for file in 0..size.files {
                File::create(folder.join(format!("file-{file:04}.txt"))).context("make a file")?;
            }
        }
        Ok(())
    })
}

/// How many source files are searched.
pub(crate) const SOURCES: usize = 10_000;

/// A tree of files that look like source code, with a match in every fortieth.
pub(crate) fn sources(scratch: &Path) -> anyhow::Result<PathBuf> {
    create_once(scratch, "sources", |root| {
        for file in 0..SOURCES {
            let folder = root.join(format!("room-{:02}/part-{}", file % 50, file % 7));
            fs::create_dir_all(&folder).context("make a folder")?;
            let mut text = format!("//! What does part {file} do?\n\nuse std::fmt;\n");
            for item in 0..20 + file % 60 {
                writeln!(text, "\n/// The item {item}.\npub fn item_{item}(value: u64) -> u64 {{")?;
                writeln!(
                    text,
                    "    let other = value.wrapping_mul({file});\n    other ^ {item}\n}}"
                )?;
            }
            if file % 40 == 0 {
                writeln!(text, "\nfn needle_{file}() {{}}")?;
            }
            fs::write(folder.join(format!("file_{file:05}.rs")), text).context("make a file")?;
        }
        Ok(())
    })
}

/// The names of the two files that windows are read from: large, then small.
pub(crate) const WINDOWED: [(&str, u64); 2] = [("large.bin", LARGE), ("small.bin", SMALL)];

/// A folder with a large and a small sparse file, which differ only in size.
pub(crate) fn windowed_folder(scratch: &Path) -> anyhow::Result<PathBuf> {
    create_once(scratch, "windowed", |root| {
        for (name, size) in WINDOWED {
            let file = File::create(root.join(name)).context("make a file")?;
            file.set_len(size).context("give a file its size")?;
        }
        Ok(())
    })
}

/// Creates a folder unless an earlier run completed it.
pub(crate) fn create_once(
    scratch: &Path,
    name: &str,
    make: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    let root = scratch.join(name);
    let complete = scratch.join(format!("{name}.complete"));
    if complete.exists() && root.is_dir() {
        return Ok(root);
    }
    if root.exists() {
        fs::remove_dir_all(&root).context("remove an unfinished folder")?;
    }
    fs::create_dir_all(&root).context("make the scratch folder")?;
    make(&root)?;
    File::create(complete).context("mark a folder as complete")?;
    Ok(root)
}

fn settings_head(page_size: usize) -> String {
    format!("[server]\npage_size = {page_size}\n\n[search]\nenabled = false\n\n[mounts.{MOUNT}]\n")
}

fn write_settings(path: &Path, settings: &str) -> anyhow::Result<PathBuf> {
    fs::write(path, settings).context("write the settings")?;
    Ok(path.to_owned())
}

/// A TOML string; every escape of a JSON string is one of TOML's too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}
