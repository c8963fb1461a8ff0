//! Decoder for the window that another refdesk cut: `dev.refdesk/window` in `_meta` of an element.

use resource::{MemberPlace, Resource, Slice};
use serde::Deserialize;

use crate::inbound::shape::resource_meta::META_WINDOW;
use crate::json::raw_object::parse_object;
use crate::outbound::response::MalformedMessage;

#[derive(Deserialize)]
struct WindowBounds {
    offset: u64,
    total: u64,
    part: Option<usize>,
    total_parts: Option<usize>,
    etag: Option<String>,
}

/// The byte range that the `length` bytes of an element are of, if its `_meta` names one. Sets the
/// etag of `resource` if the window has one.
pub(super) fn decode_slice(
    resource: &mut Resource,
    length: u64,
) -> Result<Option<Slice>, MalformedMessage> {
    let Some(json) = resource.extra.get(MemberPlace::Meta, META_WINDOW) else { return Ok(None) };
    let invalid = || MalformedMessage::new("contents: invalid window");
    let bounds: WindowBounds = parse_object(json).map_err(|_| invalid())?;
    bounds.offset.checked_add(length).filter(|end| *end <= bounds.total).ok_or_else(invalid)?;
    let (part, total_parts) = (bounds.part.unwrap_or(0), bounds.total_parts.unwrap_or(1));
    if part >= total_parts {
        return Err(invalid());
    }
    let slice = Slice::new(bounds.offset, length, bounds.total).of_part(part, total_parts);
    resource.etag = resource.etag.take().or(bounds.etag);
    Ok(Some(slice))
}

#[cfg(test)]
mod tests {
    use resource::{MemberPlace, Resource, Uri};

    use super::{META_WINDOW, decode_slice};

    #[test]
    fn a_window_lies_inside_the_whole() {
        let decoded = |json: &str, length| {
            let mut resource = Resource::new(Uri::parse("a:b").unwrap(), "b");
            resource.extra.set(MemberPlace::Meta, META_WINDOW, json);
            decode_slice(&mut resource, length).map(|slice| (slice.unwrap(), resource.etag))
        };
        let (slice, etag) =
            decoded(r#"{"offset":2,"total":9,"part":1,"total_parts":3,"etag":"e"}"#, 4).unwrap();
        assert_eq!((slice.offset, slice.length, slice.total), (2, 4, 9));
        assert_eq!((slice.part, slice.total_parts, etag.as_deref()), (1, 3, Some("e")));
        let odd = [
            "{}",
            "[2,9]",
            "5",
            r#"{"offset":6,"total":9}"#,
            r#"{"offset":-1,"total":9}"#,
            r#"{"offset":18446744073709551615,"total":18446744073709551615}"#,
            r#"{"offset":0,"total":9,"part":1}"#,
            r#"{"offset":0,"total":9,"part":3,"total_parts":3}"#,
            r#"{"offset":0,"total":9,"total_parts":0}"#,
            r#"{"offset":0,"total":9,"part":18446744073709551615,"total_parts":18446744073709551615}"#,
        ];
        for json in odd {
            assert!(decoded(json, 4).is_err(), "{json}");
        }
        let plain = &mut Resource::new(Uri::parse("a:b").unwrap(), "b");
        assert_eq!(decode_slice(plain, 4), Ok(None));
    }
}
