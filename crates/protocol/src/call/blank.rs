//! Decoder for `completion/complete`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Call, read};
use crate::refusal::Refusal;

/// Decodes a completion request: for a template variable or a prompt argument.
pub(super) fn complete(params: Option<&RawValue>, most: usize) -> Result<Call, Refusal> {
    #[derive(Deserialize)]
    struct Asked<'a> {
        #[serde(borrow, rename = "ref")]
        subject: Subject<'a>,
        #[serde(borrow)]
        argument: Argument<'a>,
        context: Option<Settled>,
    }
    #[derive(Deserialize)]
    struct Subject<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        uri: Option<Cow<'a, str>>,
        #[serde(borrow)]
        name: Option<Cow<'a, str>>,
    }
    #[derive(Deserialize)]
    struct Argument<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        value: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    struct Settled {
        #[serde(default)]
        arguments: BTreeMap<String, String>,
    }
    let asked: Asked<'_> = read(params)?;
    let (subject, is_prompt) = match (&*asked.subject.kind, asked.subject.uri, asked.subject.name) {
        ("ref/resource", Some(uri), _) => (uri, false),
        ("ref/prompt", _, Some(name)) => (name, true),
        _ => {
            return Err(Refusal::bad_params(
                "ref: must be a ref/resource with uri or a ref/prompt with name".to_owned(),
            ));
        }
    };
    if subject.len() > most || asked.argument.value.len() > most {
        return Err(Refusal::bad_params(format!(
            "ref or argument value: longer than {most} bytes"
        )));
    }
    let subject = subject.into_owned();
    let blank = asked.argument.name.into_owned();
    let typed = asked.argument.value.into_owned();
    let settled = asked.context.map(|settled| settled.arguments).unwrap_or_default();
    Ok(if is_prompt {
        Call::Suggest { prompt: subject, argument: blank, typed, settled }
    } else {
        Call::Complete { template: subject, variable: blank, typed, settled }
    })
}
