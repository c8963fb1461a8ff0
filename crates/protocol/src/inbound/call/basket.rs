//! Decoder for the parameters that save a basket.

use std::borrow::Cow;

use resource::Uri;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Call, decode_params};
use crate::inbound::refusal::Refusal;

/// Name of the extension for baskets: collections that a person puts together.
pub const BASKETS_EXTENSION: &str = "dev.refdesk/baskets";

#[derive(Deserialize)]
struct SaveBasketParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uris: Vec<Cow<'a, str>>,
}

/// Decodes a basket. Refuses URIs longer than `most` bytes.
pub(super) fn decode_save(params: Option<&RawValue>, most: usize) -> Result<Call, Refusal> {
    let SaveBasketParams { name, title, uris } = decode_params(params)?;
    let parse = |(at, text): (usize, Cow<'_, str>)| {
        let bad = |why: &str| Refusal::invalid_params(format!("uris[{at}]: {why}"));
        if text.len() > most {
            return Err(bad(&format!("longer than {most} bytes")));
        }
        Uri::parse(&text).map_err(|error| bad(&error.to_string()))
    };
    let uris = uris.into_iter().enumerate().map(parse).collect::<Result<_, _>>()?;
    let title = title.map(Cow::into_owned);
    Ok(Call::SaveBasket { name: name.into_owned(), title, uris })
}
