//! The answer of a converter in bytes: what it made, or why it did not.

use convert::{Conversion, ConvertError, ConvertErrorKind, Section};

/// The first bytes of an answer.
const MAGIC: &[u8; 4] = b"RDC2";

/// The kinds of failure, by the byte that stands for them.
const FAILURES: [ConvertErrorKind; 4] = [
    ConvertErrorKind::Unsupported,
    ConvertErrorKind::Protected,
    ConvertErrorKind::Damaged,
    ConvertErrorKind::OverLimit,
];

/// The byte of a success.
const MADE: u8 = 0xFF;

/// Writes an answer.
pub(super) fn encode(answer: &Result<Conversion, ConvertError>) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    match answer {
        Err(error) => {
            let kind = FAILURES.iter().position(|kind| *kind == error.kind).unwrap_or_default();
            bytes.push(u8::try_from(kind).unwrap_or_default());
            bytes.extend_from_slice(error.message.as_bytes());
        }
        Ok(converted) => {
            bytes.push(MADE);
            bytes.push(u8::from(converted.is_cut));
            push_number(&mut bytes, converted.sections.len());
            for section in &converted.sections {
                push_number(&mut bytes, section.start);
                bytes.push(u8::from(section.is_hidden));
                bytes.push(u8::from(section.title.is_some()));
                push_text(&mut bytes, section.title.as_deref().unwrap_or_default());
            }
            push_number(&mut bytes, converted.losses.len());
            for loss in &converted.losses {
                push_text(&mut bytes, loss);
            }
            bytes.extend_from_slice(&converted.body);
        }
    }
    bytes
}

fn push_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&(number as u64).to_le_bytes());
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    push_number(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

/// Reads an answer; `None` if it is none. The child may be under the control of its document, so
/// that nothing in it is trusted.
pub(super) fn decode(bytes: &[u8]) -> Option<Result<Conversion, ConvertError>> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let kind = take(&mut rest, 1)?[0];
    if kind != MADE {
        let kind = *FAILURES.get(usize::from(kind))?;
        let message = String::from_utf8_lossy(rest).into_owned();
        return Some(Err(ConvertError { kind, message }));
    }
    let is_cut = take(&mut rest, 1)?[0] == 1;
    let mut sections = Vec::new();
    for _ in 0..take_number(&mut rest)? {
        let start = take_number(&mut rest)?;
        let [is_hidden, has_title] = *take(&mut rest, 2)? else { return None };
        let title = Some(take_text(&mut rest)?).filter(|_| has_title == 1);
        sections.push(Section { title, start, is_hidden: is_hidden == 1 });
    }
    let mut losses = Vec::new();
    for _ in 0..take_number(&mut rest)? {
        losses.push(take_text(&mut rest)?);
    }
    let body = rest.to_vec();
    let in_order = sections.is_sorted_by_key(|section| section.start);
    let is_inside = sections.last().is_none_or(|last| last.start <= body.len());
    (in_order && is_inside).then_some(Ok(Conversion { body, sections, losses, is_cut }))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn take_number(rest: &mut &[u8]) -> Option<usize> {
    let bytes: [u8; 8] = take(rest, 8)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    let length = take_number(rest)?;
    Some(String::from_utf8_lossy(take(rest, length)?).into_owned())
}

#[cfg(test)]
mod tests {
    use convert::{Conversion, ConvertError, Section};
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::{decode, encode};

    proptest! {
        #[test]
        fn an_answer_comes_back_as_it_was(
            body: Vec<u8>, titles: Vec<Option<String>>, losses: Vec<String>, is_cut: bool,
        ) {
            let sections = titles.into_iter().map(|title| {
                Section { is_hidden: title.is_none(), title, start: body.len() }
            });
            let sections = sections.collect();
            let answer = Ok(Conversion { sections, body: body.clone(), losses, is_cut });
            prop_assert_eq!(decode(&encode(&answer)), Some(answer));
        }

        #[test]
        fn bytes_that_are_no_answer_are_none_or_some_answer(bytes in any::<Vec<u8>>(), cut: usize) {
            prop_assert!(decode(&bytes).is_none() || bytes.starts_with(b"RDC2"));
            let mut framed = encode(&Ok(Conversion::text("text")));
            framed.truncate(cut % framed.len());
            let _ = decode(&framed);
            let mut hostile = b"RDC2\xFF".to_vec();
            hostile.extend(bytes);
            let _ = decode(&hostile);
        }
    }

    #[test]
    fn a_failure_keeps_its_kind_and_words() {
        let failure = Err(ConvertError::protected());
        assert_eq!(decode(&encode(&failure)), Some(failure));
    }
}
