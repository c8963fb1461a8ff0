//! Baskets on disk: a file of JSON for each, in a folder for each principal.
//!
//! A file is replaced as a whole, so processes that share the folder never mix what they write, and
//! a full disk leaves the old file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use resource::Uri;
use serde::{Deserialize, Serialize};
use server::{Basket, BasketStorage};

use crate::settings::Settings;
use crate::state_file::{read_regular_file, replace_file, state_folder};

/// The most bytes of a file, and the most files that are looked at.
const MAX_FILE: u64 = 512 << 10;
const MAX_FILES: usize = 1000;

/// A change that is younger may share its time with the next one.
const MIN_AGE: Duration = Duration::from_millis(100);

const ENDING: &str = ".json";

/// The baskets of one set of settings.
pub(crate) struct BasketFiles {
    folder: PathBuf,
}

/// The content of a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredBasket {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    uris: Vec<String>,
}

impl BasketFiles {
    /// The files of these settings; `None` without a state folder.
    pub(crate) fn of(settings: &Settings) -> Option<Self> {
        Some(Self { folder: state_folder()?.join("baskets").join(settings.file_key()) })
    }

    fn folder_of(&self, principal: &str) -> PathBuf {
        self.folder.join(&blake3::hash(principal.as_bytes()).to_hex()[..16])
    }

    fn file_of(&self, principal: &str, name: &str) -> PathBuf {
        self.folder_of(principal).join(format!("{name}{ENDING}"))
    }
}

