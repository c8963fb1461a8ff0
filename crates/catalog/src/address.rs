//! URI rewriting: adds a mount's name to its local URIs, and strips it from public ones.
//!
//! Pure and reversible: `split` undoes `join`.

use std::collections::HashSet;

use resource::{Error, Result, Uri, UriTemplate};

/// The scheme of UI pages that hosts render.
const UI_PREFIX: &str = "ui://";
/// The scheme of skills, which hosts load. A skill is named by the last segment before its file, so
/// the mount's name is a segment of its own.
const SKILL_PREFIX: &str = "skill://";

/// How the local URIs of a mount map to public ones.
#[derive(Debug, Clone)]
pub enum Address {
    /// The mount's name is the first segment of the path: `file:///<name>/…`.
    Path {
        /// The scheme of the mount's URIs.
        scheme: &'static str,
        /// The mount's name.
        name: String,
    },
    /// The mount's name is the authority: `config://<name>/…`. Local URIs have none:
    /// `config:///…`.
    Authority {
        /// The scheme of the mount's URIs.
        scheme: &'static str,
        /// The mount's name.
        name: String,
    },
    /// A folder of documentation: `file:///<name>/…` as a folder, and `docs://<name>/…` for its
    /// pages by language. A local URI has either scheme.
    Docs {
        /// The mount's name.
        name: String,
    },
    /// The mount's name and a plus precede the scheme: `<name>+<uri>`. In `ui://` URIs, which
    /// hosts recognise by their scheme, they precede the authority; in `skill://` URIs the name is
    /// the authority.
    Scheme {
        /// The mount's name, without a plus.
        name: String,
    },
    /// A fixed set of URIs and templates from the settings; they stay unchanged.
    Declared {
        /// The URIs.
        uris: HashSet<Uri>,
        /// The templates, whose expansions belong to this mount too.
        templates: Vec<UriTemplate>,
    },
    /// The fallback: all URIs that no other mount claims; they stay unchanged.
    Fallback,
}

impl Address {
    /// The local URI of the public `uri`, if it belongs to this mount.
    pub fn split(&self, uri: &Uri) -> Option<Uri> {
        match self {
            Self::Path { scheme, name } => {
                let rest = path_after_root(uri.as_str(), scheme)?.strip_prefix(name.as_str())?;
                let path = if rest.is_empty() { "/" } else { rest };
                path.starts_with('/').then(|| Uri::parse(&[scheme, "://", path].concat()).ok())?
            }
            Self::Authority { scheme, name } => {
                let rest = path_of_authority(uri.as_str(), scheme, name)?;
                let path = if rest.is_empty() { "/" } else { rest };
                Uri::parse(&[scheme, "://", path].concat()).ok()
            }
            Self::Docs { name } => docs_addresses(name).iter().find_map(|one| one.split(uri)),
            Self::Scheme { name } => Uri::parse(&remove_mount_name(name, uri.as_str())?).ok(),
            Self::Declared { uris, templates } => {
                let here = uris.contains(uri)
                    || templates.iter().any(|template| template.matches(uri).is_some());
                here.then(|| uri.clone())
            }
            Self::Fallback => Some(uri.clone()),
        }
    }

    /// The public URI of the local URI `local`.
    pub fn join(&self, local: &Uri) -> Result<Uri> {
        match self {
            Self::Path { scheme, name } => {
                let path = path_after_root(local.as_str(), scheme)
                    .ok_or_else(|| Error::internal("a provider sent a URI of another scheme"))?;
                let slash = if path.is_empty() { "" } else { "/" };
                Uri::parse(&[scheme, ":///", name, slash, path].concat())
            }
            Self::Authority { scheme, name } => {
                Uri::parse(&add_authority(local.as_str(), scheme, name)?)
            }
            Self::Docs { name } => docs_address(name, local.as_str()).join(local),
            Self::Scheme { name } => Uri::parse(&add_mount_name(name, local.as_str())),
            Self::Declared { .. } | Self::Fallback => Ok(local.clone()),
        }
    }

