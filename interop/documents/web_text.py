"""What the generated web pages say, in English and Japanese, and what stands around it."""

from dataclasses import dataclass


@dataclass
class Words:
    """The texts of a page in one language."""

    language: str
    title: str
    section: str
    paragraphs: list[str]
    items: list[str]
    inner_items: list[str]
    table: list[list[str]]
    terms: list[tuple[str, str]]
    quote: str
    link: str
    emphasis: str
    note: str
    summary: str
    ruby: tuple[str, str]
    # What must not come out: menus, banners, hidden texts.
    menu: str
    banner: str
    footer: str
    hidden: str


ENGLISH = Words(
    language="en",
    title="The harbour at night",
    section="What the keeper wrote down",
    paragraphs=[
        "The harbour lay quiet when the last ferry came in, and nobody waited on the pier but the keeper.",
        "He counted 1,204 crates & 37 barrels, noted the wind (north-east, 4 m/s) and closed the book; x < y > z stayed on the slate.",
        "Snake_case names, *stars* and [brackets] are text here, and so are a # mark and 3. a number.",
    ],
    items=["Ropes and lines", "Lamps of brass", "Charts of the coast"],
    inner_items=["Harbour plans", "Depth soundings"],
    table=[["Ship", "Arrived", "Cargo"], ["Aurora", "18:40", "Timber"], ["Meridian", "21:05", "Grain and salt"], ["Petrel", "23:55", "Nothing"]],
    terms=[("Pier", "A platform on posts that reaches into the water."), ("Ballast", "Weight that keeps an empty ship upright.")],
    quote="A harbour is a promise that somebody keeps the light on.",
    link="the register of ships",
    emphasis="never after midnight",
    note="The book of 1897 is lost.",
    summary="How the light works",
    ruby=("lighthouse", "LITE-house"),
    menu="Subscribe to the gazette",
    banner="We value your privacy and bake biscuits",
    footer="Imprint of the harbour office",
    hidden="Invisible ink for robots",
)

JAPANESE = Words(
    language="ja",
    title="夜の港について",
    section="灯台守の記録",
    paragraphs=[
        "最後の連絡船が着いたとき、港は静かで、桟橋には灯台守のほかに誰もいなかった。",
        "彼は木箱を１，２０４個、樽を37個数え、風向き(北東、毎秒4メートル)を記して帳簿を閉じた。",
        "ソースコードの「表示」や能力、構造など、二バイト目が特別な文字も正しく出る。",
    ],
    items=["縄と綱", "真鍮のランプ", "海岸の地図"],
    inner_items=["港の見取り図", "水深の記録"],
    table=[["船名", "到着", "積荷"], ["曙丸", "18:40", "木材"], ["子午線丸", "21:05", "穀物と塩"], ["海燕丸", "23:55", "なし"]],
    terms=[("桟橋", "水の上に突き出した、杭の上の台。"), ("底荷", "空の船を安定させるための重り。")],
    quote="港とは、誰かが灯をともし続けるという約束である。",
    link="船舶登録簿",
    emphasis="真夜中を過ぎてはならない",
    note="千八百九十七年の帳簿は失われた。",
    summary="灯のしくみ",
    ruby=("灯台", "とうだい"),
    menu="購読はこちらから",
    banner="当サイトはクッキーを使用します",
    footer="港湾事務所の連絡先",
    hidden="機械だけが読む文",
)

CODE = 'fn main() {\n    let ships = vec!["Aurora", "Petrel"];\n    println!("{} & <done>", ships.len());\n}'