impl BasketStorage for BasketFiles {
    fn load(&self, principal: &str) -> io::Result<Vec<Basket>> {
        let entries = match fs::read_dir(self.folder_of(principal)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut baskets = Vec::new();
        for entry in entries.take(MAX_FILES) {
            let file = entry?.path();
            let Some(name) = basket_name(&file) else { continue };
            match read_basket(&file, &name) {
                Ok(basket) => baskets.push(basket),
                // Another process has removed it meanwhile.
                Err(FileFault::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(FileFault::Unreadable(error)) => {
                    tracing::error!("the basket {} cannot be read: {error}", file.display());
                }
                Err(FileFault::Broken(why)) => set_aside(&file, &why),
            }
        }
        baskets.sort_by(|one, other| one.name().cmp(other.name()));
        Ok(baskets)
    }

    fn save(&self, principal: &str, basket: &Basket) -> io::Result<()> {
        let stored = StoredBasket {
            name: basket.name().to_owned(),
            title: basket.title().map(str::to_owned),
            uris: basket.uris().iter().map(ToString::to_string).collect(),
        };
        let text = serde_json::to_string_pretty(&stored)? + "\n";
        fs::create_dir_all(self.folder_of(principal))?;
        replace_file(&self.file_of(principal, basket.name()), text.as_bytes())
    }

    fn remove(&self, principal: &str, name: &str) -> io::Result<()> {
        match fs::remove_file(self.file_of(principal, name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn modified(&self, principal: &str) -> Option<SystemTime> {
        let time = match fs::metadata(self.folder_of(principal)) {
            Ok(data) => data.modified().ok()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => SystemTime::UNIX_EPOCH,
            Err(_) => return None,
        };
        let age = SystemTime::now().duration_since(time).ok()?;
        (age >= MIN_AGE).then_some(time)
    }
}

/// Why a file gives no basket.
enum FileFault {
    Unreadable(io::Error),
    Broken(String),
}

/// The name of the basket in a file; `None` if the file is something else.
fn basket_name(file: &Path) -> Option<String> {
    Some(file.file_name()?.to_str()?.strip_suffix(ENDING)?.to_owned())
}

fn read_basket(file: &Path, name: &str) -> Result<Basket, FileFault> {
    let bytes = read_regular_file(file, MAX_FILE).map_err(FileFault::Unreadable)?;
    let stored: StoredBasket =
        serde_json::from_slice(&bytes).map_err(|error| FileFault::Broken(error.to_string()))?;
    let broken = |error: resource::Error| FileFault::Broken(error.to_string());
    if stored.name != name {
        return Err(FileFault::Broken(format!("its name is {:?}", stored.name)));
    }
    let uris = stored.uris.iter().map(|uri| Uri::parse(uri)).collect::<Result<_, _>>();
    Basket::new(name, stored.title.as_deref(), uris.map_err(broken)?).map_err(broken)
}

/// Renames a broken file, so that it is there for a person and in nobody's way.
fn set_aside(file: &Path, why: &str) {
    let aside = file.with_added_extension("broken");
    let shown = (file.display(), aside.display());
    match fs::rename(file, &aside) {
        Ok(()) => tracing::error!(
            "the basket {} is broken ({why}); it is kept as {} and left out",
            shown.0,
            shown.1
        ),
        Err(error) => tracing::error!("the basket {} is broken ({why}): {error}", shown.0),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use resource::Uri;
    use server::{Basket, BasketStorage as _};

    use super::BasketFiles;

    fn basket(name: &str, uris: &[&str]) -> Basket {
        let uris = uris.iter().map(|uri| Uri::parse(uri).unwrap()).collect();
        Basket::new(name, Some("題"), uris).unwrap()
    }

    fn files() -> (tempfile::TempDir, BasketFiles) {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("state/baskets");
        (home, BasketFiles { folder })
    }

    #[test]
    fn what_is_saved_is_loaded_again_by_its_principal_alone() {
        let (_home, files) = files();
        assert_eq!(files.load("ada").unwrap(), []);
        let baskets = [basket("..a", &[]), basket("b.json", &["a:1"]), basket("c", &["a:日本"])];
        for basket in baskets.iter().rev() {
            files.save("ada", basket).unwrap();
        }
        assert_eq!(files.load("ada").unwrap(), baskets);
        assert_eq!(files.load("../ada").unwrap(), []);
        files.save("ada", &basket("c", &["a:2"])).unwrap();
        files.remove("ada", "b.json").unwrap();
        files.remove("ada", "b.json").unwrap();
        assert_eq!(files.load("ada").unwrap(), [basket("..a", &[]), basket("c", &["a:2"])]);
    }

    #[test]
    fn a_broken_file_is_kept_aside_and_the_others_are_loaded() {
        let (_home, files) = files();
        files.save("ada", &basket("good", &["a:1"])).unwrap();
        let folder = files.folder_of("ada");
        let long = format!("{{\"name\":\"long\",\"uris\":[\"a:{}\"]}}", "b".repeat(200_000));
        let broken = [
            ("cut", "{\"name\":\"cut\",\"uri"),
            ("other", "{\"name\":\"good\",\"uris\":[]}"),
            ("uri", "{\"name\":\"uri\",\"uris\":[\"no uri\"]}"),
            ("long", &long),
            ("bad name", "{\"name\":\"bad name\",\"uris\":[]}"),
        ];
        for (name, text) in broken {
            fs::write(folder.join(format!("{name}.json")), text).unwrap();
        }
        fs::write(folder.join("x.json.1-2.new"), "left by a process that was killed").unwrap();
        fs::create_dir(folder.join("folder.json")).unwrap();
        assert_eq!(files.load("ada").unwrap(), [basket("good", &["a:1"])]);
        for (name, text) in broken {
            assert_eq!(
                fs::read_to_string(folder.join(format!("{name}.json.broken"))).unwrap(),
                text
            );
        }
        assert_eq!(files.load("ada").unwrap().len(), 1);
    }

    #[test]
    fn a_save_that_fails_leaves_the_old_basket() {
        let (_home, files) = files();
        let old = basket("a", &["a:1"]);
        files.save("ada", &old).unwrap();
        // A folder of this name cannot be replaced by a file, for the owner of all files neither.
        fs::create_dir(files.folder_of("ada").join("b.json")).unwrap();
        assert!(files.save("ada", &basket("b", &[])).is_err());
        assert_eq!(files.load("ada").unwrap(), [old]);
        let nowhere = BasketFiles { folder: PathBuf::from("/proc/none") };
        assert!(nowhere.save("ada", &basket("a", &[])).is_err());
    }

    #[test]
    fn a_change_of_another_process_is_seen_by_its_time() {
        let (_home, files) = files();
        assert!(files.modified("ada").is_some(), "nothing is there");
        files.save("ada", &basket("a", &[])).unwrap();
        let first = fs::metadata(files.folder_of("ada")).unwrap().modified().unwrap();
        // Right after a save, the next one could have the same time.
        assert!(files.modified("ada").is_none_or(|time| time == first));
    }
}
