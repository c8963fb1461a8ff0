//! Exif: what a camera noted in a photo.

use std::io::Cursor;

use exif::{DateTime, Exif, Field, In, Rational, Reader, Tag, Value};

use crate::options::Options;

/// The most bytes that are searched for Exif.
const MAX_SEARCHED_BYTES: usize = 64 << 20;

/// A fact that a photo tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PhotoFact {
    pub(super) name: &'static str,
    pub(super) value: String,
}

/// The facts that a photo tells; none if it has no Exif, or a broken one.
pub(super) fn photo_facts(bytes: &[u8], options: &Options) -> Vec<PhotoFact> {
    if bytes.len() > MAX_SEARCHED_BYTES {
        return Vec::new();
    }
    let mut reader = Reader::new();
    reader.continue_on_error(true);
    let read = reader.read_from_container(&mut Cursor::new(bytes));
    // What comes before the broken part is good.
    let read = read.or_else(|flaw| flaw.distill_partial_result(|_| {}));
    let Ok(exif) = read else { return Vec::new() };
    let field = |tag| exif.get_field(tag, In::PRIMARY);
    let text = |tag| field(tag).and_then(text_of);
    let mut facts = Vec::new();
    let mut push = |name, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            facts.push(PhotoFact { name, value });
        }
    };
    push("camera", camera(text(Tag::Make), text(Tag::Model)));
    push("lens", text(Tag::LensModel));
    push("taken", taken(&exif));
    push("orientation", field(Tag::Orientation).and_then(orientation));
    push("exposure", exposure(&exif));
    push("software", text(Tag::Software));
    push("description", text(Tag::ImageDescription));
    push("comment", field(Tag::UserComment).and_then(comment));
    push("artist", text(Tag::Artist));
    push("copyright", text(Tag::Copyright));
    push("position", position(&exif, options.with_position));
    facts
}

/// The text of a field: UTF-8, as many programs write it, or else Latin-1.
fn text_of(field: &Field) -> Option<String> {
    let Value::Ascii(parts) = &field.value else { return None };
    let bytes = parts.first()?;
    let text = std::str::from_utf8(bytes).map(str::to_owned);
    let text = text.unwrap_or_else(|_| encoding_rs::mem::decode_latin1(bytes).into_owned());
    Some(text.trim().to_owned())
}

fn camera(make: Option<String>, model: Option<String>) -> Option<String> {
    match (make, model) {
        // Many models begin with the name of the maker.
        (Some(make), Some(model)) if !model.starts_with(&make) => Some(format!("{make} {model}")),
        (make, model) => model.or(make),
    }
}

/// When the photo was taken, in ISO 8601, with the offset from UTC if it is noted.
fn taken(exif: &Exif) -> Option<String> {
    let ascii = |tag| match &exif.get_field(tag, In::PRIMARY)?.value {
        Value::Ascii(parts) => parts.first().cloned(),
        _ => None,
    };
    let original = ascii(Tag::DateTimeOriginal);
    let offset = if original.is_some() { ascii(Tag::OffsetTimeOriginal) } else { None };
    let bytes = original.or_else(|| ascii(Tag::DateTime))?;
    let time = DateTime::from_ascii(&bytes).ok()?;
    let offset = offset.and_then(|offset| String::from_utf8(offset).ok());
    let is_offset = |offset: &String| {
        offset.len() == 6 && offset.bytes().all(|byte| b"+-:0123456789".contains(&byte))
    };
    Some(format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}",
        time.year,
        time.month,
        time.day,
        time.hour,
        time.minute,
        time.second,
        offset.filter(is_offset).unwrap_or_default()
    ))
}

fn orientation(field: &Field) -> Option<String> {
    let words = match field.value.get_uint(0)? {
        1 => "upright",
        2 => "mirrored",
        3 => "turned by 180°",
        4 => "mirrored and turned by 180°",
        5 => "mirrored and turned by 270° clockwise",
        6 => "to be turned by 90° clockwise",
        7 => "mirrored and turned by 90° clockwise",
        8 => "to be turned by 270° clockwise",
        _ => return None,
    };
    Some(words.to_owned())
}

