//! Decoder for `completion/complete`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Call, decode_params};
use crate::inbound::refusal::Refusal;

/// Decodes a completion request: for a template variable or a prompt argument.
pub(super) fn decode_completion(params: Option<&RawValue>, most: usize) -> Result<Call, Refusal> {
    #[derive(Deserialize)]
    struct CompleteParams<'a> {
        #[serde(borrow, rename = "ref")]
        subject: CompletionReference<'a>,
        #[serde(borrow)]
        argument: CompletionArgument<'a>,
        context: Option<CompletionContext>,
    }
    #[derive(Deserialize)]
    struct CompletionReference<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        uri: Option<Cow<'a, str>>,
        #[serde(borrow)]
        name: Option<Cow<'a, str>>,
    }
    #[derive(Deserialize)]
    struct CompletionArgument<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        value: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    struct CompletionContext {
        #[serde(default)]
        arguments: BTreeMap<String, String>,
    }
    let asked: CompleteParams<'_> = decode_params(params)?;
    let (subject, is_prompt) = match (&*asked.subject.kind, asked.subject.uri, asked.subject.name) {
        ("ref/resource", Some(uri), _) => (uri, false),
        ("ref/prompt", _, Some(name)) => (name, true),
        _ => {
            return Err(Refusal::invalid_params(
                "ref: must be a ref/resource with uri or a ref/prompt with name".to_owned(),
            ));
        }
    };
    if subject.len() > most || asked.argument.value.len() > most {
        return Err(Refusal::invalid_params(format!(
            "ref or argument value: longer than {most} bytes"
        )));
    }
    let subject = subject.into_owned();
    let argument = asked.argument.name.into_owned();
    let typed = asked.argument.value.into_owned();
    let resolved = asked.context.map(|context| context.arguments).unwrap_or_default();
    Ok(if is_prompt {
        Call::CompletePrompt { prompt: subject, argument, typed, resolved }
    } else {
        Call::CompleteTemplate { template: subject, variable: argument, typed, resolved }
    })
}
