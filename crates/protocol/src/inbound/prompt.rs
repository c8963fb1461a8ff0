//! The built-in prompt `context`: a person picks it in a host's menu, and the host gives its model
//! what answers a question.

use std::sync::{Arc, LazyLock};

use resource::{Component, Json};
use serde_json::{Value, json};

/// The tokens of a pack that does not say how many, and the bounds.
const DEFAULT_BUDGET: u64 = 4_000;
const BUDGET_BOUNDS: (u64, u64) = (100, 200_000);

/// The arguments of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextPrompt {
    /// What the person wants to know or do.
    pub question: String,
    /// The most tokens.
    pub budget: u64,
}

/// A text of a resource, for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptResource {
    /// The URI.
    pub uri: String,
    /// The MIME type.
    pub mime: Option<String>,
    /// The text.
    pub text: String,
}

impl ContextPrompt {
    /// The name of the prompt.
    pub const NAME: &str = "context";

    /// Its entry in `prompts/list`.
    pub fn definition() -> Arc<Component> {
        static DEFINITION: LazyLock<Arc<Component>> = LazyLock::new(|| {
            let json = json!({
                "name": ContextPrompt::NAME,
                "title": "Context for a question",
                "description": "What answers a question, gathered from all resources",
                "arguments": [
                    { "name": "question", "description": "What you want to know or do",
                      "required": true },
                    { "name": "budget", "description": "Maximum number of tokens; default 4000" },
                ],
            });
            Arc::new(Component {
                name: ContextPrompt::NAME.to_owned(),
                json: json.to_string().into(),
            })
        });
        Arc::clone(&DEFINITION)
    }

    /// Decodes the parameters of `prompts/get`. The error is a message for the client.
    pub fn decode(params: &Json) -> Result<Self, String> {
        let params: Value = serde_json::from_str(params.as_str()).unwrap_or_default();
        let text = |name: &str| params["arguments"][name].as_str().map(str::trim);
        let question = text("question").filter(|question| !question.is_empty());
        let question = question.ok_or("question: say what you want to know")?.to_owned();
        let budget = match text("budget").filter(|budget| !budget.is_empty()) {
            None => DEFAULT_BUDGET,
            Some(budget) => budget.parse::<u64>().map_err(|_| "budget: a number of tokens")?,
        };
        Ok(Self { question, budget: budget.clamp(BUDGET_BOUNDS.0, BUDGET_BOUNDS.1) })
    }

    /// The result: a message for each resource, then `summary` and the question.
    pub fn result(&self, resources: Vec<PromptResource>, summary: &str) -> Json {
        let message = |content: Value| json!({ "role": "user", "content": content });
        let embedded = resources.into_iter().map(|one| {
            let mut resource = json!({ "uri": one.uri, "text": one.text });
            if let Some(mime) = one.mime {
                resource["mimeType"] = mime.into();
            }
            message(json!({ "type": "resource", "resource": resource }))
        });
        let mut messages: Vec<Value> = embedded.collect();
        let text = format!("{summary}\n\n{}", self.question);
        messages.push(message(json!({ "type": "text", "text": text })));
        json!({ "description": "Context for a question", "messages": messages }).to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::ContextPrompt;

    #[test]
    fn arguments_are_texts_and_what_is_wrong_is_said() {
        let decode = |text: &str| ContextPrompt::decode(&text.into());
        let given = decode(r#"{"arguments":{"question":" why? ","budget":"900"}}"#).unwrap();
        assert_eq!((given.question.as_str(), given.budget), ("why?", 900));
        assert_eq!(decode(r#"{"arguments":{"question":"a"}}"#).unwrap().budget, 4_000);
        assert_eq!(decode(r#"{"arguments":{"question":"a","budget":"1"}}"#).unwrap().budget, 100);
        for (text, words) in [
            ("{}", "question"),
            ("[]", "question"),
            (r#"{"arguments":{"question":"a","budget":"many"}}"#, "budget"),
        ] {
            assert!(decode(text).unwrap_err().contains(words), "{text}");
        }
    }
}
