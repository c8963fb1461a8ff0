//! Templates of a configuration mount, and completion of their variables, one level at a time.

use std::collections::BTreeSet;
use std::sync::Arc;

use resource::uri::{percent_decode_lossy, reserved_value};
use resource::{
    Annotations, Completion, CompletionRequest, Context, Error, Result, Template, UnknownMembers,
    UriTemplate, Variable,
};

use super::ConfigFiles;
use super::describe::MARKDOWN;
use super::parse::ConfigSyntax;
use super::tree::ConfigNode;

const FILE_TEMPLATE: &str = "config:///{+file}";
const KEY_TEMPLATE: &str = "config:///keys/{+file}/{+key}";
const EFFECTIVE_TEMPLATE: &str = "config:///effective/{+key}";
const DIFF_TEMPLATE: &str = "config:///diff/{from}..{to}";

const FILE: (&str, &str) = ("file", "Path of the file, with / between names");
const KEY: (&str, &str) =
    ("key", "Keys from the top down, with / between them; a / in a key is %2F; lists have indices");
const FROM: (&str, &str) = ("from", "Name of the layer before");
const TO: (&str, &str) = ("to", "Name of the layer after");

/// The templates of a mount, with or without layers.
pub(super) fn templates(has_layers: bool) -> Vec<Arc<Template>> {
    let mut all = vec![
        template(FILE_TEMPLATE, "files", ("Files", "A file, in its text and as JSON"), &[FILE]),
        template(
            KEY_TEMPLATE,
            "keys",
            ("Keys", "A value of a file by its keys: a scalar as text, a table or list as JSON"),
            &[FILE, KEY],
        ),
    ];
    if has_layers {
        let effective = "A value of all layers merged; _meta says which file and line it is from";
        all.push(template(EFFECTIVE_TEMPLATE, "effective", ("Effective", effective), &[KEY]));
        let diff = "What one layer adds, changes or leaves out against another";
        let mut diff = template(DIFF_TEMPLATE, "diff", ("Differences", diff), &[FROM, TO]);
        diff.mime = Some(MARKDOWN.to_owned());
        all.push(diff);
    }
    all.into_iter().map(Arc::new).collect()
}

fn template(
    uri: &str,
    name: &str,
    (title, description): (&str, &str),
    variables: &[(&str, &str)],
) -> Template {
    let variable = |(name, description): &(&str, &str)| Variable {
        name: (*name).to_owned(),
        description: Some((*description).to_owned()),
        ..Variable::default()
    };
    Template {
        uri: UriTemplate::parse(uri).expect("the template is valid"),
        name: name.to_owned(),
        title: Some(title.to_owned()),
        description: Some(description.to_owned()),
        mime: None,
        icons: Vec::new(),
        annotations: Annotations::default(),
        variables: variables.iter().map(variable).collect(),
        extra: UnknownMembers::default(),
    }
}

impl ConfigFiles {
    pub(super) async fn complete_variable(
        &self,
        ctx: &Context,
        request: &CompletionRequest<'_>,
    ) -> Result<Completion> {
        let known = self.templates.iter().find(|one| one.uri.as_str() == request.template);
        let known = known.ok_or_else(|| Error::invalid("no such template"))?;
        if !known.uri.variables().any(|name| name == request.variable) {
            return Err(Error::invalid("the template has no variable with this name"));
        }
        let values = match (request.template, request.variable) {
            (FILE_TEMPLATE, _) => self.complete_file(ctx, request.typed, false).await?,
            (KEY_TEMPLATE, "file") => self.complete_file(ctx, request.typed, true).await?,
            (KEY_TEMPLATE, _) => {
                let Some(path) = request.resolved.get("file") else {
                    return Ok(Completion::default());
                };
                // A file whose name or text is not complete yet has no keys.
                let document = self.source.load(ctx, &decode(path)).await.ok();
                let tree = document.as_ref().and_then(|document| document.tree().ok());
                tree.map(|tree| complete_key(tree, request.typed)).unwrap_or_default()
            }
            (EFFECTIVE_TEMPLATE, _) => {
                complete_key(&self.source.load_layers(ctx).await?.root, request.typed)
            }
            _ => {
                let layers = self.source.visible_layers(ctx);
                let names = layers.iter().map(|layer| layer.name.clone());
                names.filter(|name| begins_with(name, request.typed)).collect()
            }
        };
        Ok(Completion::from_values(values))
    }

    /// The names in the folder that is typed, folders with a slash behind.
    async fn complete_file(&self, ctx: &Context, typed: &str, keyed: bool) -> Result<Vec<String>> {
        let files = self.source.list_files(ctx).await?;
        let folder = typed.rfind('/').map_or(0, |slash| slash + 1);
        let mut found = BTreeSet::new();
        for (path, _) in &files {
            let path = reserved_value(path);
            if !begins_with(&path, typed) || keyed && ConfigSyntax::of_path(&path).is_none() {
                continue;
            }
            let Some(rest) = path.get(folder..) else { continue };
            let end = rest.find('/').map_or(path.len(), |slash| folder + slash + 1);
            found.insert(path[..end].to_owned());
        }
        Ok(found.into_iter().collect())
    }
}

/// The keys of the table or list that is typed; those that have keys of their own with a slash
/// behind.
fn complete_key(root: &ConfigNode, typed: &str) -> Vec<String> {
    let (above, _) = typed.split_at(typed.rfind('/').map_or(0, |slash| slash + 1));
    let keys: Vec<String> = above.split_terminator('/').map(decode).collect();
    let Some(node) = root.descend(&keys) else { return Vec::new() };
    let values = node.children().filter(|(key, _)| !key.is_empty()).map(|(key, child)| {
        let slash = if child.is_scalar() { "" } else { "/" };
        format!("{above}{}{slash}", reserved_value(&key).replace('/', "%2F"))
    });
    values.filter(|value| begins_with(value, typed)).collect()
}

fn begins_with(value: &str, typed: &str) -> bool {
    value.starts_with(typed) || value.to_lowercase().starts_with(&typed.to_lowercase())
}

fn decode(text: &str) -> String {
    percent_decode_lossy(text).into_owned()
}
