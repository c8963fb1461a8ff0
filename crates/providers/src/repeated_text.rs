//! Budget of repeated texts: aliases and keys of YAML make texts that are longer than their source.

/// How many bytes of a repeated text count as one more value.
const BYTES_PER_VALUE: usize = 64;

/// What a text counts that is made again, in values.
pub(crate) fn text_count(text: &str) -> usize {
    text.len() / BYTES_PER_VALUE
}

#[cfg(test)]
pub(crate) mod tests {
    /// YAML texts that are short, and whose values are very long.
    pub(crate) fn long_from_short() -> [(&'static str, String); 2] {
        // Each key in a key doubles its backslashes.
        let keys = (0..50).fold("a".to_owned(), |inside, _| format!("{{? {inside} : 1}}"));
        let text = "x".repeat(100_000);
        let aliases = format!("a: &a {text}\nb: [{}]\n", "*a,".repeat(20_000));
        [("keys", keys), ("aliases", aliases)]
    }
}
