"""Search engines to compare with, each in its best fair configuration, over the same texts and questions.

`comparators.py` prints their figures. It runs in the environment that has tantivy.
"""

import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import corpus
from figures import LIMIT, Hits, table
from questions import SETS, questions

# Words that every English question has. The ranking by counts gives all words the same weight, so that it is better
# without them; BM25 does not need it.
COMMON = frozenset(
    "a an the of to in on at by for from with without and or not is are be it its do does how what which where who when "
    "why my i me this that these as into after before".split()
)
# Runs of one script: what a person would type as words into `rg` for a Japanese question.
SCRIPTS = re.compile(r"[\u4e00-\u9fff\u3005]+|[\u30a0-\u30ff]+|[A-Za-z0-9_.-]+")
# What a match in the title counts, for each set the weight with which FTS5 finds most. tantivy's default is 1.
TITLE_WEIGHTS = {"ja": 2.0, "en": 10.0, "code": 10.0}

Texts = dict[str, str]
# Answers a question.
Ask = Callable[[str], Hits]
# Indexes texts and titles, by page, with a weight for titles.
Start = Callable[[Texts, Texts, float], Ask]


def hits_of(name: str) -> dict[str, dict[str, Hits]]:
    """The hits of every comparator for the questions of a set."""
    texts = corpus.texts(name)
    titles = {page: corpus.title(name, page, text) for page, text in texts.items()}
    found = {}
    for engine, start in ENGINES.items():
        ask = start(texts, titles, TITLE_WEIGHTS[name])
        found[engine] = {question.question: ask(question.question) for question in questions(name)}
    return found


def fts5(tokenizer: str, terms: Callable[[str], list[str]]) -> Start:
    """SQLite FTS5 with bm25, titles weighted, and a query of all terms with OR."""

    def start(texts: Texts, titles: Texts, title_weight: float) -> Ask:
        database = sqlite3.connect(":memory:")
        database.execute(f"CREATE VIRTUAL TABLE pages USING fts5(page UNINDEXED, title, body, tokenize = '{tokenizer}')")
        database.executemany("INSERT INTO pages VALUES (?, ?, ?)", [(page, titles[page], texts[page]) for page in texts])
        query = f"SELECT page FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 0, {title_weight}, 1.0), page LIMIT {LIMIT}"

        def ask(question: str) -> Hits:
            wanted = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms(question)))
            return [page for (page,) in database.execute(query, [wanted])] if wanted else []

        return ask

    return start


def words(question: str) -> list[str]:
    return re.findall(r"\w+", question)


def trigrams(question: str) -> list[str]:
    """Every three characters of the question, across spaces too where one is in the text."""
    text = question.replace('"', " ")
    return [text[start : start + 3] for start in range(len(text) - 2)]


def word_trigrams(question: str) -> list[str]:
    """The three characters of each word alone: without spaces and marks."""
    return [word[start : start + 3] for word in words(question) for start in range(max(1, len(word) - 2)) if len(word) >= 3]


def tantivy_defaults(texts: Texts, titles: Texts, _: float) -> Ask:
    """tantivy with its own tokenizer and query parser, over titles and texts."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("page", stored=True, tokenizer_name="raw")
    builder.add_text_field("title")
    builder.add_text_field("body")
    index = tantivy.Index(builder.build())
    writer = index.writer(num_threads=1)
    for page in texts:
        writer.add_document(tantivy.Document(page=page, title=titles[page], body=texts[page]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(question: str) -> Hits:
        # The lenient parser is the one for what people type: marks of its syntax are no errors.
        query, _ = index.parse_query_lenient(question, ["title", "body"])
        return [searcher.doc(address)["page"][0] for _, address in searcher.search(query, LIMIT).hits]

    return ask


def ripgrep(texts: Texts, _: Texts, __: float) -> Ask:
    """`rg --count-matches` of the question's words: most matches first. The title of a page is in its text."""
    folder = tempfile.TemporaryDirectory()
    names = {}
    for number, (page, text) in enumerate(texts.items()):
        names[f"{number}.txt"] = page
        (Path(folder.name) / f"{number}.txt").write_text(text)

    def ask(question: str) -> Hits:
        terms = [term for term in SCRIPTS.findall(question) if term.casefold() not in COMMON] or words(question)
        patterns = [argument for term in terms for argument in ("-e", term)]
        command = ["rg", "--count-matches", "--fixed-strings", "--ignore-case", "--no-ignore", *patterns]
        lines = subprocess.run(command, cwd=folder.name, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        counts = sorted((-int(count), names[file]) for file, _, count in (line.rpartition(":") for line in lines))
        return [page for _, page in counts[:LIMIT]]

    # Kept as long as the questions are asked.
    ask.folder = folder
    return ask


ENGINES: dict[str, Start] = {
    "FTS5 unicode61": fts5("unicode61 remove_diacritics 2", words),
    "FTS5 porter": fts5("porter unicode61 remove_diacritics 2", words),
    "FTS5 trigram": fts5("trigram", trigrams),
    "FTS5 trigram, words": fts5("trigram", word_trigrams),
    "tantivy": tantivy_defaults,
    "rg -c": ripgrep,
}


if __name__ == "__main__":
    for name in SETS:
        print(f"\n{name}")
        print("\n".join(table(list(questions(name)), hits_of(name))))
