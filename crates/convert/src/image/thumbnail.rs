//! Thumbnails: an image at a bounded size, upright, as PNG.

use std::io::Cursor;

use image::codecs::png::PngEncoder;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};

use super::facts::{convert_error, format_of, guard};
use crate::conversion::Conversion;
use crate::error::ConvertError;
use crate::options::Options;

/// The most bytes of the pixels of an image.
const MAX_PIXEL_BYTES: u64 = 320 << 20;

/// The most bytes that a decoder allocates, its pixels among them.
const MAX_DECODER_BYTES: u64 = 512 << 20;

/// Makes the thumbnail of an image. It is never larger than the image.
pub(super) fn make(bytes: &[u8], options: &Options) -> Result<Conversion, ConvertError> {
    let format = format_of(bytes)?;
    guard(|| {
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(MAX_DECODER_BYTES);
        reader.limits(limits);
        let mut decoder = reader.into_decoder().map_err(|flaw| convert_error(&flaw))?;
        let (width, height) = decoder.dimensions();
        if decoder.total_bytes() > MAX_PIXEL_BYTES {
            return Err(ConvertError::over_limit(format!(
                "the image has {width} x {height} pixels, over the limit of memory"
            )));
        }
        let orientation = decoder.orientation();
        let image = DynamicImage::from_decoder(decoder).map_err(|flaw| convert_error(&flaw))?;
        let mut small = shrink(image, options.thumbnail_pixels);
        if let Ok(orientation) = orientation {
            small.apply_orientation(orientation);
        }
        encode(&small)
    })
}

fn shrink(image: DynamicImage, longest: u32) -> DynamicImage {
    let longest = longest.max(1);
    if image.width() <= longest && image.height() <= longest {
        return image;
    }
    image.thumbnail(longest, longest)
}

fn encode(image: &DynamicImage) -> Result<Conversion, ConvertError> {
    let mut body = Vec::new();
    let encoder = PngEncoder::new(&mut body);
    // Screens show eight bits, and PNG has no more than RGB.
    let small = if image.color().has_alpha() {
        DynamicImage::ImageRgba8(image.to_rgba8())
    } else {
        DynamicImage::ImageRgb8(image.to_rgb8())
    };
    small.write_with_encoder(encoder).map_err(|flaw| convert_error(&flaw))?;
    Ok(Conversion { body, ..Conversion::default() })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

    use super::make;
    use crate::error::ConvertErrorKind;
    use crate::options::Options;

    fn png(image: RgbImage) -> Vec<u8> {
        let mut bytes = Vec::new();
        let image = DynamicImage::ImageRgb8(image);
        image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
        bytes
    }

    fn size(bytes: &[u8], longest: u32) -> (u32, u32) {
        let options = Options { thumbnail_pixels: longest, ..Options::default() };
        let thumbnail = make(bytes, &options).unwrap().body;
        let image = image::load_from_memory(&thumbnail).unwrap();
        (image.width(), image.height())
    }

    #[test]
    fn a_thumbnail_fits_its_longest_side_and_is_never_enlarged() {
        let image = png(RgbImage::from_pixel(400, 100, Rgb([1, 2, 3])));
        assert_eq!(size(&image, 100), (100, 25));
        assert_eq!(size(&image, 1_000), (400, 100));
    }

    #[test]
    fn a_thumbnail_of_a_turned_photo_is_upright() {
        let mut photo = Vec::new();
        let image = DynamicImage::ImageRgb8(RgbImage::new(40, 20));
        image.write_to(&mut Cursor::new(&mut photo), ImageFormat::Jpeg).unwrap();
        // Exif with one entry: orientation 6, a quarter turn.
        let exif = b"Exif\0\0II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        photo.splice(2..2, [&[0xFF, 0xE1][..], &length, exif].concat());
        assert_eq!(size(&photo, 1_000), (20, 40));
    }

    #[test]
    fn a_huge_image_is_refused_before_its_pixels_are_allocated() {
        let mut bitmap = vec![b'B', b'M', 0, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0];
        bitmap.extend_from_slice(&60_000_u32.to_le_bytes());
        bitmap.extend_from_slice(&60_000_u32.to_le_bytes());
        bitmap.extend_from_slice(&[1, 0, 24, 0]);
        bitmap.extend_from_slice(&[0; 24]);
        let flaw = make(&bitmap, &Options::default()).unwrap_err();
        assert_eq!(flaw.kind, ConvertErrorKind::OverLimit, "{flaw}");
    }

    #[test]
    fn a_truncated_image_is_damaged() {
        let image = png(RgbImage::from_fn(64, 64, |x, y| Rgb([x as u8, y as u8, (x * y) as u8])));
        let flaw = make(&image[..image.len() / 2], &Options::default()).unwrap_err();
        assert_eq!(flaw.kind, ConvertErrorKind::Damaged, "{flaw}");
    }
}
