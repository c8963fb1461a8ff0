//! Stop words: words that nearly every text has.

/// English stop words, folded and unstemmed.
const ENGLISH: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been",
    "being", "but", "by", "can", "could", "did", "do", "does", "doesnt", "doing", "dont", "for",
    "from", "had", "has", "have", "having", "how", "i", "if", "im", "in", "into", "is", "isnt",
    "it", "its", "just", "may", "me", "might", "must", "my", "of", "on", "one", "only", "or",
    "our", "out", "please", "shall", "should", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "us", "very",
    "was", "we", "were", "what", "when", "where", "which", "while", "who", "whose", "why", "will",
    "with", "would", "you", "your",
];

/// Words of Japanese and Chinese that say little about what is asked, folded, without endings.
const GENERAL: &[&str] = &[
    "方法", "場合", "時", "際", "事", "物", "者", "為", "使", "使用", "利用", "行", "出来", "知",
    "教", "何", "必要", "的", "了", "是", "在", "和", "有", "怎么", "如何", "什么", "我", "你",
    "所", "点", "中", "内", "上", "下", "用", "各", "他", "或", "如", "方", "後", "今", "一度",
    "巨大", "完全", "簡単", "普通", "本当", "自分", "特定", "実際", "全部", "全然", "色々", "様々",
    "次", "前", "度", "回", "込", "出", "来", "入", "目", "手", "人",
];

/// The same, of several words.
const GENERAL_PHRASES: &[&str] = &["モウ一度"];

/// True for an English stop word.
pub(super) fn is_stop_word(folded: &str) -> bool {
    ENGLISH.binary_search(&folded).is_ok()
}

/// True for a dictionary word that says little.
pub(super) fn is_general(word: &str) -> bool {
    GENERAL.contains(&word) || GENERAL_PHRASES.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::ENGLISH;

    #[test]
    fn stop_words_are_sorted() {
        assert!(ENGLISH.is_sorted());
    }
}
