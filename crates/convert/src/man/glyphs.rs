//! Glyphs of roff: characters by their names, such as `\(bu` and `\[em]`.

/// The text of the glyph with this name; `None` if no such glyph is known.
pub(super) fn glyph(name: &str) -> Option<String> {
    if let Ok(at) = GLYPHS.binary_search_by(|(known, _)| (*known).cmp(name)) {
        return Some(GLYPHS[at].1.to_owned());
    }
    let code = name.strip_prefix('u').or_else(|| name.strip_prefix("char"));
    if let Some(code) = code {
        let radix = if name.starts_with('u') { 16 } else { 10 };
        // A composite glyph names its base first, then its marks.
        let letters = code.split('_').map(|part| {
            let value = u32::from_str_radix(part, radix).ok().filter(|_| part.len() <= 6)?;
            char::from_u32(value).filter(|letter| !letter.is_control())
        });
        return letters.collect();
    }
    accented(name)
}

/// A letter with an accent: `'e`, `:a`, `,c`.
fn accented(name: &str) -> Option<String> {
    let mut letters = name.chars();
    let (accent, base) = (letters.next()?, letters.next()?);
    if letters.next().is_some() || !base.is_alphabetic() {
        return None;
    }
    let row = ACCENTS.iter().find(|(mark, _)| *mark == accent)?;
    let pairs = row.1.chars().collect::<Vec<_>>();
    pairs.chunks_exact(2).find(|pair| pair[0] == base).map(|pair| pair[1].to_string())
}

/// Accents, with pairs of a letter and the accented one.
const ACCENTS: [(char, &str); 9] = [
    ('\'', "aáeéiíoóuúyýAÁEÉIÍOÓUÚYÝcćCĆnńNŃsśSŚzźZŹ"),
    ('`', "aàeèiìoòuùAÀEÈIÌOÒUÙ"),
    ('^', "aâeêiîoôuûAÂEÊIÎOÔUÛ"),
    (':', "aäeëiïoöuüyÿAÄEËIÏOÖUÜYŸ"),
    ('~', "aãnñoõAÃNÑOÕ"),
    (',', "cçCÇ"),
    ('o', "aåAÅ"),
    ('/', "oøOØlłLŁ"),
    ('v', "sšSŠzžZŽcčCČ"),
];

