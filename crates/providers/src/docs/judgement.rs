//! Built-in judgement of pages: which matter more, by name, folder and title.

use super::page_path::PagePath;

/// The priority of a page of which nothing else is known.
const USUAL: f64 = 0.5;
/// The priority of a page that is not finished.
const DRAFT: f64 = 0.2;

/// Words of names and titles, the first match decides. A word of Latin script must stand alone.
const JUDGEMENTS: [(f64, &[&str]); 7] = [
    (0.1, &["license", "licence", "copying", "notice", "ライセンス", "許諾"]),
    (
        0.2,
        &[
            "changelog",
            "changes",
            "history",
            "release notes",
            "releases",
            "whatsnew",
            "what's new",
            "変更履歴",
            "更新履歴",
            "改訂履歴",
            "リリースノート",
            "更新日志",
            "변경 내역",
        ],
    ),
    (
        0.2,
        &[
            "archive",
            "archived",
            "archives",
            "legacy",
            "deprecated",
            "obsolete",
            "old",
            "アーカイブ",
            "廃止",
        ],
    ),
    (
        0.9,
        &[
            "readme",
            "getting started",
            "quickstart",
            "quick start",
            "introduction",
            "overview",
            "はじめに",
            "入門",
            "概要",
            "クイックスタート",
            "はじめよう",
            "快速开始",
            "시작하기",
        ],
    ),
    (
        0.8,
        &[
            "guide",
            "tutorial",
            "howto",
            "how to",
            "install",
            "installation",
            "usage",
            "faq",
            "ガイド",
            "チュートリアル",
            "使い方",
            "手引き",
            "導入",
            "インストール",
            "よくある質問",
            "指南",
            "教程",
        ],
    ),
    (0.7, &["summary", "toc", "contents", "table of contents", "index", "目次", "llms"]),
    (0.6, &["reference", "api", "manual", "リファレンス", "仕様"]),
];

/// The priority of a page.
pub(super) fn judge(path: &PagePath, title: Option<&str>, is_draft: bool) -> f64 {
    if is_draft {
        return DRAFT;
    }
    let page = path.page();
    let (folders, name) = page.split_at(page.len().saturating_sub(1));
    let stem = name.first().map_or("", |name| name.split('.').next().unwrap_or(name));
    let name = normalised(stem);
    let title = title.map(normalised).unwrap_or_default();
    let folders: Vec<String> = folders.iter().map(|folder| normalised(folder)).collect();
    let is_low = |priority: f64| priority < USUAL;
    for (priority, words) in JUDGEMENTS {
        let named = words.iter().any(|word| {
            // A heading with more in it than the word is about something else.
            has_word(&name, word) || (has_word(&title, word) && title.chars().count() <= 24)
        });
        let in_folder = is_low(priority)
            && folders.iter().any(|folder| words.iter().any(|word| folder == word));
        if named || in_folder {
            return priority;
        }
    }
    USUAL
}

/// Lower case, with one space for each run of what is no letter.
fn normalised(text: &str) -> String {
    let lower = text.to_lowercase();
    let words =
        lower.split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != 'ー');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn has_word(text: &str, word: &str) -> bool {
    if !word.is_ascii() {
        return text.contains(word);
    }
    text.match_indices(word).any(|(at, _)| {
        let is_free =
            |letter: Option<char>| letter.is_none_or(|letter| !letter.is_ascii_alphanumeric());
        is_free(text[..at].chars().next_back()) && is_free(text[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::judge;
    use crate::docs::page_path::PagePath;

    fn priority(path: &str, title: Option<&str>) -> f64 {
        let segments = path.split('/').map(str::to_owned).collect();
        judge(&PagePath::new(segments, &[]), title, false)
    }

    #[test]
    fn a_guide_stands_above_a_changelog_and_a_tutorial_above_an_archive() {
        for (path, title, expected) in [
            ("README.md", None, 0.9),
            ("README.ja.md", None, 0.9),
            ("ja/intro.md", Some("はじめに"), 0.9),
            ("user-guide.md", None, 0.8),
            ("x.md", Some("使い方"), 0.8),
            ("x.md", Some("目次"), 0.7),
            ("api/x.md", None, 0.5),
            ("internals.md", Some("Internals"), 0.5),
            ("x.md", Some("変更履歴"), 0.2),
            ("CHANGELOG.md", None, 0.2),
            ("archive/guide.md", None, 0.2),
            ("LICENSE.txt", None, 0.1),
            ("guidelines.md", None, 0.5),
            ("x.md", Some("How the history of a repository is read by this program"), 0.5),
        ] {
            assert_eq!(priority(path, title), expected, "{path} {title:?}");
        }
        let path = PagePath::new(vec!["guide.md".to_owned()], &[]);
        assert_eq!(judge(&path, None, true), 0.2);
    }
}
