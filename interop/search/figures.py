"""Figures of a ranking: recall and mean reciprocal rank, for each set of questions, kind and split."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from questions import KINDS, SPLITS, Question

# How many hits are judged.
LIMIT = 5

# The hits of one question, best first, as `corpus.short` names them; `None` for a hit outside of the corpus.
Hits = list[str | None]


@dataclass(frozen=True)
class Figures:
    """What a search engine found of a number of questions."""

    count: int
    recall_1: float
    recall_5: float
    mrr: float

    def __str__(self) -> str:
        return f"{self.recall_1:.3f} {self.recall_5:.3f} {self.mrr:.3f}"


def rank(question: Question, hits: Hits) -> int | None:
    """The place of the first answer among different pages, from 1."""
    different = list(dict.fromkeys(hits))
    return next((place for place, page in enumerate(different[:LIMIT], 1) if page in question.answers), None)


def figures(asked: list[Question], found: dict[str, Hits], keep: Callable[[Question], bool] = lambda _: True) -> Figures:
    ranks = [rank(question, found[question.question]) for question in asked if keep(question)]
    count = len(ranks) or 1
    return Figures(
        len(ranks),
        sum(place == 1 for place in ranks) / count,
        sum(place is not None for place in ranks) / count,
        sum(1 / place for place in ranks if place) / count,
    )


GROUPS: dict[str, Callable[[Question], bool]] = {
    "all": lambda _: True,
    **{kind: lambda question, kind=kind: question.kind == kind for kind in KINDS},
    **{split: lambda question, split=split: question.split == split for split in SPLITS},
}


def table(asked: list[Question], engines: dict[str, dict[str, Hits]]) -> Iterator[str]:
    """Lines that compare search engines: recall@1, recall@5 and MRR of each group of questions."""
    columns = [f"{group} ({figures(asked, next(iter(engines.values())), keep).count})" for group, keep in GROUPS.items()]
    yield f"{'R@1 R@5 MRR':<24}" + "".join(f"{column:<20}" for column in columns)
    for engine, found in engines.items():
        cells = [str(figures(asked, found, keep)) for keep in GROUPS.values()]
        yield f"{engine:<24}" + "".join(f"{cell:<20}" for cell in cells)
