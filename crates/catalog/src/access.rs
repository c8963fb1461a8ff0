//! Access rules: which principal may do what with which resources, tools and prompts of a mount.

mod subject;

use machinery::{GlobError, PathGlobSet};
use resource::{Principal, PrincipalSource, Uri};

pub(crate) use self::subject::Subject;
use self::subject::folders_of;
use crate::address::Address;
use crate::layers::ruled::MetadataRules;

/// The classes of methods that a rule can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodClass {
    /// Lists, templates and metadata.
    List,
    /// Reads, windows and search.
    Read,
    /// Subscriptions.
    Watch,
    /// Completion of template variables.
    Complete,
    /// Tools: listing and calling.
    Tool,
    /// Prompts: listing, getting and completing.
    Prompt,
}

/// One rule. A condition that is empty holds for all.
#[derive(Debug, Clone, Default)]
pub struct AccessRule {
    /// Whether the rule allows or denies.
    pub allows: bool,
    /// Globs over the path inside the mount or the name of a tool or prompt; one with `://` is a
    /// glob over the public URI. A glob that matches a folder covers everything below it.
    pub globs: Vec<String>,
    /// The names of principals.
    pub principals: Vec<String>,
    /// Scopes, of which the principal must have one.
    pub scopes: Vec<String>,
    /// The classes of methods.
    pub classes: Vec<MethodClass>,
}

/// Rules in order: the first that matches holds.
///
/// If none matches, everything is allowed, unless some rule names a principal or a scope: then
/// everything is denied.
#[derive(Debug, Clone)]
pub struct AccessRules {
    rules: Vec<CompiledRule>,
    allows_by_default: bool,
}

impl Default for AccessRules {
    fn default() -> Self {
        Self { rules: Vec::new(), allows_by_default: true }
    }
}

#[derive(Debug, Clone)]
struct CompiledRule {
    rule: AccessRule,
    paths: PathGlobSet,
    uris: PathGlobSet,
    /// Whether it covers everything in the mount.
    covers_all: bool,
    /// The folders that the globs name before their first special character.
    roots: Vec<String>,
    /// The same of the globs over public URIs.
    public_roots: Vec<String>,
    /// Whether some glob is over the path inside the mount.
    has_path_glob: bool,
    /// Whether some glob may match in any folder.
    matches_anywhere: bool,
    /// Whether some glob may name a query or a fragment.
    names_query: bool,
}

impl AccessRules {
    /// Compiles the rules; the error names the invalid glob.
    pub fn new(
        rules: impl IntoIterator<Item = AccessRule>,
    ) -> std::result::Result<Self, GlobError> {
        let rules: Vec<_> =
            rules.into_iter().map(CompiledRule::new).collect::<std::result::Result<_, _>>()?;
        let names_someone =
            |one: &CompiledRule| !one.rule.principals.is_empty() || !one.rule.scopes.is_empty();
        let allows_by_default = !rules.iter().any(names_someone);
        Ok(Self { rules, allows_by_default })
    }

