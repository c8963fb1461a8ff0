//! The targets, one file each.

pub(crate) mod conversation;
pub(crate) mod cursor;
pub(crate) mod frame;
pub(crate) mod glob;
pub(crate) mod template;
pub(crate) mod upstream;
pub(crate) mod uri;
pub(crate) mod window;

/// The input as text: what is not UTF-8 becomes replacement characters.
fn text_of(input: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(input)
}

/// The two halves of an input, at its first line feed.
fn halves(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, text))
}

/// Runs a future on a runtime of its own, so that no task of one input outlives it.
fn run<T>(work: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().build().expect("a runtime without I/O starts");
    runtime.block_on(work)
}
