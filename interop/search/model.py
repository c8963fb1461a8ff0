"""The static model of embeddings, as a folder in the layout of Model2Vec: `model.safetensors` and `tokenizer.json`.

It joins two tables: WordLlama for English, and the word vectors of ja-ginza for Japanese. Each has dimensions of its own, so
that no word of one is near to a word of the other.
"""

import json
import math
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import japanese_vectors
from processes import BUILD

PACKAGE = "lib/python3*/site-packages/wordllama"
WEIGHTS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
JAPANESE = BUILD / "search-model-ja"
# Below are the tokens of single bytes.
FIRST_PIECE = 259
# Of how many rows of English the length is looked at.
SAMPLE = 1_000
# The score of a token: a text is divided so that the sum is the largest. All pieces of English have the same, so that a word
# has as few as can be; a Japanese word has the more the more frequent it is.
PIECE_SCORE, WORD_SCORE, RARITY_SCORE = -10.0, -8.0, -0.5
# What a word counts: hiragana are particles and endings, one character says little.
HIRAGANA_WEIGHT, CHARACTER_WEIGHT = 0.05, 0.5


def folder() -> Path:
    """The folder, made if it is not there."""
    made = BUILD / "search-model/joined"
    if not (made / "tokenizer.json").is_file():
        made.mkdir(exist_ok=True)
        vocabulary, tensors = joined()
        (made / "model.safetensors").write_bytes(safetensors(tensors))
        (made / "config.json").write_text(json.dumps({"normalize": True}))
        # Last: a folder with a tokenizer is complete.
        (made / "tokenizer.json").write_text(json.dumps(tokenizer(vocabulary), ensure_ascii=False))
    return made


def joined() -> tuple[list[tuple[str, float]], dict[str, tuple[str, list[int], bytes]]]:
    """The tokens with their scores, and the tensors: the rows, the row of each token, and what it counts."""
    pieces, english_size, english = wordllama()
    japanese_size, japanese = japanese_vectors.vectors(JAPANESE)
    length = mean_length(english, english_size)
    no_english, no_japanese = bytes(2 * english_size), bytes(2 * japanese_size)
    rows = [english[at : at + 2 * english_size] + no_japanese for at in range(0, len(english), 2 * english_size)]
    first = len(rows)
    for at in range(0, len(japanese), japanese_size):
        row = japanese[at : at + japanese_size]
        scale = length / math.sqrt(sum(number * number for number in row))
        rows.append(no_english + struct.pack(f"<{japanese_size}e", *(scale * number for number in row)))
    # The first token stands for what is unknown.
    tokens = [("<unk>", 0.0, 0, 0.0)]
    tokens += [(piece, PIECE_SCORE, row, 1.0) for piece, row in pieces.items() if is_piece(piece, row)]
    for word, row in japanese_vectors.words(JAPANESE).items():
        is_particle = japanese_vectors.HIRAGANA.match(word)
        weight = HIRAGANA_WEIGHT if is_particle else CHARACTER_WEIGHT if len(word) == 1 else 1.0
        tokens.append((word, WORD_SCORE + RARITY_SCORE * math.log(row + 10), first + row, weight))
    count, size = len(tokens), english_size + japanese_size
    tensors = {
        "embeddings": ("F16", [len(rows), size], b"".join(rows)),
        "mapping": ("I32", [count], struct.pack(f"<{count}i", *(row for _, _, row, _ in tokens))),
        "weights": ("F32", [count], struct.pack(f"<{count}f", *(weight for _, _, _, weight in tokens))),
    }
    return [(token, score) for token, score, _, _ in tokens], tensors


def wordllama() -> tuple[dict[str, int], int, bytes]:
    """The rows of WordLlama's tokens, the dimensions, and the rows as numbers of 16 bits."""
    package = next((BUILD / "search-model").glob(PACKAGE))
    data = (package / WEIGHTS).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    (tensor,) = json.loads(data[8 : 8 + length]).values()
    begin, end = tensor["data_offsets"]
    pieces = json.loads((package / TOKENIZER).read_text())["model"]["vocab"]
    return pieces, tensor["shape"][1], data[8 + length + begin : 8 + length + end]


def is_piece(piece: str, row: int) -> bool:
    """Whether a token of WordLlama is one of a language with an alphabet."""
    return row >= FIRST_PIECE and not any("\u3000" <= character <= "\uffef" for character in piece)


def mean_length(rows: bytes, size: int) -> float:
    starts = range(0, len(rows), 2 * size * (len(rows) // (2 * size * SAMPLE)))
    lengths = [math.hypot(*struct.unpack_from(f"<{size}e", rows, start)) for start in starts]
    return sum(lengths) / len(lengths)


def safetensors(tensors: dict[str, tuple[str, list[int], bytes]]) -> bytes:
    header, at = {}, 0
    for name, (kind, shape, data) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + b"".join(data for _, _, data in tensors.values())


def tokenizer(vocabulary: list[tuple[str, float]]) -> dict[str, Any]:
    """A tokenizer that divides a text into the tokens whose scores have the largest sum."""
    spaces = [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, *spaces]},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": False},
    }


if __name__ == "__main__":
    print(folder())