    /// The local template of a public one, if it belongs to this mount.
    pub fn split_template(&self, template: &str) -> Option<String> {
        match self {
            Self::Path { scheme, name } => {
                let rest = path_after_root(template, scheme)?.strip_prefix(name.as_str())?;
                rest.starts_with('/').then(|| format!("{scheme}://{rest}"))
            }
            Self::Authority { scheme, name } => {
                let rest = path_of_authority(template, scheme, name)?;
                rest.starts_with('/').then(|| format!("{scheme}://{rest}"))
            }
            Self::Docs { name } => {
                docs_addresses(name).iter().find_map(|one| one.split_template(template))
            }
            Self::Scheme { name } => remove_mount_name(name, template),
            Self::Declared { templates, .. } => {
                let here = templates.iter().any(|known| known.as_str() == template);
                here.then(|| template.to_owned())
            }
            Self::Fallback => Some(template.to_owned()),
        }
    }

    /// The public template of a local one.
    pub fn join_template(&self, local: &UriTemplate) -> Result<UriTemplate> {
        match self {
            Self::Path { scheme, name } => {
                let path = path_after_root(local.as_str(), scheme)
                    .ok_or_else(|| Error::internal("a provider sent a URI of another scheme"))?;
                UriTemplate::parse(&format!("{scheme}:///{name}/{path}"))
            }
            Self::Authority { scheme, name } => {
                UriTemplate::parse(&add_authority(local.as_str(), scheme, name)?)
            }
            Self::Docs { name } => docs_address(name, local.as_str()).join_template(local),
            Self::Scheme { name } => UriTemplate::parse(&add_mount_name(name, local.as_str())),
            Self::Declared { .. } | Self::Fallback => Ok(local.clone()),
        }
    }

    /// Whether a public URI of this mount may begin with `prefix`, which is percent-decoded.
    pub(crate) fn may_match(&self, prefix: &str) -> bool {
        let fits = |root: &str| root.starts_with(prefix) || prefix.starts_with(root);
        match self {
            Self::Path { scheme, name } => fits(&format!("{scheme}:///{name}")),
            Self::Authority { scheme, name } => fits(&format!("{scheme}://{name}")),
            Self::Docs { name } => docs_addresses(name).iter().any(|one| one.may_match(prefix)),
            Self::Scheme { name } => {
                fits(&format!("{name}+"))
                    || fits(&format!("{UI_PREFIX}{name}+"))
                    || fits(&format!("{SKILL_PREFIX}{name}/"))
            }
            Self::Declared { .. } | Self::Fallback => true,
        }
    }

    /// Whether a server decides what a URI names. The providers of the other addresses decide here, and
    /// resolve a path in one way.
    pub(crate) fn is_of_server(&self) -> bool {
        matches!(self, Self::Scheme { .. } | Self::Fallback)
    }

    /// The common prefix of the mount's public URIs, for display.
    pub fn root(&self) -> Option<String> {
        match self {
            Self::Path { scheme, name } => Some(format!("{scheme}:///{name}/")),
            Self::Authority { scheme, name } => Some(format!("{scheme}://{name}/")),
            Self::Docs { name } => docs_addresses(name)[0].root(),
            Self::Scheme { name } => Some(format!("{name}+")),
            Self::Declared { .. } | Self::Fallback => None,
        }
    }
}

/// The addresses of a folder of documentation: as a folder, and by language.
fn docs_addresses(name: &str) -> [Address; 2] {
    let own = || name.to_owned();
    [
        Address::Path { scheme: "file", name: own() },
        Address::Authority { scheme: "docs", name: own() },
    ]
}

/// The address of a folder of documentation that the local URI or template `text` is of.
fn docs_address(name: &str, text: &str) -> Address {
    let [folder, by_language] = docs_addresses(name);
    if text.starts_with("docs:") { by_language } else { folder }
}

/// The path of `text`, a URI or template whose authority is `name`; empty if it ends there.
fn path_of_authority<'a>(text: &'a str, scheme: &str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(scheme)?.strip_prefix("://")?.strip_prefix(name)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Makes `name` the authority of `text`, which has none.
fn add_authority(text: &str, scheme: &str, name: &str) -> Result<String> {
    let path = text.strip_prefix(scheme).and_then(|rest| rest.strip_prefix("://"));
    let path = path.filter(|path| path.starts_with('/'));
    let path = path.ok_or_else(|| Error::internal("a provider sent a URI of another scheme"))?;
    Ok(format!("{scheme}://{name}{path}"))
}

