//! JSON writer for the documents of a repository.

/// Writes the members of an object in order.
pub(super) struct JsonObject(String);

impl JsonObject {
    pub(super) fn new() -> Self {
        Self("{".to_owned())
    }

    /// Adds a text.
    pub(super) fn text(self, name: &str, value: &str) -> Self {
        self.raw(name, &json_escape_simd::escape(value))
    }

    /// Adds a text, if there is one.
    pub(super) fn optional_text(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// Adds a number.
    pub(super) fn number(self, name: &str, value: u64) -> Self {
        self.raw(name, &value.to_string())
    }

    /// Adds a value that is JSON already.
    pub(super) fn raw(mut self, name: &str, json: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&json_escape_simd::escape(name));
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    pub(super) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Writes an array of values that are JSON already.
pub(super) fn json_array(values: impl IntoIterator<Item = String>) -> String {
    let mut text = "[".to_owned();
    for value in values {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&value);
    }
    text.push(']');
    text
}
