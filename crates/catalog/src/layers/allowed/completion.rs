//! Completion under access rules: a value is offered if some URI that it leads to is allowed.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Complete, Completion, CompletionRequest, Context, Error, ErrorKind, Result, Template, Uri,
    Variable,
};

use super::{AccessGate, AllowedProvider};
use crate::access::MethodClass;
use crate::layers::ruled::expand_partly;

/// How many combinations of values of the other variables are tried.
const MAX_COMBINATIONS: usize = 200;

/// Values for the variables that have none yet.
type Combination = BTreeMap<String, String>;

#[async_trait]
impl Complete for AllowedProvider {
    fn may_complete(&self, ctx: &Context) -> bool {
        let inner = self.inner.facets().complete;
        self.may_reach(ctx, MethodClass::Complete)
            && inner.is_some_and(|inner| inner.may_complete(ctx))
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        if !self.gate.allows_template(ctx, MethodClass::Complete, request.template) {
            return Err(unknown_template());
        }
        let inner = self.inner.facets().complete.ok_or_else(unknown_template)?;
        match self.complete_allowed(inner, ctx, request).await {
            // The words of a source would tell a template that is denied from one that is not there.
            Err(error) if error.kind == ErrorKind::Invalid => Err(unknown_template()),
            // Neither may it tell a folder that is denied from one that is not there.
            Err(error)
                if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Denied)
                    && self.gate.may_deny_some(ctx, MethodClass::Complete) =>
            {
                Ok(Completion::default())
            }
            completed => completed,
        }
    }
}

fn unknown_template() -> Error {
    Error::invalid("there is no such template; list the templates")
}

impl AllowedProvider {
    /// The values of `source` that lead to something allowed.
    async fn complete_allowed(
        &self,
        source: &dyn Complete,
        ctx: &Context,
        request: &CompletionRequest<'_>,
    ) -> Result<Completion> {
        let mut completion = source.complete(ctx, request).await?;
        let combinations = match begins_with_value(request) {
            true => Vec::new(),
            false => combinations(source, ctx, request).await?,
        };
        let found = completion.values.len();
        completion.values.retain(|value| self.gate.offers(ctx, request, value, &combinations));
        let left = completion.values.len();
        if left == 0 && self.gate.may_deny_some(ctx, MethodClass::Complete) {
            return Ok(Completion::default());
        }
        // The values that did not come may all be denied: then they are not counted either.
        if left < found || self.gate.may_deny_beside(ctx, request) {
            completion.total = left;
        }
        Ok(completion)
    }
}

impl AccessGate {
    /// Leaves out the values of a template's variables that lead to nothing allowed.
    pub(super) fn retain_values(&self, ctx: &Context, template: &mut Arc<Template>) {
        let (uri, resolved) = (template.uri.as_str(), BTreeMap::new());
        let is_offered = |variable: &str, value: &str| {
            let request =
                CompletionRequest { template: uri, variable, typed: "", resolved: &resolved };
            self.offers(ctx, &request, value, &[])
        };
        let mut variables = template.variables.clone();
        for Variable { name, allowed, default, .. } in &mut variables {
            allowed.retain(|value| is_offered(name, value));
            *default = default.take().filter(|value| is_offered(name, value));
        }
        if variables != template.variables {
            Arc::make_mut(template).variables = variables;
        }
    }

    /// Whether the rules may deny something in the folder in which the typed text ends.
    fn may_deny_beside(&self, ctx: &Context, request: &CompletionRequest<'_>) -> bool {
        let folder = request.typed.rsplit_once('/').map_or("", |(folder, _)| folder);
        let start = self.template_start(&expand_partly(request, folder));
        self.rules.may_deny_below(ctx.principal(), MethodClass::Complete, &start)
    }

    /// Whether `value` leads to something allowed, with one of `combinations` for the variables in
    /// front of it.
    fn offers(
        &self,
        ctx: &Context,
        request: &CompletionRequest<'_>,
        value: &str,
        combinations: &[Combination],
    ) -> bool {
        let class = MethodClass::Complete;
        let allows = |text: &str| match text.contains('{') {
            true => self.allows_template(ctx, class, text),
            false => Uri::parse(text).map_or(true, |uri| self.allows(ctx, class, &uri)),
        };
        if combinations.is_empty() {
            return allows(&expand_partly(request, value));
        }
        combinations.iter().any(|others| {
            let mut resolved = request.resolved.clone();
            resolved.extend(others.clone());
            allows(&expand_partly(&CompletionRequest { resolved: &resolved, ..*request }, value))
        })
    }
}

/// Whether no variable without a value stands in front of the one that is completed: then the
/// beginning of its URIs is known.
fn begins_with_value(request: &CompletionRequest<'_>) -> bool {
    // A text that no template has as it is.
    let text = expand_partly(request, "\0");
    text.split('{').next().is_some_and(|start| start.contains("%00")) || !text.contains("%00")
}

/// Values for the variables that have none, as the source suggests them; none if it suggests none
/// for one of them.
async fn combinations(
    source: &dyn Complete,
    ctx: &Context,
    request: &CompletionRequest<'_>,
) -> Result<Vec<Combination>> {
    let mut combinations = vec![Combination::new()];
    for variable in open_variables(&expand_partly(request, "x")) {
        let question = CompletionRequest { variable: &variable, typed: "", ..*request };
        let values = source.complete(ctx, &question).await?.values;
        let with = |known: &Combination| {
            let with_one = |value: &String| {
                let mut more = known.clone();
                more.insert(variable.clone(), value.clone());
                more
            };
            values.iter().map(with_one).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(with).take(MAX_COMBINATIONS).collect();
    }
    Ok(combinations)
}

/// The names of the variables that `text` still has.
fn open_variables(text: &str) -> Vec<String> {
    let expressions = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let names = expressions.flat_map(|inner| {
        inner
            .trim_start_matches(['+', '#', '.', '/', ';'])
            .split(',')
            .map(|name| name.split([':', '*']).next().unwrap_or_default().to_owned())
    });
    names.collect()
}
