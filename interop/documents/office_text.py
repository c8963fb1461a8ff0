"""English and Japanese texts that the documents of word processors and presentations are made of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OfficeText:
    """The words of one language."""

    title: str
    chapters: tuple[str, str, str]
    sections: tuple[str, str]
    paragraphs: tuple[str, str, str]
    bullets: tuple[str, str, str]
    numbers: tuple[str, str, str]
    header: tuple[str, str, str]
    rows: tuple[tuple[str, str, str], ...]
    footnote: str
    comment: str
    author: str
    deleted: str
    inserted: str
    box: str
    link: str
    page_header: str
    page_footer: str
    notes: str
    base: str
    reading: str


ENGLISH = OfficeText(
    title="Annual Safety Report",
    chapters=("Introduction", "Findings of the year", "What happens next"),
    sections=("Scope and method", "Open questions"),
    paragraphs=(
        "This report covers the inspections that the team carried out between April and March, at 14 sites with snake_case names.",
        "Every site was visited twice; results under 3.5 % are rounded & listed as [none], so a < b may hold.",
        "The next round starts in May. It takes 2 * 3 days and costs about $1,200 per site (see table).",
    ),
    bullets=("Check the pumps before noon", "Replace worn seals", "Report leaks at once"),
    numbers=("Open the main valve", "Read the gauge twice", "Write the value down"),
    header=("Site", "Visits", "Remark"),
    rows=(("Harbour", "2", "in good order"), ("Old Mill", "1", "closed in winter"), ("Depot", "2", "new roof | gutter")),
    footnote="Measured with the calibrated gauge of 2023.",
    comment="Please verify this number with the site office.",
    author="Maria Keller",
    deleted="obsolete sentence about fax machines",
    inserted="a sentence that was added during review",
    box="Safety first: wear a helmet in every hall.",
    link="Public register of inspections",
    page_header="Harbour Authority, internal",
    page_footer="Printed copies are uncontrolled",
    notes="Remember to thank the volunteers before the break.",
    base="Tokyo",
    reading="capital",
)

JAPANESE = OfficeText(
    title="年次安全報告書",
    chapters=("はじめに", "今年度の結果", "今後の予定"),
    sections=("対象と方法", "残された課題"),
    paragraphs=(
        "本報告書は、四月から三月までに実施した十四か所の点検結果をまとめたものである。",
        "各拠点は年に二回訪問し、三・五％未満の値は四捨五入して「なし」と記載した。",
        "次回の点検は五月に始まり、一拠点あたり約十二万円の費用を見込んでいる。",
    ),
    bullets=("午前中にポンプを点検する", "摩耗したパッキンを交換する", "漏れはすぐに報告する"),
    numbers=("主弁を開く", "計器を二度読む", "値を記録する"),
    header=("拠点", "訪問回数", "備考"),
    rows=(("港湾", "二回", "良好"), ("旧工場", "一回", "冬季は閉鎖"), ("倉庫", "二回", "屋根を新設")),
    footnote="令和五年に校正した計器で測定した。",
    comment="この数値を現地事務所に確認してください。",
    author="山田太郎",
    deleted="廃止されたファクスに関する古い文",
    inserted="査読中に追加された一文",
    box="安全第一：構内では必ずヘルメットを着用すること。",
    link="点検結果の公開台帳",
    page_header="港湾局　内部資料",
    page_footer="印刷物は管理対象外",
    notes="休憩の前に協力者へお礼を述べること。",
    base="漢字",
    reading="かんじ",
)

LANGUAGES = {"en": ENGLISH, "ja": JAPANESE}
