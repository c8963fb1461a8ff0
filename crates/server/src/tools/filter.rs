//! Compiled resource filter of the tools `resources_list` and `resources_grep`.

use globset::{GlobBuilder, GlobMatcher};
use protocol::inbound::tool::arguments::FilterArguments;
use resource::{Error, Provider, Resource, Result};

/// The filter arguments of a call, with the glob compiled and the name in lower case.
pub(super) struct ResourceFilter<'a> {
    arguments: &'a FilterArguments,
    name: Option<String>,
    glob: Option<GlobMatcher>,
}

impl<'a> ResourceFilter<'a> {
    pub(super) fn new(said: &'a FilterArguments) -> Result<Self> {
        let glob = said.uri.as_deref().map(|glob| {
            let built = GlobBuilder::new(glob).literal_separator(true).build();
            built.map(|glob| glob.compile_matcher()).map_err(|error| {
                let why = error.kind();
                Error::invalid(format!("uri: invalid glob {glob:?}: {why}; example: **/*.md"))
            })
        });
        let name = said.name.as_ref().map(|name| name.to_lowercase());
        Ok(Self { arguments: said, name, glob: glob.transpose()? })
    }

    /// Whether `resource` passes every given filter.
    pub(super) fn matches(&self, provider: &dyn Provider, resource: &Resource) -> bool {
        let said = self.arguments;
        let named = |name: &String| {
            let titles = [Some(&resource.name), resource.title.as_ref()];
            titles.into_iter().flatten().any(|title| title.to_lowercase().contains(name))
        };
        let notes = &resource.annotations;
        self.name.as_ref().is_none_or(named)
            && self.glob.as_ref().is_none_or(|glob| glob.is_match(resource.uri.as_str()))
            && said.mime.as_ref().is_none_or(|mime| has_mime(resource, mime))
            && said
                .audience
                .is_none_or(|whom| notes.audience.is_empty() || notes.audience.contains(&whom))
            && said.min_priority.is_none_or(|least| notes.priority.is_some_and(|own| own >= least))
            && said
                .modified_since
                .is_none_or(|since| notes.modified.is_some_and(|modified| modified >= since))
            && said.mount.as_ref().is_none_or(|mount| {
                let mounts = provider.facets().mounts;
                mounts.and_then(|mounts| mounts.mount_of(&resource.uri)).as_ref() == Some(mount)
            })
    }
}

/// Whether one of the resource's formats has this MIME type. `image/` and `image/*` match every
/// subtype.
fn has_mime(resource: &Resource, mime: &str) -> bool {
    let wanted = mime.to_ascii_lowercase();
    let wanted = wanted.trim_end_matches('*');
    let formats = resource.formats.iter().map(|format| &format.mime);
    resource.mime.iter().chain(formats).any(|own| {
        let own = own.to_ascii_lowercase();
        if wanted.ends_with('/') || wanted.is_empty() {
            return own.starts_with(wanted);
        }
        own.split(';').next().is_some_and(|essence| essence.trim() == wanted) || own == wanted
    })
}
