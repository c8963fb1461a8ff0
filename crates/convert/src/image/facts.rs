//! What an image is, in lines of text: its size, format and colours, and what its maker noted.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::error::ImageError;
use image::{ExtendedColorType, ImageDecoder, ImageFormat, ImageReader, Limits};
use resource::{one_line_up_to, words_on_one_line};

use super::chunks::{ImageNote, frames_of, notes_of};
use super::photo::{PhotoFact, photo_facts};
use crate::conversion::Conversion;
use crate::error::ConvertError;
use crate::options::Options;

/// The most bytes that are allocated to read the header of an image.
const MAX_HEADER_BYTES: u64 = 64 << 20;

/// The most characters of one note.
const MAX_NOTE: usize = 2_000;

/// Tells what an image is, without decoding its pixels.
pub(super) fn describe(bytes: &[u8], options: &Options) -> Result<Conversion, ConvertError> {
    let format = format_of(bytes)?;
    let header = guard(|| header_of(bytes, format))?;
    let mut text = format!("format: {}\n", name_of(format));
    text.push_str(&format!("size: {} x {} pixels\n", header.width, header.height));
    text.push_str(&format!("colour: {}\n", colour_words(header.colour)));
    if let Some((count, word)) = frames_of(bytes, format) {
        text.push_str(&format!("{word}: {count}\n"));
    }
    // Notes are extra: broken ones leave the rest as it is.
    let facts = guard(|| Ok(photo_facts(bytes, options))).unwrap_or_default();
    for PhotoFact { name, value } in facts {
        text.push_str(&format!("{name}: {}\n", short_note(&value)));
    }
    for ImageNote { name, value } in notes_of(bytes, format) {
        let is_position = name.to_ascii_lowercase().contains("gps");
        let value = if is_position && !options.with_position { "not shown" } else { &value };
        text.push_str(&format!("note {}: {}\n", short_note(&name), short_note(value)));
    }
    Ok(Conversion::text(text))
}

/// The size and colours of an image.
struct ImageHeader {
    width: u32,
    height: u32,
    colour: ExtendedColorType,
}

fn header_of(bytes: &[u8], format: ImageFormat) -> Result<ImageHeader, ConvertError> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_HEADER_BYTES);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|flaw| convert_error(&flaw))?;
    let (width, height) = decoder.dimensions();
    Ok(ImageHeader { width, height, colour: decoder.original_color_type() })
}

/// The format of an image, by its first bytes.
pub(super) fn format_of(bytes: &[u8]) -> Result<ImageFormat, ConvertError> {
    let format = image::guess_format(bytes).ok().filter(|format| format.reading_enabled());
    format
        .ok_or_else(|| ConvertError::damaged("the content is no image of a kind that can be read"))
}

/// Runs a decoder; a fault of it is a broken image, not the end of the program.
pub(super) fn guard<T>(
    decode: impl FnOnce() -> Result<T, ConvertError>,
) -> Result<T, ConvertError> {
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(ConvertError::damaged("the image is broken")))
}

/// The error of a decoder in our words.
pub(super) fn convert_error(flaw: &ImageError) -> ConvertError {
    match flaw {
        ImageError::Limits(_) => {
            ConvertError::over_limit("the image needs more memory than the limit")
        }
        ImageError::Unsupported(flaw) => {
            ConvertError::damaged(format!("the image has a feature that is not read: {flaw}"))
        }
        other => ConvertError::damaged(format!("the image is broken: {other}")),
    }
}

fn name_of(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Gif => "GIF",
        ImageFormat::WebP => "WebP",
        ImageFormat::Tiff => "TIFF",
        ImageFormat::Bmp => "BMP",
        ImageFormat::Ico => "ICO",
        _ => "image",
    }
}

fn colour_words(colour: ExtendedColorType) -> String {
    let bits = colour.bits_per_pixel() / u16::from(colour.channel_count().max(1));
    let model = match colour {
        ExtendedColorType::L1
        | ExtendedColorType::L2
        | ExtendedColorType::L4
        | ExtendedColorType::L8
        | ExtendedColorType::L16 => "grey",
        ExtendedColorType::La1
        | ExtendedColorType::La2
        | ExtendedColorType::La4
        | ExtendedColorType::La8
        | ExtendedColorType::La16 => "grey with transparency",
        ExtendedColorType::Rgba1
        | ExtendedColorType::Rgba2
        | ExtendedColorType::Rgba4
        | ExtendedColorType::Rgba8
        | ExtendedColorType::Rgba16
        | ExtendedColorType::Rgba32F
        | ExtendedColorType::Bgra8 => "RGB with transparency",
        ExtendedColorType::Cmyk8 | ExtendedColorType::Cmyk16 => "CMYK",
        ExtendedColorType::Unknown(_) => "palette",
        _ => "RGB",
    };
    format!("{model}, {bits} bits per channel")
}

/// A note in one line, cut at a length.
fn short_note(text: &str) -> String {
    words_on_one_line(&one_line_up_to(text, MAX_NOTE))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat};

    use super::describe;
    use crate::options::Options;

    fn encoded(format: ImageFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        let image = DynamicImage::new_rgb8(7, 3);
        image.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        bytes
    }

    #[test]
    fn the_text_of_an_image_tells_format_size_and_colours() {
        let kinds = [
            (ImageFormat::Png, "PNG"),
            (ImageFormat::Jpeg, "JPEG"),
            (ImageFormat::Tiff, "TIFF"),
            (ImageFormat::Bmp, "BMP"),
            (ImageFormat::WebP, "WebP"),
        ];
        for (format, name) in kinds {
            let text = describe(&encoded(format), &Options::default()).unwrap();
            let text = String::from_utf8(text.body).unwrap();
            let expected = format!("format: {name}\nsize: 7 x 3 pixels\ncolour: RGB, 8 bits");
            assert!(text.starts_with(&expected), "{text}");
        }
    }

    #[test]
    fn the_size_of_a_huge_image_is_read_from_its_header() {
        let mut png = encoded(ImageFormat::Png);
        png[16..24].copy_from_slice(&[0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60]);
        let checksum = crc(&png[12..29]);
        png[29..33].copy_from_slice(&checksum.to_be_bytes());
        let text = describe(&png, &Options::default()).unwrap();
        assert!(String::from_utf8(text.body).unwrap().contains("size: 60000 x 60000 pixels"));
    }

    /// The checksum of a chunk of PNG.
    pub(crate) fn crc(bytes: &[u8]) -> u32 {
        let step = |sum: u32| if sum & 1 == 1 { 0xEDB8_8320 ^ (sum >> 1) } else { sum >> 1 };
        let fold = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum));
        !bytes.iter().fold(u32::MAX, fold)
    }
}
