//! Images on a terminal, by the protocol that it has: kitty, iTerm2 or sixel.

mod attributes;
mod sixel;

use std::fmt::Write as _;
use std::sync::OnceLock;

/// The form of an image that a refdesk makes small, as PNG.
pub(crate) const THUMBNAIL: &str = "image/png;variant=thumbnail";

/// How a terminal draws images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageProtocol {
    /// The graphics protocol of kitty, for PNG.
    Kitty,
    /// Inline images of iTerm2, for any type that the terminal can decode.
    Iterm,
    /// Sixel graphics: pixels of few colours, which are drawn here.
    Sixel,
}

/// The room that an image has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageRoom {
    pub(crate) columns: usize,
    /// The width in pixels, where the terminal tells it.
    pub(crate) pixels: Option<usize>,
}

impl ImageProtocol {
    /// The protocol of the terminal: by its name, or by what it answers, once.
    pub(crate) fn of_terminal() -> Option<Self> {
        static PROTOCOL: OnceLock<Option<ImageProtocol>> = OnceLock::new();
        *PROTOCOL.get_or_init(|| {
            Self::by_name(|name| std::env::var(name).ok())
                .or_else(|| attributes::has_sixel().then_some(Self::Sixel))
        })
    }

    fn by_name(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let term = variable("TERM").unwrap_or_default();
        let program = variable("TERM_PROGRAM").unwrap_or_default();
        if term.contains("kitty") || term.contains("ghostty") || program == "ghostty" {
            return Some(Self::Kitty);
        }
        (program == "iTerm.app" || program == "WezTerm").then_some(Self::Iterm)
    }

    /// Whether it draws images of this type.
    pub(crate) fn draws(self, mime: &str) -> bool {
        let mime = mime.split(';').next().unwrap_or(mime).trim();
        match self {
            Self::Kitty | Self::Sixel => mime == "image/png",
            Self::Iterm => mime.starts_with("image/") && !mime.contains("svg"),
        }
    }

    /// The escape sequences that draw an image; `None` if it cannot be drawn.
    pub(crate) fn sequence(self, mime: &str, bytes: &[u8], room: ImageRoom) -> Option<String> {
        if !self.draws(mime) {
            return None;
        }
        match self {
            Self::Kitty => Some(kitty_sequence(bytes, room)),
            Self::Iterm => {
                let data = base64_simd::STANDARD.encode_to_string(bytes);
                let keys = format!("inline=1;size={};preserveAspectRatio=1", bytes.len());
                Some(format!("\x1b]1337;File={keys}:{data}\x07"))
            }
            Self::Sixel => sixel::draw_png(bytes, room.pixels),
        }
    }
}

/// The kitty graphics protocol: base64 in chunks of 4096, `m=1` on all but the last.
fn kitty_sequence(png: &[u8], room: ImageRoom) -> String {
    let data = base64_simd::STANDARD.encode_to_string(png);
    let chunks: Vec<&[u8]> = data.as_bytes().chunks(4_096).collect();
    // An image that is wider than the terminal is scaled down to its columns.
    let is_wide = png_width(png).zip(room.pixels).is_some_and(|(own, most)| own > most);
    let fit = if is_wide { format!(",c={}", room.columns) } else { String::new() };
    let mut sequence = String::with_capacity(data.len() + chunks.len() * 16);
    for (at, chunk) in chunks.iter().enumerate() {
        let more = u8::from(at + 1 < chunks.len());
        let keys = if at == 0 { format!("a=T,f=100{fit},m={more}") } else { format!("m={more}") };
        let chunk = String::from_utf8_lossy(chunk);
        let _ = write!(sequence, "\x1b_G{keys};{chunk}\x1b\\");
    }
    sequence
}

/// The width of a PNG, from its header.
fn png_width(png: &[u8]) -> Option<usize> {
    let bytes = png.get(16..20)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::{ImageProtocol, ImageRoom};

    const ROOM: ImageRoom = ImageRoom { columns: 80, pixels: Some(640) };

    fn named(name: &'static str, value: &'static str) -> Option<ImageProtocol> {
        ImageProtocol::by_name(move |wanted| (wanted == name).then(|| value.to_owned()))
    }

    #[test]
    fn a_terminal_is_known_by_its_name() {
        assert_eq!(named("TERM", "xterm-kitty"), Some(ImageProtocol::Kitty));
        assert_eq!(named("TERM_PROGRAM", "ghostty"), Some(ImageProtocol::Kitty));
        assert_eq!(named("TERM_PROGRAM", "iTerm.app"), Some(ImageProtocol::Iterm));
        assert_eq!(named("TERM_PROGRAM", "WezTerm"), Some(ImageProtocol::Iterm));
        assert_eq!(named("TERM", "xterm"), None);
    }

    #[test]
    fn each_protocol_has_its_types_and_sequences() {
        let kitty = ImageProtocol::Kitty.sequence("image/png", &[7; 5_000], ROOM).unwrap();
        assert_eq!(kitty.matches("\x1b_G").count(), 2);
        assert!(kitty.starts_with("\x1b_Ga=T,f=100,c=80,m=1;"), "{kitty}");
        assert!(kitty.contains("\x1b_Gm=0;"), "{kitty}");
        assert!(ImageProtocol::Kitty.sequence("image/jpeg", b"x", ROOM).is_none());
        let small = ImageRoom { columns: 80, pixels: None };
        let kitty = ImageProtocol::Kitty.sequence("image/png;variant=thumbnail", b"x", small);
        assert!(kitty.unwrap().starts_with("\x1b_Ga=T,f=100,m=0;"));
        let iterm = ImageProtocol::Iterm.sequence("image/jpeg", b"x", ROOM).unwrap();
        assert!(iterm.starts_with("\x1b]1337;File=inline=1;size=1;"), "{iterm}");
        for protocol in [ImageProtocol::Kitty, ImageProtocol::Iterm, ImageProtocol::Sixel] {
            assert!(protocol.sequence("image/svg+xml", b"x", ROOM).is_none());
            assert!(protocol.sequence("text/plain", b"x", ROOM).is_none());
        }
        assert!(ImageProtocol::Sixel.sequence("image/png", b"no image", ROOM).is_none());
    }
}