    /// Whether there are none, so that everything is allowed.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.allows_by_default
    }

    /// The rules that can match something of the mount at `address`. A glob over public URIs may be
    /// for another mount.
    #[must_use]
    pub(crate) fn for_address(&self, address: &Address) -> Self {
        let may_match = |one: &&CompiledRule| {
            one.covers_all
                || one.has_path_glob
                || one.public_roots.iter().any(|root| address.may_match(root))
        };
        let rules = self.rules.iter().filter(may_match).cloned().collect();
        Self { rules, allows_by_default: self.allows_by_default }
    }

    /// Whether `principal` may use a method of `class` on `subject`.
    pub(crate) fn allow(
        &self,
        principal: &Principal,
        class: MethodClass,
        subject: &Subject,
    ) -> bool {
        if is_program(principal) {
            return true;
        }
        if !self.is_empty() && subject.is_ambiguous() {
            return false;
        }
        let rules = self.rules.iter().filter(|one| one.concerns(principal, class));
        for one in rules {
            if one.decides(subject) {
                return one.rule.allows;
            }
            // The folders on the way to what may be listed can be listed too.
            if one.rule.allows && class == MethodClass::List && one.leads_through(subject) {
                return true;
            }
        }
        self.allows_by_default
    }

    /// Whether `principal` may list and read the resource at the local `uri`, whose public form is
    /// `public`. For providers that show resources once more in others.
    pub fn may_read(&self, principal: &Principal, uri: &Uri, public: Option<&str>) -> bool {
        let subject = Subject::resource(uri, public);
        [MethodClass::List, MethodClass::Read]
            .into_iter()
            .all(|class| self.allow(principal, class, &subject))
    }

    /// Whether `principal` may use a method of `class` on the resource at the local `uri`, whose
    /// public form is `public`. For providers that name resources in others.
    pub fn may_use(
        &self,
        principal: &Principal,
        class: MethodClass,
        uri: &Uri,
        public: Option<&str>,
    ) -> bool {
        self.allow(principal, class, &Subject::resource(uri, public))
    }

    /// Whether a rule denies `principal` methods of `class` on the resource at the local `uri`, whose
    /// public form is `public`. What no rule allows is not denied by that alone. For providers whose
    /// resources are made of files: who is allowed such a resource need not be allowed the files.
    pub fn denies(
        &self,
        principal: &Principal,
        class: MethodClass,
        uri: &Uri,
        public: Option<&str>,
    ) -> bool {
        if is_program(principal) || self.is_empty() {
            return false;
        }
        let subject = Subject::resource(uri, public);
        let mut rules = self.rules.iter().filter(|one| one.concerns(principal, class));
        subject.is_ambiguous()
            || rules.find(|one| one.decides(&subject)).is_some_and(|one| !one.rule.allows)
    }

    /// Whether the rules may keep something of the mount at the public URI `root` from `principal`.
    pub fn may_restrict(&self, principal: &Principal, root: Option<&str>) -> bool {
        let everything = Subject::start("", root);
        [MethodClass::List, MethodClass::Read]
            .into_iter()
            .any(|class| self.may_deny_below(principal, class, &everything))
    }

    /// Whether `principal` may use a method of `class` on something whose URI begins with `start`,
    /// as far as the rules tell. `start` may end inside a path segment.
    pub(crate) fn may_reach_from(
        &self,
        principal: &Principal,
        class: MethodClass,
        start: &Subject,
    ) -> bool {
        if is_program(principal) {
            return true;
        }
        let rules = self.rules.iter().filter(|one| one.concerns(principal, class));
        for one in rules {
            if one.covers(&start.folder()) {
                return one.rule.allows;
            }
            if one.rule.allows && one.may_match_from(start) {
                return true;
            }
        }
        self.allows_by_default
    }

    /// Whether the rules may deny `principal` something in the folder `subject` to methods of `class`.
    pub(crate) fn may_deny_below(
        &self,
        principal: &Principal,
        class: MethodClass,
        subject: &Subject,
    ) -> bool {
        if is_program(principal) {
            return false;
        }
        for one in self.rules.iter().filter(|one| one.concerns(principal, class)) {
            if one.covers(subject) {
                return !one.rule.allows;
            }
            if !one.rule.allows && one.may_match_from(subject) {
                return true;
            }
        }
        !self.allows_by_default
    }

    /// Whether `principal` may use methods of `class` on anything at all, as far as the rules
    /// tell.
    pub(crate) fn may_reach(&self, principal: &Principal, class: MethodClass) -> bool {
        if is_program(principal) {
            return true;
        }
        let mut rules = self.rules.iter().filter(|one| one.concerns(principal, class));
        let decisive = rules.find(|one| one.rule.allows || one.covers_all);
        decisive.map_or(self.allows_by_default, |one| one.rule.allows)
    }

    /// Whether the mount exists for `principal`: some method may reach something.
    pub fn show_mount(&self, principal: &Principal) -> bool {
        self.is_empty()
            || MethodClass::ALL.into_iter().any(|class| self.may_reach(principal, class))
    }
}

