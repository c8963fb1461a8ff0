//! Sixel graphics: an image as bands of six rows, in 216 fixed colours with ordered dithering.

use std::fmt::Write as _;
use std::io::Cursor;

use png::{ColorType, Decoder, Limits, Transformations};

/// How much memory the pixels of an image may take.
const MAX_BYTES: usize = 64 << 20;
/// The widest image that is drawn where the terminal does not tell its width.
const USUAL_WIDTH: usize = 800;
/// How many values each of red, green and blue has.
const STEPS: usize = 6;
/// The colour of pixels that are not drawn.
const NONE: u8 = u8::MAX;
/// The thresholds of ordered dithering, in sixteenths (Bayer).
const THRESHOLDS: [[usize; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// Pixels as red, green, blue and opacity.
struct Pixels {
    width: usize,
    height: usize,
    rgba: Vec<[u8; 4]>,
}

/// The sequence that draws a PNG in at most `most` pixels of width; `None` if it is not one.
pub(super) fn draw_png(png: &[u8], most: Option<usize>) -> Option<String> {
    let pixels = decode(png)?;
    let pixels = pixels.fitted(most.unwrap_or(USUAL_WIDTH));
    Some(pixels.to_sixel())
}

fn decode(png: &[u8]) -> Option<Pixels> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(png), Limits { bytes: MAX_BYTES });
    decoder.set_transformations(
        Transformations::EXPAND | Transformations::STRIP_16 | Transformations::ALPHA,
    );
    let mut reader = decoder.read_info().ok()?;
    let size = reader.output_buffer_size().filter(|size| *size <= MAX_BYTES)?;
    let mut bytes = vec![0; size];
    let info = reader.next_frame(&mut bytes).ok()?;
    let bytes = &bytes[..info.buffer_size().min(size)];
    let rgba = match info.color_type {
        ColorType::Rgba => bytes.as_chunks::<4>().0.to_vec(),
        ColorType::GrayscaleAlpha => {
            let pairs = bytes.as_chunks::<2>().0.iter();
            pairs.map(|[gray, opacity]| [*gray, *gray, *gray, *opacity]).collect()
        }
        _ => return None,
    };
    let (width, height) = (info.width as usize, info.height as usize);
    (width > 0 && rgba.len() == width * height).then_some(Pixels { width, height, rgba })
}

impl Pixels {
    /// The same in at most `most` columns of pixels: each is the mean of those that it stands for.
    fn fitted(self, most: usize) -> Self {
        let most = most.max(1);
        if self.width <= most {
            return self;
        }
        let (width, height) = (most, (self.height * most / self.width).max(1));
        let mut rgba = Vec::with_capacity(width * height);
        for row in 0..height {
            for column in 0..width {
                rgba.push(self.mean(
                    column * self.width / width..(column + 1) * self.width / width,
                    row * self.height / height..(row + 1) * self.height / height,
                ));
            }
        }
        Self { width, height, rgba }
    }

    fn mean(&self, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> [u8; 4] {
        let count = (columns.len() * rows.len()).max(1) as u64;
        let mut sums = [0_u64; 4];
        for row in rows {
            for pixel in &self.rgba[row * self.width..][columns.clone()] {
                sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += u64::from(*value));
            }
        }
        sums.map(|sum| u8::try_from(sum / count).unwrap_or(u8::MAX))
    }

    /// The number of the colour of a pixel: the nearest one, or the next by dithering.
    fn color(&self, column: usize, row: usize) -> u8 {
        let [red, green, blue, opacity] = self.rgba[row * self.width + column];
        if opacity < 128 {
            return NONE;
        }
        let threshold = THRESHOLDS[row % 4][column % 4];
        let step =
            |value: u8| (usize::from(value) * (STEPS - 1) * 16 + threshold * 255) / (255 * 16);
        let number = (step(red) * STEPS + step(green)) * STEPS + step(blue);
        u8::try_from(number).unwrap_or(NONE)
    }

    fn to_sixel(&self) -> String {
        let mut out = format!("\x1bP0;1;0q\"1;1;{};{}", self.width, self.height);
        for number in 0..STEPS * STEPS * STEPS {
            let percent = |step: usize| step % STEPS * 100 / (STEPS - 1);
            let (red, green) = (percent(number / STEPS / STEPS), percent(number / STEPS));
            let _ = write!(out, "#{number};2;{red};{green};{}", percent(number));
        }
        for top in (0..self.height).step_by(6) {
            self.push_band(&mut out, top);
        }
        out.push_str("\x1b\\");
        out
    }