/// Adds the mount's name to `text`.
fn add_mount_name(name: &str, text: &str) -> String {
    if let Some(rest) = text.strip_prefix(UI_PREFIX) {
        let public = format!("{UI_PREFIX}{name}+{rest}");
        // Nothing may precede an authority in brackets.
        if !rest.starts_with('[') {
            return public;
        }
    }
    // Brackets are only valid in an authority.
    if let Some(rest) = text.strip_prefix(SKILL_PREFIX).filter(|rest| !rest.starts_with('[')) {
        return format!("{SKILL_PREFIX}{name}/{rest}");
    }
    format!("{name}+{text}")
}

/// Strips the mount's name from `text`; `None` if it is not there.
fn remove_mount_name(name: &str, text: &str) -> Option<String> {
    let own = |text: &'_ str| Some(text.strip_prefix(name)?.strip_prefix('+')?.to_owned());
    let skill = || text.strip_prefix(SKILL_PREFIX)?.strip_prefix(name)?.strip_prefix('/');
    own(text)
        .or_else(|| {
            text.strip_prefix(UI_PREFIX).and_then(own).map(|rest| format!("{UI_PREFIX}{rest}"))
        })
        .or_else(|| skill().map(|rest| format!("{SKILL_PREFIX}{rest}")))
}