/// Whether the program itself asks: rules say what others get.
fn is_program(principal: &Principal) -> bool {
    principal.source() == PrincipalSource::Internal
}

impl MethodClass {
    /// All classes.
    pub const ALL: [Self; 6] =
        [Self::List, Self::Read, Self::Watch, Self::Complete, Self::Tool, Self::Prompt];
}

impl CompiledRule {
    fn new(rule: AccessRule) -> std::result::Result<Self, GlobError> {
        let (mut paths, mut uris) = (Vec::new(), Vec::new());
        let (mut roots, mut public_roots) = (Vec::new(), Vec::new());
        let mut matches_anywhere = false;
        for glob in &rule.globs {
            let folder = glob.strip_suffix("/**").unwrap_or(glob);
            // `docs/**` is the folder at the top, and a glob without a slash would match anywhere.
            let is_tied = glob.contains('/');
            let tied = format!("/{folder}");
            let pattern = if is_tied && !folder.contains('/') { &tied } else { folder };
            let literal = folder.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
            let parsed = MetadataRules::parse_glob(pattern)?;
            if folder.contains("://") {
                uris.push(parsed);
                public_roots.push(literal.to_owned());
            } else {
                paths.push(parsed);
                matches_anywhere |= !is_tied;
                if is_tied {
                    roots.push(literal.trim_start_matches('/').to_owned());
                }
            }
        }
        let covers_all = rule.globs.is_empty()
            || rule.globs.iter().any(|glob| matches!(glob.as_str(), "*" | "**" | "/**" | "/"));
        let has_path_glob = !paths.is_empty();
        let names_query = rule.globs.iter().any(|glob| glob.contains(['?', '#']));
        let (paths, uris) = (PathGlobSet::new(&paths)?, PathGlobSet::new(&uris)?);
        Ok(Self {
            rule,
            paths,
            uris,
            covers_all,
            roots,
            public_roots,
            has_path_glob,
            matches_anywhere,
            names_query,
        })
    }

    fn concerns(&self, principal: &Principal, class: MethodClass) -> bool {
        let AccessRule { principals, scopes, classes, .. } = &self.rule;
        let is_named = |name: &String| **name == **principal.key();
        let is_granted = |scope: &String| principal.scopes().contains(scope);
        (principals.is_empty() || principals.iter().any(is_named))
            && (scopes.is_empty() || scopes.iter().any(is_granted))
            && (classes.is_empty() || classes.contains(&class))
    }

    /// Whether it says what happens to `subject`. A server may ignore a query, a fragment and empty
    /// segments: a rule denies by either spelling, and allows only by both. A query that a glob
    /// names is part of what it allows.
    fn decides(&self, subject: &Subject) -> bool {
        let covers = self.covers(subject);
        let Some(plain) = &subject.plain else { return covers };
        match self.rule.allows {
            true => covers && (self.names_query || self.covers(plain)),
            false => covers || self.covers(plain),
        }
    }

    fn covers(&self, subject: &Subject) -> bool {
        self.covers_all
            || folders_of(&subject.path).any(|path| self.paths.is_match(path))
            || subject.public.iter().any(|uri| folders_of(uri).any(|uri| self.uris.is_match(uri)))
    }

    /// Whether a glob may match something that begins with `start`.
    fn may_match_from(&self, start: &Subject) -> bool {
        let meets = |root: &str, start: &str| root.starts_with(start) || start.starts_with(root);
        self.matches_anywhere
            || self.roots.iter().any(|root| meets(root, &start.path))
            || start.public.iter().any(|uri| self.public_roots.iter().any(|root| meets(root, uri)))
    }

    /// Whether the folder `subject` lies on the way to what a glob names.
    fn leads_through(&self, subject: &Subject) -> bool {
        let is_below = |root: &str, folder: &str| {
            root.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        match subject.path.is_empty() {
            true => self.may_match_from(subject),
            false => {
                self.roots.iter().any(|root| is_below(root, &subject.path))
                    || subject
                        .public
                        .iter()
                        .any(|uri| self.public_roots.iter().any(|root| is_below(root, uri)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