    /// Appends six rows: for each colour, which of the six pixels of each column have it.
    fn push_band(&self, out: &mut String, top: usize) {
        let rows = top..(top + 6).min(self.height);
        // By colour: a bit for each row, for each column.
        let mut bands: Vec<Option<Vec<u8>>> = vec![None; STEPS * STEPS * STEPS];
        for row in rows {
            for column in 0..self.width {
                let color = usize::from(self.color(column, row));
                if let Some(band) = bands.get_mut(color) {
                    let band = band.get_or_insert_with(|| vec![0; self.width]);
                    band[column] |= 1 << (row - top);
                }
            }
        }
        for (color, band) in bands.iter().enumerate() {
            if let Some(band) = band {
                let _ = write!(out, "#{color}");
                push_runs(out, band);
                out.push('$');
            }
        }
        out.push('-');
    }
}

/// Appends sixels, with a count where one is repeated.
fn push_runs(out: &mut String, band: &[u8]) {
    for run in band.chunk_by(|one, other| one == other) {
        let letter = char::from(b'?' + run[0]);
        match run.len() {
            count @ 4.. => {
                let _ = write!(out, "!{count}{letter}");
            }
            count => out.extend(std::iter::repeat_n(letter, count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{NONE, Pixels, STEPS, draw_png};

    /// The numbers of the colours that a terminal draws for a sixel sequence.
    fn drawn(sequence: &str) -> (usize, usize, Vec<u8>) {
        let body = sequence.strip_prefix("\x1bP0;1;0q\"1;1;").unwrap();
        let body = body.strip_suffix("\x1b\\").unwrap();
        let (size, body) = body.split_once('#').unwrap();
        let (width, height) = size.split_once(';').unwrap();
        let (width, height): (usize, usize) = (width.parse().unwrap(), height.parse().unwrap());
        let mut pixels = vec![NONE; width * height];
        let (mut column, mut top, mut color) = (0, 0, 0);
        let body = format!("#{body}");
        let mut letters = body.chars().peekable();
        let number = |letters: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut digits = String::new();
            while let Some(digit) =
                letters.next_if(|letter| letter.is_ascii_digit() || *letter == ';')
            {
                digits.push(digit);
            }
            digits.split(';').map(|part| part.parse::<usize>().unwrap()).collect::<Vec<_>>()
        };
        while let Some(letter) = letters.next() {
            let (count, letter) = match letter {
                '#' => {
                    // A definition has more numbers than the one that chooses a colour.
                    let numbers = number(&mut letters);
                    color = if numbers.len() == 1 { numbers[0] } else { color };
                    continue;
                }
                '$' => {
                    column = 0;
                    continue;
                }
                '-' => {
                    (column, top) = (0, top + 6);
                    continue;
                }
                '!' => (number(&mut letters)[0], letters.next().unwrap()),
                letter => (1, letter),
            };
            let bits = letter as u32 - '?' as u32;
            for _ in 0..count {
                for row in (0..6).filter(|row| bits & (1 << row) != 0) {
                    pixels[(top + row) * width + column] = color as u8;
                }
                column += 1;
            }
        }
        (width, height, pixels)
    }

    proptest! {
        #[test]
        fn a_terminal_draws_each_pixel_in_its_colour(
            width in 1_usize..20,
            rgba in proptest::collection::vec(any::<[u8; 4]>(), 1..200),
        ) {
            let height = rgba.len().div_ceil(width);
            let mut rgba = rgba;
            rgba.resize(width * height, [0; 4]);
            let pixels = Pixels { width, height, rgba };
            let wanted: Vec<u8> = (0..width * height)
                .map(|at| pixels.color(at % width, at / width))
                .collect();
            prop_assert_eq!(drawn(&pixels.to_sixel()), (width, height, wanted));
        }
    }

    fn encoded(width: u32, height: u32, color: png::ColorType, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, width, height);
        encoder.set_color(color);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(bytes).unwrap();
        out
    }

    #[test]
    fn a_png_is_drawn_and_made_to_fit() {
        let red = encoded(3, 2, png::ColorType::Rgb, &[255, 0, 0].repeat(6));
        let number = (5 * STEPS * STEPS) as u8;
        assert_eq!(drawn(&draw_png(&red, None).unwrap()), (3, 2, vec![number; 6]));
        let wide = encoded(100, 50, png::ColorType::Grayscale, &[255; 5_000]);
        let (width, height, pixels) = drawn(&draw_png(&wide, Some(10)).unwrap());
        assert_eq!((width, height), (10, 5));
        assert!(pixels.iter().all(|color| usize::from(*color) == STEPS.pow(3) - 1));
    }

    #[test]
    fn what_is_no_image_or_too_large_is_not_drawn() {
        assert!(draw_png(b"", None).is_none() && draw_png(&[0x89, b'P'], None).is_none());
        let mut huge = encoded(1, 1, png::ColorType::Grayscale, &[0]);
        // The header says that it is 65,536 pixels wide and high.
        huge[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        assert!(draw_png(&huge, None).is_none());
    }
}
