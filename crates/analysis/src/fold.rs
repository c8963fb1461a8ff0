//! Folding: one spelling for texts that differ in case, accents, width or kana.

mod kanji_forms;
mod letters;
mod run;

pub(crate) use letters::{fold_letter, is_ignorable, normalize_cluster};
pub(crate) use run::{
    LineBreaks, RunChar, Script, collect_run, fold_kana, fold_run, resolve_marks, script_of,
};

/// Folds a text: NFKC, lower case, no accents, katakana for hiragana, no long vowel at the end of
/// a katakana word, iteration marks resolved, new kanji forms.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut run = Vec::new();
    let mut normal = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
            at += 1;
        } else if script_of(c).is_some() {
            run.clear();
            at = collect_run(text, at, LineBreaks::End, &mut run);
            fold_run(&mut run);
            folded.extend(run.iter().map(|folded| folded.ch));
        } else {
            normal.clear();
            at = normalize_cluster(text, at, &mut normal);
            normal.iter().for_each(|c| fold_letter(*c, &mut folded));
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn case_accents_and_width_are_folded() {
        assert_eq!(fold("Café ÀÉÎÕÜ Straße Ångström"), "cafe aeiou strasse angstrom");
        assert_eq!(fold("cafe\u{301}"), "cafe");
        assert_eq!(fold("ＡＢＣ１２３　ﬁle"), "abc123 file");
        assert_eq!(fold("Łódź Ørsted Æsir ĳ"), "lodz orsted aesir ij");
        assert_eq!(fold("ΑΘΉΝΑΣ Ὀδυσσεύς"), "αθηνασ οδυσσευσ");
        assert_eq!(fold("Ёлка и Йод"), "елка и йод");
    }

    #[test]
    fn kana_of_both_kinds_and_widths_fold_to_one() {
        assert_eq!(fold("ひらがな"), fold("ヒラガナ"));
        assert_eq!(fold("ﾊﾝｶｸ ｶﾞｷﾞ ﾊﾟ"), "ハンカク ガギ パ");
        assert_eq!(fold("か\u{3099}"), "ガ");
    }

    #[test]
    fn a_long_vowel_at_the_end_of_a_katakana_word_is_dropped() {
        assert_eq!(fold("サーバー"), fold("サーバ"));
        assert_eq!(fold("ｻｰﾊﾞｰ"), "サーバ");
        assert_eq!(fold("サーバーの設定"), fold("サーバの設定"));
        assert_eq!(fold("フォルダー"), fold("フォルダ"));
        assert_eq!(fold("キー"), "キー");
        assert_eq!(fold("データ"), "データ");
    }

    #[test]
    fn spellings_of_loan_words_fold_to_one() {
        assert_eq!(fold("インターフェイス"), fold("インターフェース"));
        assert_eq!(fold("ウィンドウ"), fold("ウインドウ"));
        assert_eq!(fold("ヴァイオリン"), fold("バイオリン"));
        assert_eq!(fold("ファイル・システム"), fold("ファイルシステム"));
    }

    #[test]
    fn iteration_marks_are_resolved() {
        assert_eq!(fold("人々"), "人人");
        assert_eq!(fold("部分々々"), "部分部分");
        assert_eq!(fold("いすゞ"), "イスズ");
        assert_eq!(fold("バナヽ"), "バナナ");
        assert_eq!(fold("々"), "々");
    }

    #[test]
    fn old_kanji_become_new_ones() {
        assert_eq!(fold("國會圖書館の舊字體"), "国会図書館ノ旧字体");
        assert_eq!(fold("\u{FA19}"), "神");
    }

    #[test]
    fn compatibility_characters_are_spelt_out() {
        assert_eq!(fold("㍿ ㌔ ① ㎏"), "株式会社 キロ 1 kg");
    }

    #[test]
    fn hangul_is_composed() {
        assert_eq!(fold("한국어"), "한국어");
        assert_eq!(fold("\u{1112}\u{1161}\u{11AB}"), "한");
    }

    #[test]
    fn lines_stay_apart() {
        assert_eq!(fold("共有\nメモリ"), "共有\nメモリ");
    }
}
