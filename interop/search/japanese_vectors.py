"""The Japanese word vectors inside of the package ja-ginza: words, the row of each, and the rows.

The rows stand in the order of how frequent their words are. The package keeps hashes of words beside the rows, and the words
in a list of their own.
"""

import json
import re
import struct
from array import array
from pathlib import Path

VOCABULARY = "ja_ginza/ja_ginza-*/vocab"
# The header of NumPy's format, of which the length is in its ninth byte.
NUMPY_PREFIX = 10
MASK = (1 << 64) - 1
MULTIPLIER = 0xC6A4A7935BD1E995
SHIFT, SEED = 47, 1

JAPANESE = re.compile(r"^[\u3005-\u3007\u3041-\u309f\u30a1-\u30ff\u3400-\u9fff]+$")
HIRAGANA = re.compile(r"^[\u3041-\u309fー]+$")
# Longer ones are names.
MAX_WORD = 10
# The last character of a verb or an adjective, whose other forms begin with the rest: 終わる, 終わらない.
ENDINGS = "うくぐすつぬぶむるい"


def words(folder: Path) -> dict[str, int]:
    """The row of every Japanese word, and of what all forms of a verb have in common."""
    vocabulary = next(folder.glob(VOCABULARY))
    rows = rows_by_hash((vocabulary / "key2row").read_bytes())
    known = {}
    for word in json.loads((vocabulary / "strings.json").read_text()):
        if len(word) <= MAX_WORD and JAPANESE.match(word) and (row := rows.get(murmur(word.encode()))) is not None:
            known[word] = row
    for word, row in list(known.items()):
        stem = word[:-1]
        if word[-1] in ENDINGS and stem and not HIRAGANA.match(stem):
            known.setdefault(stem, row)
    return known


def vectors(folder: Path) -> tuple[int, array]:
    """How many numbers a row has, and all rows after each other."""
    data = (next(folder.glob(VOCABULARY)) / "vectors").read_bytes()
    (length,) = struct.unpack_from("<H", data, 8)
    shape = re.search(rb"'shape': \((\d+), (\d+)\)", data[:NUMPY_PREFIX + length])
    numbers = array("f")
    numbers.frombytes(data[NUMPY_PREFIX + length :])
    return int(shape[2]), numbers


def rows_by_hash(data: bytes) -> dict[int, int]:
    """A map of integers in MessagePack."""
    (count,) = struct.unpack_from(">I", data, 1)
    formats = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
    numbers, at = [], 5
    while len(numbers) < 2 * count:
        kind = data[at]
        if kind < 0x80:
            numbers.append(kind)
            at += 1
        else:
            numbers.append(struct.unpack_from(formats[kind], data, at + 1)[0])
            at += 1 + struct.calcsize(formats[kind])
    return dict(zip(numbers[::2], numbers[1::2]))


def murmur(data: bytes) -> int:
    """MurmurHash64A, as spaCy hashes words."""
    value = (SEED ^ (len(data) * MULTIPLIER)) & MASK
    whole = len(data) // 8 * 8
    for (part,) in struct.iter_unpack("<Q", data[:whole]):
        part = (part * MULTIPLIER) & MASK
        part = ((part ^ (part >> SHIFT)) * MULTIPLIER) & MASK
        value = ((value ^ part) * MULTIPLIER) & MASK
    if rest := data[whole:]:
        value = ((value ^ int.from_bytes(rest, "little")) * MULTIPLIER) & MASK
    value = ((value ^ (value >> SHIFT)) * MULTIPLIER) & MASK
    return value ^ (value >> SHIFT)
