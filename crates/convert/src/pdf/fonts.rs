//! Fonts of a PDF: the codes of a string, and the text and the width of each.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use hayro_cmap::{BfString, CMap, CMapName, CidFamily};
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn};
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream, String as Bytes};

/// The most codes whose text one font remembers.
const MAX_CODES: usize = 65_536;

/// The fonts of a document, each loaded once.
pub(super) struct DrawnFonts<'a> {
    cache: FontCache<'a>,
    by_id: HashMap<ObjectIdentifier, Rc<DrawnFont<'a>>>,
    fonts: FontResolverFn,
    cmaps: CMapResolverFn,
}

/// A font.
pub(super) struct DrawnFont<'a> {
    font: Option<Font<'a>>,
    is_composite: bool,
    dict: Dict<'a>,
    /// Loaded for the first code that the font itself has no text for.
    cids: OnceCell<Option<CidTexts>>,
    codes: RefCell<HashMap<u32, Rc<DrawnCode>>>,
}

/// What a code of a string draws.
pub(super) struct DrawnCode {
    /// Its text; empty if the font has no map to Unicode.
    pub(super) text: String,
    /// How far it goes, in em: to the right, or up.
    pub(super) advance: (f64, f64),
}

/// The map from codes by way of a known collection of characters.
struct CidTexts {
    encoding: CMap,
    unicode: CMap,
}

impl<'a> DrawnFonts<'a> {
    pub(super) fn new() -> Self {
        let fonts: FontResolverFn = Arc::new(|query| match query {
            FontQuery::Standard(font) => Some(font.get_font_data()),
            FontQuery::Fallback(query) => Some(query.pick_standard_font().get_font_data()),
        });
        let cmaps: CMapResolverFn = Arc::new(hayro_cmap::load_embedded);
        Self { cache: FontCache::new(), by_id: HashMap::new(), fonts, cmaps }
    }

    /// The font that `dict` describes.
    pub(super) fn font(&mut self, dict: &Dict<'a>) -> Rc<DrawnFont<'a>> {
        let id = dict.obj_id();
        if let Some(font) = id.and_then(|id| self.by_id.get(&id)) {
            return Rc::clone(font);
        }
        let font = Rc::new(DrawnFont {
            font: self.cache.font(dict, &self.fonts, &self.cmaps),
            is_composite: dict.get::<Name<'_>>("Subtype").is_some_and(|kind| &*kind == b"Type0"),
            dict: dict.clone(),
            cids: OnceCell::new(),
            codes: RefCell::default(),
        });
        if let Some(id) = id {
            self.by_id.insert(id, Rc::clone(&font));
        }
        font
    }
}

impl DrawnFont<'_> {
    /// Whether the next glyph stands below.
    pub(super) fn is_vertical(&self) -> bool {
        self.font.as_ref().is_some_and(|font| !font.is_horizontal())
    }

    /// Whether the codes of the font are glyphs that only its own file knows.
    pub(super) fn is_opaque(&self) -> bool {
        self.is_composite && !self.dict.contains_key("ToUnicode") && self.cid_texts().is_none()
    }

    /// The code at `at` in `bytes`, and how many bytes it has, at least one.
    pub(super) fn read_code(&self, bytes: &[u8], at: usize) -> (u32, usize) {
        match &self.font {
            Some(font) => {
                let (code, length) = font.read_code(bytes, at);
                (code, length.max(1))
            }
            None if self.is_composite && at + 1 < bytes.len() => {
                (u32::from(u16::from_be_bytes([bytes[at], bytes[at + 1]])), 2)
            }
            None => (u32::from(bytes[at]), 1),
        }
    }

    /// What a code draws.
    pub(super) fn code(&self, code: u32) -> Rc<DrawnCode> {
        if let Some(known) = self.codes.borrow().get(&code) {
            return Rc::clone(known);
        }
        let drawn = Rc::new(self.look_up(code));
        let mut codes = self.codes.borrow_mut();
        if codes.len() < MAX_CODES {
            codes.insert(code, Rc::clone(&drawn));
        }
        drawn
    }

    fn cid_texts(&self) -> Option<&CidTexts> {
        self.cids.get_or_init(|| CidTexts::of_font(&self.dict)).as_ref()
    }

    fn look_up(&self, code: u32) -> DrawnCode {
        let Some(font) = &self.font else {
            return DrawnCode { text: String::new(), advance: (0.5, 0.0) };
        };
        let unicode = match font.glyph(font.map_code(code), code) {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let unicode = unicode.or_else(|| self.cid_texts()?.text(code));
        let text = match unicode {
            Some(BfString::Char('\0')) | None => String::new(),
            Some(BfString::Char(letter)) => letter.into(),
            Some(BfString::String(text)) => text,
        };
        let advance = font.code_advance(code) / f64::from(hayro_font::UNITS_PER_EM);
        DrawnCode { text, advance: (advance.x, advance.y) }
    }
}

impl CidTexts {
    /// The map of a composite font without one of its own, whose characters are of a collection
    /// that Adobe has published.
    fn of_font(dict: &Dict<'_>) -> Option<Self> {
        let descendants = dict.get::<Array<'_>>("DescendantFonts")?;
        let info = descendants.iter::<Dict<'_>>().next()?.get::<Dict<'_>>("CIDSystemInfo")?;
        let part = |key: &str| info.get::<Bytes<'_>>(key).map(|text| text.as_bytes().to_vec());
        let family = CidFamily::from_registry_ordering(&part("Registry")?, &part("Ordering")?);
        let unicode = parse(hayro_cmap::load_embedded(family.ucs2_cmap()?)?)?;
        let encoding = match dict.get::<Object<'_>>("Encoding")? {
            Object::Name(name) => match &*name {
                b"Identity-H" | b"Identity-V" => CMap::identity_h(),
                name => parse(hayro_cmap::load_embedded(CMapName::from_bytes(name))?)?,
            },
            Object::Stream(stream) => parse_stream(&stream)?,
            _ => return None,
        };
        Some(Self { encoding, unicode })
    }

    fn text(&self, code: u32) -> Option<BfString> {
        let cid = (1..=4).find_map(|length| self.encoding.lookup_cid_code(code, length))?;
        self.unicode.lookup_bf_string(cid)
    }
}

fn parse(data: &[u8]) -> Option<CMap> {
    CMap::parse(data, hayro_cmap::load_embedded)
}

fn parse_stream(stream: &Stream<'_>) -> Option<CMap> {
    parse(&stream.decoded_data().ok()?)
}
