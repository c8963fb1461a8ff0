"""Text for PDF documents of the corpus, in English and Japanese: the same for the same seed."""

import random

_ENGLISH = {
    "who": "The office|A reader|Our archive|The committee|Each branch|A new printer|The northern depot|Their engineer".split("|"),
    "does": "records|compares|delivers|measures|repairs|publishes|examines|replaces".split("|"),
    "what": "annual figures|forty-two crates of paper|the first draft|several old maps|a well-known method|spare parts".split("|"),
    "when": "before noon|in early spring|every second week|after the inspection|without further delay|by 17:30".split("|"),
}
_JAPANESE = {
    "who": "事務局は|読者の皆様は|東京の工場は|委員会は|新しい印刷機は|担当の技術者は|図書館は|北海道支店は".split("|"),
    "when": "毎年春に|正午までに|検査のあとで|翌週の月曜日に|一時間ごとに|ゆっくりと".split("|"),
    "what": "年間の数値を|古い地図を|四十二箱の用紙を|報告書の草案を|部品の在庫を|データベースを".split("|"),
    "does": "記録します。|比較します。|配達します。|測定しました。|修理しました。|公開する予定です。|交換できます。".split("|"),
}


def sentence(language: str, rng: random.Random) -> str:
    """A sentence."""
    if language == "ja":
        return "".join(rng.choice(_JAPANESE[part]) for part in ("who", "when", "what", "does"))
    words = [rng.choice(_ENGLISH[part]) for part in ("who", "does", "what", "when")]
    return f"{' '.join(words)} ({rng.randint(100, 9999)})."


def paragraph(language: str, rng: random.Random, sentences: int = 5) -> str:
    """A paragraph."""
    glue = "" if language == "ja" else " "
    return glue.join(sentence(language, rng) for _ in range(sentences))


def title(language: str, number: int) -> str:
    """The title of a chapter."""
    words = "報告の概要|測定の結果|今後の計画|設備の一覧" if language == "ja" else "Summary of the report|Results of measuring|Plans ahead|List of equipment"
    choices = words.split("|")
    return choices[number % len(choices)]


def table(language: str, rng: random.Random, rows: int = 8) -> list[list[str]]:
    """Rows of cells, the first one the header."""
    names = "札幌|仙台|東京|名古屋|大阪|広島|福岡|那覇" if language == "ja" else "Oslo|Bern|Lima|Cairo|Quito|Delhi|Hanoi|Accra"
    header = ["都市", "人口", "面積", "備考"] if language == "ja" else ["City", "People", "Area", "Remark"]
    remarks = "増加|減少|横ばい".split("|") if language == "ja" else "rising|falling|steady".split("|")
    body = [
        [name, f"{rng.randint(100, 999)},{rng.randint(100, 999)}", f"{rng.uniform(10, 900):.1f}", rng.choice(remarks)]
        for name in names.split("|")[:rows]
    ]
    return [header, *body]
