//! Languages of pages: tags (BCP 47), names of files and folders, and the script of a text.

/// Two-letter languages (ISO 639-1), and the longer ones that documentation is written in.
const LANGUAGES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co \
    cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi \
    ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw \
    ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc \
    oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv \
    sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu \
    ast ceb fil gsw hsb kab nds szl yue";

/// Languages whose tags are more often the name of something else: a folder `ts` holds TypeScript.
const NO_NAMES: &str = "aa ab ae ak am an as av ay ba bi bm ce ch co cr cu cv dv dz ee ff fj fo gd gn \
    gv ho ht hz ia ie ig ii ik io iu kg ki kj kl kr ks kv kw la lg li ln lo lu mg mh mi ml mt na nd \
    ng nr nv ny oj om or os pi ps qu rm rn rw sa sc sd se sg sm sn so ss st su ti tn to ts tt tw ty \
    ve vo wa wo xh yo za zu";

/// Tags that people write for a language, and its right one.
const MISTAKES: [(&str, &str); 8] = [
    ("jp", "ja"),
    ("cn", "zh"),
    ("kp", "ko"),
    ("cz", "cs"),
    ("gr", "el"),
    ("dk", "da"),
    ("ua", "uk"),
    ("jpn", "ja"),
];

/// The longest tag.
const MAX_TAG_BYTES: usize = 35;

/// The letters of a text that are looked at.
const MAX_SCRIPT_BYTES: usize = 1 << 10;

/// A language tag, in the spelling of BCP 47: `ja`, `pt-BR`, `zh-Hans`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageTag(String);

impl LanguageTag {
    /// Parses a tag of a known language; `ja_JP` is `ja-JP`. The error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let mut subtags = text.split(['-', '_']);
        let primary = subtags.next().unwrap_or_default().to_ascii_lowercase();
        let is_subtag = |part: &str| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        if text.len() > MAX_TAG_BYTES || !is_subtag(&primary) || !subtags.clone().all(is_subtag) {
            return Err("it is no language tag; write it like `ja` or `pt-BR`".to_owned());
        }
        if !is_known(LANGUAGES, &primary) {
            let better = MISTAKES.iter().find(|(wrong, _)| *wrong == primary);
            return Err(match better {
                Some((wrong, right)) => {
                    format!("`{wrong}` is no language; did you mean `{right}`?")
                }
                None => format!("`{primary}` is no known language"),
            });
        }
        let mut tag = primary;
        for part in subtags {
            tag.push('-');
            let is_alphabetic = part.bytes().all(|byte| byte.is_ascii_alphabetic());
            match (part.len(), is_alphabetic) {
                (2, true) => tag.push_str(&part.to_ascii_uppercase()),
                (4, true) => {
                    tag.push_str(&part[..1].to_ascii_uppercase());
                    tag.push_str(&part[1..].to_ascii_lowercase());
                }
                _ => tag.push_str(&part.to_ascii_lowercase()),
            }
        }
        Ok(Self(tag))
    }

    /// The tag that `name`, of a folder or before the ending of a file, stands for. `expected` are
    /// the languages of the settings, for which any of their names stands.
    pub(super) fn of_name(name: &str, expected: &[Self]) -> Option<Self> {
        let may_be = (2..=11).contains(&name.len())
            && name.as_bytes()[..2].iter().all(u8::is_ascii_lowercase);
        let tag = may_be.then(|| Self::parse(name).ok()).flatten()?;
        let (primary, rest) = tag.0.split_once('-').unwrap_or((&tag.0, ""));
        // A word such as `no-index` or `he-said` begins like a tag; only regions and scripts follow.
        let is_plain = rest.is_empty()
            || rest.len() == 2
            || (rest.len() == 4 && ["Hans", "Hant", "Latn", "Cyrl"].contains(&rest));
        let is_usual = is_plain && !is_known(NO_NAMES, primary);
        (is_usual || expected.contains(&tag)).then_some(tag)
    }

    /// The tag as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The language without region and script.
    pub(super) fn primary(&self) -> &str {
        self.0.split('-').next().unwrap_or(&self.0)
    }

    /// Whether a page in this language serves a reader of `wanted`: the same tag, or one of them
    /// says no region.
    pub(super) fn serves(&self, wanted: &Self) -> bool {
        let is_general = |tag: &Self| !tag.0.contains('-');
        self == wanted
            || (self.primary() == wanted.primary() && (is_general(self) || is_general(wanted)))
    }
}

fn is_known(list: &str, language: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == language)
}

