//! A basket: a named list of resources that a person put together, and where baskets are stored.

use std::collections::HashSet;
use std::io;
use std::time::SystemTime;

use resource::{Error, Result, Uri};

/// The scheme of baskets.
pub(super) const SCHEME: &str = "basket";

/// The most characters of a name, and of a title.
const MAX_NAME: usize = 64;
const MAX_TITLE: usize = 200;
/// The most resources in a basket, and the most bytes of their URIs together.
const MAX_URIS: usize = 200;
const MAX_BYTES: usize = 128 << 10;

/// A named list of resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Basket {
    name: String,
    title: Option<String>,
    uris: Vec<Uri>,
}

impl Basket {
    /// A basket, if its name, title and resources are within the limits. A resource that is named
    /// twice is in it once.
    pub fn new(name: &str, title: Option<&str>, mut uris: Vec<Uri>) -> Result<Self> {
        check_name(name)?;
        if let Some(title) = title
            && (title.chars().count() > MAX_TITLE || title.chars().any(char::is_control))
        {
            let why = format!("title: write one line of at most {MAX_TITLE} characters");
            return Err(Error::invalid(why));
        }
        let mut seen = HashSet::new();
        uris.retain(|uri| seen.insert(uri.clone()));
        if uris.len() > MAX_URIS {
            let why = format!("uris: a basket holds at most {MAX_URIS} resources; make two of it");
            return Err(Error::invalid(why));
        }
        if uris.iter().map(|uri| uri.as_str().len()).sum::<usize>() > MAX_BYTES {
            let why = format!("uris: they are longer than {MAX_BYTES} bytes together; use fewer");
            return Err(Error::invalid(why));
        }
        if let Some(inner) = uris.iter().find(|uri| uri.scheme().eq_ignore_ascii_case(SCHEME)) {
            let why = format!("uris: {inner} is a basket; name its resources instead");
            return Err(Error::invalid(why).about(inner));
        }
        let title = title.filter(|title| !title.trim().is_empty()).map(str::to_owned);
        Ok(Self { name: name.to_owned(), title, uris })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its title.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The resources in it, in their order.
    pub fn uris(&self) -> &[Uri] {
        &self.uris
    }

    /// Its own URI.
    pub(super) fn uri(&self) -> Result<Uri> {
        uri_of(&self.name)
    }
}

/// Stores the baskets of each principal. Its methods may block.
pub trait BasketStorage: Send + Sync + 'static {
    /// Loads the baskets of a principal. One that cannot be understood is left out.
    fn load(&self, principal: &str) -> io::Result<Vec<Basket>>;

    /// Stores a basket in the place of one with its name. After an error the old one is unchanged.
    fn save(&self, principal: &str, basket: &Basket) -> io::Result<()>;

    /// Removes a basket; no error if there is none.
    fn remove(&self, principal: &str, name: &str) -> io::Result<()>;

    /// When the baskets of a principal last changed, by this process or another; `None` if that is
    /// unknown, or so recent that the next change could have the same time.
    fn modified(&self, principal: &str) -> Option<SystemTime>;
}

/// The URI of the basket with this name.
pub(super) fn uri_of(name: &str) -> Result<Uri> {
    Uri::parse(&[SCHEME, "://", name].concat())
}

/// An error unless `name` may be the name of a basket. Such a name is also safe as a file name.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let is_path = [".", ".."].contains(&name);
    if (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_valid) && !is_path {
        return Ok(());
    }
    let why = format!(
        "name: write 1 to {MAX_NAME} letters from a to z, digits, '-', '_' or '.'; \
         put any other text into the title"
    );
    Err(Error::invalid(why))
}