fn exposure(exif: &Exif) -> Option<String> {
    let shown = |tag| {
        let field = exif.get_field(tag, In::PRIMARY)?;
        Some(field.display_value().with_unit(exif).to_string())
    };
    let tags = [Tag::ExposureTime, Tag::FNumber, Tag::PhotographicSensitivity, Tag::FocalLength];
    let parts: Vec<_> = tags.into_iter().filter_map(shown).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The comment of a user, after the eight bytes that name its charset.
fn comment(field: &Field) -> Option<String> {
    let Value::Undefined(bytes, _) = &field.value else { return None };
    let (charset, text) = bytes.split_at_checked(8)?;
    let text = match charset {
        b"UNICODE\0" => {
            let is_big = text.first() == Some(&0);
            let charset = if is_big { encoding_rs::UTF_16BE } else { encoding_rs::UTF_16LE };
            charset.decode(text).0.into_owned()
        }
        b"JIS\0\0\0\0\0" => encoding_rs::ISO_2022_JP.decode(text).0.into_owned(),
        _ => String::from_utf8_lossy(text).into_owned(),
    };
    Some(text.trim_matches(['\0', ' ']).to_owned())
}

/// Where the photo was taken, in degrees north and east, if readers may know it.
fn position(exif: &Exif, with_position: bool) -> Option<String> {
    let latitude = degrees(exif, Tag::GPSLatitude, Tag::GPSLatitudeRef, b'S')?;
    let longitude = degrees(exif, Tag::GPSLongitude, Tag::GPSLongitudeRef, b'W')?;
    if !with_position {
        return Some("not shown".to_owned());
    }
    Some(format!("{latitude:.6}, {longitude:.6}"))
}

fn degrees(exif: &Exif, tag: Tag, side: Tag, negative: u8) -> Option<f64> {
    let Value::Rational(parts) = &exif.get_field(tag, In::PRIMARY)?.value else { return None };
    let part = |at: usize| parts.get(at).map_or(0.0, Rational::to_f64);
    let value = part(0) + part(1) / 60.0 + part(2) / 3600.0;
    let side = match &exif.get_field(side, In::PRIMARY)?.value {
        Value::Ascii(parts) => parts.first()?.first().copied()?,
        _ => return None,
    };
    let value = if side == negative { -value } else { value };
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use exif::experimental::Writer;
    use exif::{Field, In, Rational, Tag, Value};

    use super::photo_facts;
    use crate::options::Options;

    fn tiff() -> Vec<u8> {
        let field = |tag, value| Field { tag, ifd_num: In::PRIMARY, value };
        let ascii = |text: &str| Value::Ascii(vec![text.as_bytes().to_vec()]);
        let angle = |degrees, minutes| {
            let part = |num| Rational { num, denom: 1 };
            Value::Rational(vec![part(degrees), part(minutes), part(0)])
        };
        let fields = [
            field(Tag::Make, ascii("Acme")),
            field(Tag::Model, ascii("Acme One")),
            field(Tag::DateTimeOriginal, ascii("2024:05:01 10:20:30")),
            field(Tag::OffsetTimeOriginal, ascii("+09:00")),
            field(Tag::Orientation, Value::Short(vec![6])),
            field(Tag::ImageDescription, ascii("東京の空")),
            field(Tag::GPSLatitude, angle(35, 30)),
            field(Tag::GPSLatitudeRef, ascii("S")),
            field(Tag::GPSLongitude, angle(139, 45)),
            field(Tag::GPSLongitudeRef, ascii("E")),
        ];
        let mut writer = Writer::new();
        fields.iter().for_each(|field| writer.push_field(field));
        let mut bytes = Cursor::new(Vec::new());
        writer.write(&mut bytes, false).unwrap();
        bytes.into_inner()
    }

    fn facts(bytes: &[u8], with_position: bool) -> Vec<String> {
        let options = Options { with_position, ..Options::default() };
        let facts = photo_facts(bytes, &options);
        facts.into_iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect()
    }

    #[test]
    fn a_photo_tells_its_camera_and_time_but_not_its_position() {
        let mut expected = vec![
            "camera: Acme One",
            "taken: 2024-05-01T10:20:30+09:00",
            "orientation: to be turned by 90° clockwise",
            "description: 東京の空",
            "position: not shown",
        ];
        assert_eq!(facts(&tiff(), false), expected);
        expected[4] = "position: -35.500000, 139.750000";
        assert_eq!(facts(&tiff(), true), expected);
    }

    #[test]
    fn broken_exif_is_left_out() {
        let tiff = tiff();
        for at in 0..tiff.len() {
            let mut broken = tiff.clone();
            broken[at] ^= 0xFF;
            facts(&broken, true);
            facts(&tiff[..at], true);
        }
    }
}