/// The path after `scheme:///`. The authority may be `localhost`, but no other host.
fn path_after_root<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(scheme)?.strip_prefix("://")?;
    let (host, path) = rest.split_once('/')?;
    (host.is_empty() || host.eq_ignore_ascii_case("localhost")).then_some(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};
    use resource::{Uri, uri};

    use super::Address;

    fn project() -> Address {
        Address::Path { scheme: "file", name: "project".to_owned() }
    }

    proptest! {
        #[test]
        fn splitting_undoes_joining(segments in prop::collection::vec(any::<Vec<u8>>(), 0..5)) {
            let mut text = String::from("file://");
            for segment in &segments {
                text.push('/');
                uri::encode_segment(segment, &mut text);
            }
            if segments.is_empty() {
                text.push('/');
            }
            let local = Uri::parse(&text).unwrap();
            let public = project().join(&local).unwrap();
            assert_eq!(project().split(&public), Some(local));
        }
    }

    #[test]
    fn a_name_as_authority_is_added_and_removed() {
        let app = Address::Authority { scheme: "config", name: "app".to_owned() };
        for (local, public) in [
            ("config:///", "config://app/"),
            ("config:///a.toml", "config://app/a.toml"),
            ("config:///keys/a%2Fb?x", "config://app/keys/a%2Fb?x"),
        ] {
            let (local, public) = (Uri::parse(local).unwrap(), Uri::parse(public).unwrap());
            assert_eq!(app.join(&local).unwrap(), public);
            assert_eq!(app.split(&public), Some(local.clone()));
            let template = resource::UriTemplate::parse(local.as_str()).unwrap();
            let joined = app.join_template(&template).unwrap();
            assert_eq!(joined.as_str(), public.as_str());
            assert_eq!(app.split_template(joined.as_str()).as_deref(), Some(local.as_str()));
        }
        assert_eq!(app.split(&Uri::parse("config://app").unwrap()).unwrap().as_str(), "config:///");
        for other in ["config://app2/a", "config://ap/a", "config:///app/a", "env://app/a"] {
            assert_eq!(app.split(&Uri::parse(other).unwrap()), None, "{other}");
        }
        assert!(app.join(&Uri::parse("config://app/a").unwrap()).is_err());
        assert!(app.may_match("config://") && !app.may_match("config://other"));
    }

    #[test]
    fn documentation_has_the_uris_of_a_folder_and_those_by_language() {
        let docs = Address::Docs { name: "manual".to_owned() };
        for (local, public) in [
            ("file:///", "file:///manual"),
            ("file:///ja/a.md", "file:///manual/ja/a.md"),
            ("docs:///ja/a.md", "docs://manual/ja/a.md"),
        ] {
            let (local, public) = (Uri::parse(local).unwrap(), Uri::parse(public).unwrap());
            assert_eq!(docs.join(&local).unwrap(), public);
            assert_eq!(docs.split(&public), Some(local));
        }
        for template in ["file:///{+path}", "docs:///{lang}/{+path}"] {
            let local = resource::UriTemplate::parse(template).unwrap();
            let public = docs.join_template(&local).unwrap();
            assert!(public.as_str().contains("manual"));
            assert_eq!(docs.split_template(public.as_str()).as_deref(), Some(template));
        }
        for other in ["docs://manuals/a", "docs:///manual/a", "file:///manuals/a", "git://manual/a"]
        {
            assert_eq!(docs.split(&Uri::parse(other).unwrap()), None, "{other}");
        }
        assert!(docs.may_match("docs://manual/ja") && docs.may_match("file:///manual/x"));
        assert!(
            !docs.may_match("docs://other/") && docs.root().as_deref() == Some("file:///manual/")
        );
    }

    proptest! {
        /// 9.2: any URI of an upstream server.
        #[test]
        fn any_uri_goes_behind_a_mounts_name_and_comes_back(
            scheme in "[a-zA-Z][a-zA-Z0-9+.-]{0,8}|ui|skill|file|notes",
            rest in "(//(notes[+])?[a-zA-Z0-9.+-]{0,9}(:[0-9]{1,4})?)?(/[!-~]{0,9}){0,3}([?][!-~]{0,5})?",
        ) {
            let notes = Address::Scheme { name: "notes".to_owned() };
            let Ok(local) = Uri::parse(&format!("{scheme}:{rest}")) else { return Ok(()) };
            let public = notes.join(&local).unwrap();
            assert_eq!(notes.split(&public), Some(local.clone()), "{public}");
            for other in ["note", "notes2", "notes-"] {
                let other = Address::Scheme { name: other.to_owned() };
                assert_eq!(other.split(&public), None, "{public}");
            }
            let template = resource::UriTemplate::parse(local.as_str());
            if let Ok(template) = template {
                let public = notes.join_template(&template).unwrap();
                let back = notes.split_template(public.as_str());
                assert_eq!(back.as_deref(), Some(template.as_str()));
            }
        }
    }

    proptest! {
        #[test]
        fn the_rest_keeps_every_name(scheme in "[a-z][a-z0-9+.-]{0,8}", rest in "[!-~]{0,20}") {
            let Ok(uri) = Uri::parse(&format!("{scheme}:{rest}")) else { return Ok(()) };
            assert_eq!(Address::Fallback.join(&uri).unwrap(), uri);
            assert_eq!(Address::Fallback.split(&uri), Some(uri.clone()));
            if let Ok(template) = resource::UriTemplate::parse(uri.as_str()) {
                assert_eq!(Address::Fallback.join_template(&template).unwrap(), template);
                let back = Address::Fallback.split_template(uri.as_str());
                assert_eq!(back.as_deref(), Some(uri.as_str()));
            }
        }
    }

    #[test]
    fn a_page_for_hosts_keeps_its_scheme() {
        let notes = Address::Scheme { name: "notes".to_owned() };
        for (local, public) in [
            ("ui://app/page", "ui://notes+app/page"),
            ("ui:///page", "ui://notes+/page"),
            ("ui:opaque", "notes+ui:opaque"),
            ("skill://pdf/SKILL.md", "skill://notes/pdf/SKILL.md"),
            ("skill://index.json", "skill://notes/index.json"),
            ("skill:///x", "skill://notes//x"),
            ("skill://[::1]/x", "notes+skill://[::1]/x"),
            ("ui://[::1]/page", "notes+ui://[::1]/page"),
            ("urn:isbn:1", "notes+urn:isbn:1"),
            ("file:///a%20b?q#f", "notes+file:///a%20b?q#f"),
        ] {
            let local = Uri::parse(local).unwrap();
            assert_eq!(notes.join(&local).unwrap().as_str(), public);
            assert_eq!(notes.split(&Uri::parse(public).unwrap()), Some(local));
        }
        let pattern = resource::UriTemplate::parse("{+uri}").unwrap();
        assert_eq!(notes.join_template(&pattern).unwrap().as_str(), "notes+{+uri}");
    }

    #[test]
    fn only_the_mounts_own_uris_are_split() {
        let split = |text: &str| project().split(&Uri::parse(text).unwrap());
        let local = |text: &str| Some(Uri::parse(text).unwrap());
        assert_eq!(split("file:///project/a"), local("file:///a"));
        assert_eq!(split("file://localhost/project/a"), local("file:///a"));
        assert_eq!(split("file://LOCALHOST/project/a"), local("file:///a"));
        assert_eq!(split("file:///project"), local("file:///"));
        assert_eq!(split("file:///project/"), local("file:///"));
        for text in
            ["file:///projects/a", "file:///other/a", "file://evil/project/a", "x:///project/a"]
        {
            assert_eq!(split(text), None, "{text}");
        }
        for text in ["file:project/a", "file:///", "file:////project/a", "file:///project?x"] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
