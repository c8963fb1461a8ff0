"""The static model of embeddings, as a folder in the layout of Model2Vec: `model.safetensors` and `tokenizer.json`."""

import json
import shutil
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from processes import BUILD

PACKAGE = "lib/python3*/site-packages/wordllama"
WEIGHTS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
# What Model2Vec calls its table.
TENSOR = "embeddings"


def folder() -> Path:
    """The folder, made if it is not there."""
    made = BUILD / "search-model/model2vec"
    if not (made / "tokenizer.json").is_file():
        package = next((BUILD / "search-model").glob(PACKAGE))
        made.mkdir(exist_ok=True)
        (made / "model.safetensors").write_bytes(renamed((package / WEIGHTS).read_bytes()))
        (made / "config.json").write_text(json.dumps({"normalize": True}))
        # Last: a folder with a tokenizer is complete.
        shutil.copyfile(package / TOKENIZER, made / "tokenizer.json")
    return made


def renamed(data: bytes) -> bytes:
    """A safetensors file whose only tensor has the name that Model2Vec gives it."""
    (length,) = struct.unpack("<Q", data[:8])
    (tensor,) = json.loads(data[8 : 8 + length]).values()
    header = json.dumps({TENSOR: tensor}).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


if __name__ == "__main__":
    print(folder())
