//! Edits of the in-memory provider while it is served: each notifies its watchers.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use resource::Change;

use super::{EntryContent, MemoryProvider, new_entry, parse_uri};

impl MemoryProvider {
    /// Replaces or adds a text, and notifies watchers.
    pub fn write(&self, uri: &str, text: &str) {
        self.replace(uri, "text/plain", EntryContent::Text(text.to_owned().into()));
    }

    /// Replaces or adds binary content, and notifies watchers.
    pub fn write_blob(&self, uri: &str, bytes: &[u8]) {
        let content = EntryContent::Blob(Bytes::copy_from_slice(bytes));
        self.replace(uri, "application/octet-stream", content);
    }

    fn replace(&self, uri: &str, mime: &str, content: EntryContent) {
        let mut entry = new_entry(uri, Some(mime), content);
        entry.resource.watchable = self.watchable();
        let entry = Arc::new(entry);
        let uri = parse_uri(uri);
        let known = {
            let mut entries = self.entries.write();
            match entries.iter_mut().find(|known| known.resource.uri == uri) {
                Some(known) => {
                    *known = entry;
                    true
                }
                None => {
                    entries.push(entry);
                    false
                }
            }
        };
        self.notify(&Change::Updated(uri));
        if !known {
            self.notify(&Change::Listing);
        }
    }

    /// Removes a resource, and notifies watchers.
    pub fn remove(&self, uri: &str) {
        let uri = parse_uri(uri);
        let mut entries = self.entries.write();
        entries.retain(|entry| entry.resource.uri != uri);
        drop(entries);
        self.notify(&Change::Removed(uri));
        self.notify(&Change::Listing);
    }

    /// Adds a template without suggestions, and notifies watchers.
    pub fn add_template(&self, uri: &str, text: &str) {
        self.push_template(uri, text, BTreeMap::new());
        self.notify(&Change::Listing);
    }

    /// Sends `change` to every watcher whose interest it touches, even if nothing changed.
    pub fn notify(&self, change: &Change) {
        let parents = match change.without_extra() {
            Change::Updated(uri) | Change::Removed(uri) => self.parents(uri),
            Change::Listing | Change::Components(_) | Change::WithExtra(..) => Vec::new(),
        };
        let owner = match change.without_extra() {
            Change::Updated(uri) | Change::Removed(uri) => {
                let entries = self.entries.read();
                let entry = entries.iter().find(|entry| entry.resource.uri == *uri);
                entry.and_then(|entry| entry.owner.clone())
            }
            Change::Listing | Change::Components(_) | Change::WithExtra(..) => None,
        };
        if let Some(live) = &self.watches {
            live.send(change, &parents, owner.as_deref());
        }
    }
}
