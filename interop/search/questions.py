"""The questions: what is asked, which pages answer, and which of their passages.

`questions.py` alone checks that every answer exists in the corpus and that every answer has a passage.
"""

import re
import sys
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import corpus

SETS = {"ja": 60, "en": 60, "code": 40}
KINDS = ("words", "paraphrase")
SPLITS = ("dev", "test")


@dataclass(frozen=True)
class Question:
    """A question with known answers."""

    question: str
    # Every page that answers, as `corpus.short` names it.
    answers: tuple[str, ...]
    # `paraphrase` if the question shares few words with its answer.
    kind: str
    # Ranking is tuned on `dev` alone.
    split: str
    # Texts, one of which stands in the passage that answers.
    passages: tuple[str, ...]

    def is_answered_by(self, text: str) -> bool:
        """Whether a text has a passage that answers."""
        folded = letters(text)
        return any(letters(passage) in folded for passage in self.passages)


def letters(text: str) -> str:
    """A text as its letters and digits alone, so that marks of Markdown and line breaks do not count."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()


@cache
def questions(name: str) -> tuple[Question, ...]:
    """The questions of a set, in the order of its file."""
    table = tomllib.loads(Path(__file__).with_name(f"questions-{name}.toml").read_text())
    return tuple(
        Question(row["question"], tuple(row["answers"]), row["kind"], row["split"], tuple(row["passages"]))
        for row in table["questions"]
    )


def mistakes(name: str) -> list[str]:
    """What is wrong with a set: too few questions, pages that do not exist, passages that no page has."""
    asked = questions(name)
    found = [] if len(asked) == SETS[name] else [f"{name}: {len(asked)} questions, wanted {SETS[name]}"]
    if len({question.question for question in asked}) < len(asked):
        found.append(f"{name}: a question stands there twice")
    paraphrases = sum(question.kind == "paraphrase" for question in asked)
    if paraphrases * 3 < len(asked) - 2:
        found.append(f"{name}: {paraphrases} paraphrases of {len(asked)} questions, wanted a third")
    texts = corpus.texts(name)
    for question in asked:
        if question.kind not in KINDS or question.split not in SPLITS:
            found.append(f"{name}: {question.question}: kind {question.kind}, split {question.split}")
        for page in question.answers:
            if page not in texts:
                found.append(f"{name}: {question.question}: no page {page}")
            elif not question.is_answered_by(texts[page]):
                found.append(f"{name}: {question.question}: {page} has no passage that answers")
        for passage in question.passages:
            if not any(letters(passage) in letters(texts.get(page, "")) for page in question.answers):
                found.append(f"{name}: {question.question}: no answer has {passage!r}")
    return found


if __name__ == "__main__":
    wrong = [mistake for name in SETS for mistake in mistakes(name)]
    print("\n".join(wrong) or "every answer exists, and has a passage that answers")
    sys.exit(bool(wrong))
