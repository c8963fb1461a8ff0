//! Completion under access rules: a value is offered if some URI that it leads to is allowed.

use std::collections::BTreeMap;

use async_trait::async_trait;
use resource::{Complete, Completion, CompletionRequest, Context, Error, ErrorKind, Result, Uri};

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
        let unknown = || Error::invalid("there is no such template; list the templates");
        if !self.gate.allows_template(ctx, MethodClass::Complete, request.template) {
            return Err(unknown());
        }
        let inner = self.inner.facets().complete.ok_or_else(unknown)?;
        // The words of a source would tell a template that is denied from one that is not there.
        let completed = inner.complete(ctx, request).await;
        let mut completion = completed.map_err(|error| match error.kind {
            ErrorKind::Invalid => unknown(),
            _ => error,
        })?;
        let has_more = completion.total > completion.values.len();
        let combinations = match begins_with_value(request) {
            true => Vec::new(),
            false => combinations(inner, ctx, request).await?,
        };
        completion.values.retain(|value| self.gate.offers(ctx, request, value, &combinations));
        // How many of the values that did not come are denied is unknown: one stands for them.
        completion.total = completion.values.len() + usize::from(has_more);
        Ok(completion)
    }
}

impl AccessGate {
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
