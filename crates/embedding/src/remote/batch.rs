//! Batches: cuts a list of texts into requests, bounded in items and bytes.

use super::options::RemoteOptions;

/// Splits texts into batches in their order.
pub(super) fn split<'a>(
    texts: &'a [(usize, String)],
    options: &RemoteOptions,
) -> Vec<&'a [(usize, String)]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, (_, text)) in texts.iter().enumerate() {
        let is_full = index - start >= options.batch_items
            || bytes + text.len() > options.batch_bytes && index > start;
        if is_full {
            batches.push(&texts[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += text.len();
    }
    if start < texts.len() {
        batches.push(&texts[start..]);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::{RemoteOptions, split};

    fn lengths(texts: &[&str], items: usize, bytes: usize) -> Vec<usize> {
        let mut options = RemoteOptions::new("http://localhost", "m");
        (options.batch_items, options.batch_bytes) = (items, bytes);
        let texts: Vec<(usize, String)> =
            texts.iter().enumerate().map(|(index, text)| (index, (*text).to_owned())).collect();
        split(&texts, &options).iter().map(|batch| batch.len()).collect()
    }

    #[test]
    fn batches_end_at_either_bound_and_a_long_text_stands_alone() {
        assert_eq!(lengths(&[], 2, 10), [0; 0]);
        assert_eq!(lengths(&["a"; 5], 2, 10), [2, 2, 1]);
        assert_eq!(lengths(&["aaaa", "aaaa", "aaaa"], 9, 10), [2, 1]);
        assert_eq!(lengths(&["a", "far beyond the bound", "a"], 9, 10), [1, 1, 1]);
    }
}
