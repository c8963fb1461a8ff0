"""A real tokenizer, whose vocabulary is inside of its package: o200k_base of gpt-tokenizer, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from processes import BUILD, NODE


class Tokenizer:
    """Counts tokens."""

    def __enter__(self) -> "Tokenizer":
        command = [NODE, Path(__file__).with_name("count_tokens.mjs"), BUILD / "search"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=10)

    def count(self, text: str) -> int:
        # Escaped as ASCII, so that no line separator of Unicode ends a line.
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())
