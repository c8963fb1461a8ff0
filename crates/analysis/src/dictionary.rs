//! Dictionary words of scripts without spaces, and Korean words without their particles.

use std::sync::LazyLock;

use icu_segmenter::WordSegmenterBorrowed;
use icu_segmenter::options::WordBreakInvariantOptions;

use crate::fold::{RunChar, Script, fold_kana, resolve_marks};
use crate::scanner::{ScanPiece, Scanner};
use crate::{Token, TokenKind};

/// Particles at the end of Korean words, long ones before their own endings.
const PARTICLES: [&str; 26] = [
    "에서는",
    "으로는",
    "에게서",
    "입니다",
    "합니다",
    "에서",
    "에게",
    "으로",
    "까지",
    "부터",
    "처럼",
    "보다",
    "하고",
    "하는",
    "하기",
    "하다",
    "들을",
    "들이",
    "을",
    "를",
    "은",
    "는",
    "이",
    "가",
    "의",
    "에",
];

/// The dictionary words of the second field. Words of hiragana alone are left out: most are
/// particles and endings, and the dictionary divides them badly.
pub fn dictionary_words(text: &str) -> Vec<Token> {
    let mut words = DictionaryWords::default();
    let mut scanner = Scanner::new(text);
    while let Some(piece) = scanner.next_piece() {
        match piece {
            ScanPiece::Run => {
                resolve_marks(&mut scanner.run);
                words.add_run(&scanner.run);
            }
            ScanPiece::Word | ScanPiece::Symbol(_) => words.position += 1,
        }
    }
    words.list
}

#[derive(Default)]
struct DictionaryWords {
    list: Vec<Token>,
    position: usize,
    text: String,
    word: Vec<RunChar>,
}

impl DictionaryWords {
    fn add_run(&mut self, run: &[RunChar]) {
        for part in
            run.chunk_by(|a, b| (a.script == Script::Hangul) == (b.script == Script::Hangul))
        {
            if part[0].script == Script::Hangul {
                self.add_korean(part);
            } else {
                self.add_segmented(part);
            }
        }
    }

    fn add_segmented(&mut self, run: &[RunChar]) {
        static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> = LazyLock::new(|| {
            icu_segmenter::WordSegmenter::new_dictionary(WordBreakInvariantOptions::default())
        });
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.extend(run.iter().map(|c| c.ch));
        let (mut start, mut bytes) = (0, 0);
        for end_byte in SEGMENTER.segment_str(&text).skip(1) {
            let mut end = start;
            while bytes < end_byte && end < run.len() {
                bytes += run[end].ch.len_utf8();
                end += 1;
            }
            self.add_word(&run[start..end]);
            start = end;
        }
        self.text = text;
    }

    /// Adds a word without its endings: 変える and 変えた share 変, 読み込む and 読み込み share 読込.
    fn add_word(&mut self, word: &[RunChar]) {
        let endings = word.iter().rev().take_while(|c| c.script == Script::Hiragana).count();
        let stem = &word[..word.len() - endings];
        if !stem.is_empty() {
            self.word.clear();
            self.word.extend_from_slice(stem);
            if stem[0].script == Script::Han {
                self.word.retain(|c| c.script != Script::Hiragana);
            }
            fold_kana(&mut self.word);
            self.push();
        }
        self.position += 1;
    }

    fn add_korean(&mut self, word: &[RunChar]) {
        let text: String = word.iter().map(|c| c.ch).collect();
        let particle = PARTICLES.iter().find(|particle| text.ends_with(**particle));
        let particle = particle.map_or(0, |particle| particle.chars().count());
        // A word of one syllable is too little to tell it from its particle.
        let length = if word.len() >= particle + 2 { word.len() - particle } else { word.len() };
        self.word.clear();
        self.word.extend_from_slice(&word[..length]);
        self.push();
        self.position += 1;
    }

    fn push(&mut self) {
        let (Some(first), Some(last)) = (self.word.first(), self.word.last()) else { return };
        self.list.push(Token {
            text: self.word.iter().map(|c| c.ch).collect(),
            position: self.position,
            range: first.start..last.end,
            kind: TokenKind::Word,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::dictionary_words;

    fn words(text: &str) -> Vec<String> {
        dictionary_words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn japanese_is_divided_without_particles_and_endings() {
        assert_eq!(
            words("データベース接続の設定ファイル"),
            ["データベース", "接続", "設定", "ファイル"]
        );
        assert_eq!(words("ファイルのアクセス権を変更する"), ["ファイル", "アクセス", "権", "変更"]);
    }

    #[test]
    fn forms_of_a_verb_share_their_stem() {
        for forms in [
            ["消す", "消した"],
            ["変える", "変えた"],
            ["読み込み", "読み込む"],
            ["書き出す", "書き出し"],
        ] {
            assert_eq!(words(forms[0]), words(forms[1]), "{forms:?}");
        }
        assert_eq!(words("起動します"), words("起動した"));
    }

    #[test]
    fn words_are_folded() {
        assert_eq!(words("サーバーを起動"), ["サーバ", "起動"]);
        assert_eq!(words("ﾌｧｲﾙ"), ["ファイル"]);
        assert_eq!(words("圖書館"), words("図書館"));
    }

    #[test]
    fn a_line_break_within_a_word_is_left_out() {
        assert_eq!(words("共有メ\n   モリ"), ["共有", "メモリ"]);
        assert_eq!(words("共有メ\n\nモリ"), ["共有", "メ", "モリ"]);
    }

    #[test]
    fn chinese_korean_and_thai_are_divided() {
        assert_eq!(words("显示文件内容"), ["显示", "文件", "内容"]);
        assert_eq!(words("디렉터리에서 파일을 삭제합니다"), ["디렉터리", "파일", "삭제"]);
        assert_eq!(words("สวัสดีครับ"), ["สวัสดี", "ครับ"]);
    }

    #[test]
    fn other_scripts_and_hiragana_alone_have_no_dictionary_words() {
        assert_eq!(words("hello Größe これはそれです 🚀"), [""; 0]);
    }
}
