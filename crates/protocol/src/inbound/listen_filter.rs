//! The filter of `subscriptions/listen`: which notifications a client asks for and is granted.
//!
//! Bounded: at most 65,536 resource URIs and 64 tasks per request; longer lists are cut.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use resource::{ComponentKind, Uri};
use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::inbound::refusal::Refusal;
use crate::json::raw_object::parse_object;

/// Kinds of notifications: those that a client asks for, or those that the server grants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListenFilter {
    /// Changes of the list of resources.
    pub resource_list: bool,
    /// Changes of the lists of tools or prompts.
    pub component_lists: Vec<ComponentKind>,
    /// Resources whose updates are wanted, without duplicates.
    pub resources: Vec<Uri>,
    /// Ids of tasks whose states are wanted (SEP-2663).
    pub tasks: Vec<String>,
}

impl ListenFilter {
    /// How many resources of one request count; the rest are ignored.
    const MAX_URIS: usize = 65_536;
    /// How many tasks of one request count; the rest are ignored.
    const MAX_TASKS: usize = 64;

    /// Decodes the parameters of `subscriptions/listen`. Ignores kinds it does not know, and URIs
    /// that are invalid or longer than `most` bytes.
    pub(crate) fn decode(params: Option<&RawValue>, most: usize) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        struct ListenParams<'a> {
            #[serde(borrow)]
            notifications: &'a RawValue,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct RequestedKinds<'a> {
            #[serde(default)]
            resources_list_changed: Option<bool>,
            #[serde(default)]
            tools_list_changed: Option<bool>,
            #[serde(default)]
            prompts_list_changed: Option<bool>,
            #[serde(borrow, default)]
            resource_subscriptions: Option<&'a RawValue>,
            #[serde(default)]
            task_ids: Option<Vec<String>>,
        }
        let bad = |flaw| Refusal::invalid_params(format!("params: {flaw}"));
        let params = params.map_or("{}", RawValue::get);
        let ListenParams { notifications } =
            parse_object(params).map_err(|flaw: serde_json::Error| bad(flaw.to_string()))?;
        if !notifications.get().starts_with('{') {
            return Err(bad("notifications is not an object".to_owned()));
        }
        let notifications: RequestedKinds<'_> = parse_object(notifications.get())
            .map_err(|flaw| bad(format!("notifications: {flaw}")))?;
        let resources = match notifications.resource_subscriptions {
            None => Vec::new(),
            Some(raw) => {
                let mut json = serde_json::Deserializer::from_str(raw.get());
                let read = UriListSeed { max_length: most }.deserialize(&mut json);
                read.map_err(|flaw| bad(format!("resourceSubscriptions: {flaw}")))?
            }
        };
        let components = [
            (ComponentKind::Tool, notifications.tools_list_changed),
            (ComponentKind::Prompt, notifications.prompts_list_changed),
        ];
        let components = components.iter().filter(|(_, asked)| *asked == Some(true));
        let components = components.map(|(kind, _)| *kind).collect();
        let lists = notifications.resources_list_changed.unwrap_or(false);
        let mut tasks = notifications.task_ids.unwrap_or_default();
        tasks.truncate(Self::MAX_TASKS);
        Ok(Self { resource_list: lists, component_lists: components, resources, tasks })
    }
}

/// Decodes a list of URIs without duplicates, and never holds more of them than may be granted.
struct UriListSeed {
    max_length: usize,
}

impl<'de> DeserializeSeed<'de> for UriListSeed {
    type Value = Vec<Uri>;

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<Vec<Uri>, D::Error> {
        list.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for UriListSeed {
    type Value = Vec<Uri>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of URIs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Uri>, A::Error> {
        #[derive(Deserialize)]
        struct UriText<'a>(#[serde(borrow)] Cow<'a, str>);
        let (mut uris, mut seen) = (Vec::new(), HashSet::new());
        while let Some(UriText(text)) = list.next_element()? {
            if text.len() > self.max_length || uris.len() >= ListenFilter::MAX_URIS {
                continue;
            }
            let Ok(uri) = Uri::parse(&text) else { continue };
            if seen.insert(uri.clone()) {
                uris.push(uri);
            }
        }
        Ok(uris)
    }
}

/// Encodes the granted filter for `notifications/subscriptions/acknowledged`.
impl Serialize for ListenFilter {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct GrantedKinds<'a> {
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            resources_list_changed: bool,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            tools_list_changed: bool,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            prompts_list_changed: bool,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            resource_subscriptions: Vec<&'a str>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            task_ids: &'a [String],
        }
        let resources = self.resources.iter().map(Uri::as_str).collect();
        let granted = GrantedKinds {
            resources_list_changed: self.resource_list,
            tools_list_changed: self.component_lists.contains(&ComponentKind::Tool),
            prompts_list_changed: self.component_lists.contains(&ComponentKind::Prompt),
            resource_subscriptions: resources,
            task_ids: &self.tasks,
        };
        granted.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::ListenFilter;
    use crate::inbound::refusal::Refusal;

    fn decode(params: &str) -> Result<ListenFilter, Refusal> {
        let raw: &RawValue = serde_json::from_str(params).unwrap();
        ListenFilter::decode(Some(raw), 20)
    }

    /// S-13: unknown kinds are ignored. S-14: the filter itself is required.
    #[test]
    fn what_we_know_is_read_and_the_rest_is_no_wish() {
        let filter = decode(
            r#"{"notifications":{"resourcesListChanged":true,"toolsListChanged":true,"new":{},
               "resourceSubscriptions":["a:1","a:2","a:1","no uri","a:3456789012345678901"]}}"#,
        );
        let filter = filter.unwrap();
        assert!(filter.resource_list);
        let granted = serde_json::to_string(&filter).unwrap();
        assert_eq!(
            granted,
            r#"{"resourcesListChanged":true,"toolsListChanged":true,"resourceSubscriptions":["a:1","a:2"]}"#
        );
        let nothing = decode(r#"{"notifications":{"promptsListChanged":false}}"#).unwrap();
        assert_eq!(
            (serde_json::to_string(&nothing).unwrap().as_str(), nothing.resource_list),
            ("{}", false)
        );
        for params in [
            "{}",
            r#"{"notifications":null}"#,
            r#"{"notifications":[]}"#,
            r#"{"notifications":{"resourceSubscriptions":"a:1"}}"#,
            r#"{"notifications":{"resourceSubscriptions":[1]}}"#,
            r#"{"notifications":{"resourcesListChanged":1}}"#,
        ] {
            assert_eq!(decode(params).unwrap_err().code(), -32602, "{params}");
        }
        assert_eq!(ListenFilter::decode(None, 20).unwrap_err().code(), -32602);
    }
}