/// The language that the script of a text gives away: its first KiB, markup included.
pub(super) fn of_text(text: &str) -> Option<LanguageTag> {
    let text = &text[..text.floor_char_boundary(MAX_SCRIPT_BYTES)];
    let (mut latin, mut kana, mut han, mut hangul) = (0_usize, 0_usize, 0_usize, 0_usize);
    let mut others = [(0_usize, "el"), (0, "he"), (0, "th"), (0, "ka"), (0, "hy")];
    for letter in text.chars() {
        match letter {
            'a'..='z' | 'A'..='Z' | 'À'..='ɏ' => latin += 1,
            'ぁ'..='ヿ' | 'ｦ'..='ﾝ' => kana += 1,
            '一'..='鿿' | '㐀'..='䶿' | '々' => han += 1,
            '가'..='힣' => hangul += 1,
            'Ͱ'..='Ͽ' => others[0].0 += 1,
            'א'..='ת' => others[1].0 += 1,
            'ก'..='๛' => others[2].0 += 1,
            'Ⴀ'..='ჿ' => others[3].0 += 1,
            'Ա'..='֏' => others[4].0 += 1,
            _ => {}
        }
    }
    // A word of Latin script has about five letters, one of Japanese two.
    let latin_words = latin / 5;
    let (other, name) = others.into_iter().max_by_key(|(count, _)| *count).unwrap_or((0, "el"));
    let found = match () {
        () if kana >= 4 && (kana + han) / 2 * 5 >= latin_words => "ja",
        () if hangul >= 4 && hangul / 2 * 5 >= latin_words => "ko",
        () if han >= 8 && kana == 0 && han / 2 * 5 >= latin_words => "zh",
        () if other >= 8 && other >= latin => name,
        () if latin >= 40 && is_english(text) => "en",
        () => return None,
    };
    Some(LanguageTag(found.to_owned()))
}

/// Whether the commonest English words are common in a text.
fn is_english(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "the", "and", "of", "to", "is", "for", "with", "this", "you", "are", "that", "in", "how",
        "your",
    ];
    let (mut words, mut english) = (0_usize, 0_usize);
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        words += usize::from(!word.is_empty());
        english += usize::from(WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)));
    }
    english >= 3 && english * 10 >= words
}

#[cfg(test)]
mod tests {
    use super::{LanguageTag, of_text};

    fn tag(text: &str) -> LanguageTag {
        LanguageTag::parse(text).unwrap()
    }

    #[test]
    fn tags_are_spelled_as_bcp_47_spells_them_and_wrong_ones_say_why() {
        for (text, spelled) in
            [("ja", "ja"), ("JA", "ja"), ("zh_cn", "zh-CN"), ("ZH-HANS", "zh-Hans"), (" en ", "en")]
        {
            assert_eq!(tag(text).as_str(), spelled);
        }
        for (text, reason) in [
            ("jp", "did you mean `ja`"),
            ("xx", "no known language"),
            ("english", "no known language"),
            ("日本語", "no language tag"),
            ("", "no language tag"),
            ("en--US", "no language tag"),
            (&"en-".repeat(30), "no language tag"),
        ] {
            assert!(LanguageTag::parse(text).unwrap_err().contains(reason), "{text}");
        }
    }

    #[test]
    fn only_names_of_languages_are_languages() {
        for name in ["ja", "en", "pt-BR", "zh_CN", "zh-Hans", "fr"] {
            assert!(LanguageTag::of_name(name, &[]).is_some(), "{name}");
        }
        for name in ["src", "lib", "ts", "os", "io", "no-index", "EN", "v1", "api", "test", "man1"]
        {
            assert_eq!(LanguageTag::of_name(name, &[]), None, "{name}");
        }
        assert!(LanguageTag::of_name("ts", &[tag("ts")]).is_some(), "the settings say so");
    }

    #[test]
    fn the_script_gives_a_language_away() {
        let cases = [
            ("# はじめに\n\nこの文書は installation の手順を説明します。", Some("ja")),
            ("```sh\ncargo install refdesk --locked\n```\n設定ファイルを書きます。", Some("ja")),
            ("# 安装\n\n本文档说明如何安装和配置该软件。", Some("zh")),
            ("# 설치\n\n이 문서는 설치 방법을 설명합니다.", Some("ko")),
            ("# Guide\n\nThis is the guide to the program, and how you install it.", Some("en")),
            ("# Anleitung\n\nDies ist die Anleitung zum Programm und seiner Installation.", None),
            ("The word はい means yes, and this page is about the language of Japan.", Some("en")),
            ("", None),
        ];
        for (text, language) in cases {
            let found = of_text(text);
            assert_eq!(found.as_ref().map(LanguageTag::as_str), language, "{text}");
        }
    }

    #[test]
    fn a_region_serves_who_wants_the_language() {
        assert!(tag("ja").serves(&tag("ja-JP")) && tag("pt-BR").serves(&tag("pt")));
        assert!(!tag("zh-CN").serves(&tag("zh-TW")) && !tag("ja").serves(&tag("en")));
    }
}