/// Names of glyphs, sorted.
const GLYPHS: [(&str, &str); 207] = [
    ("!=", "≠"),
    ("**", "∗"),
    ("*D", "Δ"),
    ("*F", "Φ"),
    ("*G", "Γ"),
    ("*L", "Λ"),
    ("*P", "Π"),
    ("*S", "Σ"),
    ("*W", "Ω"),
    ("*a", "α"),
    ("*b", "β"),
    ("*d", "δ"),
    ("*e", "ε"),
    ("*f", "φ"),
    ("*g", "γ"),
    ("*h", "θ"),
    ("*l", "λ"),
    ("*m", "μ"),
    ("*p", "π"),
    ("*q", "ψ"),
    ("*r", "ρ"),
    ("*s", "σ"),
    ("*t", "τ"),
    ("*w", "ω"),
    ("*x", "χ"),
    ("+-", "±"),
    ("-", "-"),
    ("->", "→"),
    ("-D", "Ð"),
    ("..", "…"),
    (".i", "ı"),
    (".j", "ȷ"),
    ("/_", "∠"),
    ("12", "½"),
    ("14", "¼"),
    ("18", "⅛"),
    ("34", "¾"),
    ("38", "⅜"),
    ("3d", "∴"),
    ("58", "⅝"),
    ("78", "⅞"),
    ("<-", "←"),
    ("<<", "≪"),
    ("<=", "≤"),
    ("<>", "↔"),
    ("==", "≡"),
    ("=~", "≅"),
    (">=", "≥"),
    (">>", "≫"),
    ("AE", "Æ"),
    ("AN", "∧"),
    ("Ah", "ℵ"),
    ("Bq", "„"),
    ("CL", "♣"),
    ("CR", "↵"),
    ("Cs", "¤"),
    ("DI", "♦"),
    ("Do", "$"),
    ("Eu", "€"),
    ("Fc", "»"),
    ("Fi", "ffi"),
    ("Fl", "ffl"),
    ("Fn", "ƒ"),
    ("Fo", "«"),
    ("HE", "♥"),
    ("IJ", "IJ"),
    ("Im", "ℑ"),
    ("OE", "Œ"),
    ("OK", "✓"),
    ("OR", "∨"),
    ("Of", "ª"),
    ("Om", "º"),
    ("Po", "£"),
    ("Re", "ℜ"),
    ("S1", "¹"),
    ("S2", "²"),
    ("S3", "³"),
    ("SP", "♠"),
    ("Sd", "ð"),
    ("TP", "Þ"),
    ("Tp", "þ"),
    ("Ye", "¥"),
    ("a\"", "˝"),
    ("a-", "¯"),
    ("a.", "˙"),
    ("a^", "^"),
    ("aa", "´"),
    ("ab", "˘"),
    ("ac", "¸"),
    ("ad", "¨"),
    ("ae", "æ"),
    ("ah", "ˇ"),
    ("ao", "˚"),
    ("ap", "∼"),
    ("aq", "'"),
    ("at", "@"),
    ("a~", "~"),
    ("ba", "|"),
    ("bb", "¦"),
    ("bq", "‚"),
    ("br", "|"),
    ("bu", "•"),
    ("bv", "|"),
    ("c*", "⊗"),
    ("c+", "⊕"),
    ("ca", "∩"),
    ("ci", "○"),
    ("co", "©"),
    ("coproduct", "∐"),
    ("cq", "’"),
    ("ct", "¢"),
    ("cu", "∪"),
    ("dA", "⇓"),
    ("da", "↓"),
    ("dd", "‡"),
    ("de", "°"),
    ("dg", "†"),
    ("di", "÷"),
    ("dq", "\""),
    ("em", "—"),
    ("en", "–"),
    ("eq", "="),
    ("es", "∅"),
    ("eu", "€"),
    ("fa", "∀"),
    ("fc", "›"),
    ("ff", "ff"),
    ("fi", "fi"),
    ("fl", "fl"),
    ("fm", "′"),
    ("fo", "‹"),
    ("ga", "`"),
    ("gr", "∇"),
    ("hA", "⇔"),
    ("ha", "^"),
    ("ho", "˛"),
    ("hy", "-"),
    ("ib", "⊆"),
    ("if", "∞"),
    ("ij", "ij"),
    ("integral", "∫"),
    ("ip", "⊇"),
    ("is", "∫"),
    ("l.", "·"),
    ("lA", "⇐"),
    ("lB", "["),
    ("lC", "{"),
    ("la", "⟨"),
    ("lh", "☜"),
    ("lq", "“"),
    ("lz", "◊"),
    ("mc", "µ"),
    ("md", "⋅"),
    ("mi", "−"),
    ("mo", "∈"),
    ("mu", "×"),
    ("ne", "≠"),
    ("nm", "∉"),
    ("no", "¬"),
    ("oe", "œ"),
    ("oq", "‘"),
    ("or", "|"),
    ("pc", "·"),
    ("pd", "∂"),
    ("pl", "+"),
    ("pp", "⊥"),
    ("product", "∏"),
    ("ps", "¶"),
    ("pt", "∝"),
    ("r!", "¡"),
    ("r?", "¿"),
    ("rA", "⇒"),
    ("rB", "]"),
    ("rC", "}"),
    ("ra", "⟩"),
    ("radicalex", "‾"),
    ("rg", "®"),
    ("rh", "☞"),
    ("rq", "”"),
    ("rs", "\\"),
    ("ru", "_"),
    ("sb", "⊂"),
    ("sc", "§"),
    ("sd", "″"),
    ("se", "§"),
    ("sh", "#"),
    ("sl", "/"),
    ("sp", "⊃"),
    ("sq", "□"),
    ("sqrt", "√"),
    ("sr", "√"),
    ("ss", "ß"),
    ("st", "∋"),
    ("sum", "∑"),
    ("te", "∃"),
    ("tf", "∴"),
    ("ti", "~"),
    ("tm", "™"),
    ("tno", "¬"),
    ("u2026", "…"),
    ("uA", "⇑"),
    ("ua", "↑"),
    ("ul", "_"),
    ("va", "↕"),
    ("wp", "℘"),
    ("~=", "≈"),
    ("~~", "≈"),
];

#[cfg(test)]
mod tests {
    use super::{GLYPHS, glyph};

    #[test]
    fn glyphs_are_sorted_and_found_by_name_by_code_and_by_accent() {
        assert!(GLYPHS.is_sorted_by(|left, right| left.0 < right.0));
        let wanted = [
            ("bu", "•"),
            ("em", "—"),
            ("u65E5", "日"),
            ("u0041_0301", "A\u{301}"),
            ("char233", "é"),
            (":u", "ü"),
            ("ss", "ß"),
        ];
        for (name, text) in wanted {
            assert_eq!(glyph(name).as_deref(), Some(text), "{name}");
        }
        for name in ["", "x", "u", "uD800", "u0000", "u110000", "char", "'", "'日", "nonsense"] {
            assert_eq!(glyph(name), None, "{name}");
        }
    }
}
