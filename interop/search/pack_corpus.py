"""A made corpus for packs: required pages, one that answers, near-repeats of it, distracting pages and unrelated ones."""

import random
from collections.abc import Iterator
from pathlib import Path

QUESTION = "How do I roll back a release of the ferry service?"
# A sentence of the page that answers, and of its near-repeats.
ANSWER = "Run ferry rollback with the number of the last release that worked, and wait for the green lamp."
# Budgets at which packs are compared.
BUDGETS = (1_200, 2_500, 6_000)

DISTRACTING, UNRELATED, REPEATS = 60, 20, 4
SEED = 4_711

# Pages that every pack has: their priority is 1.
REQUIRED = {
    "rules.md": """---
title: House rules
priority: 1
---

# House rules

Every change to production is announced in the harbour channel first. Nobody works alone after eight in the evening.

Rule marker: the blue pennant flies while work is going on.
""",
    "glossary.md": """---
title: Glossary
priority: 1
---

# Glossary

A berth is one machine. A convoy is a group of berths that change together. The pilot is whoever is on duty.

Glossary marker: a lantern is a flag that turns a feature on.
""",
}

WORDS = (
    "berth convoy lantern harbour pilot anchor signal channel mooring buoy tide crane deck hull cargo ledger manifest "
    "winch rope sail rudder compass chart beacon pier dock quay gangway bridge galley porthole keel mast"
).split()
TOPICS = ("bread", "violins", "beetles", "glaciers", "stamps", "tulips", "chess", "sonnets", "pottery", "comets")


def answering_page(number: int) -> str:
    """The page that answers; numbers from 1 are near-repeats, with another title and a few other words."""
    title = "Rolling back a release" if number == 0 else f"Rolling back a release, copy {number}"
    version = "" if number == 0 else f" This copy was made on day {number}."
    return f"""# {title}

A release of the ferry service can be rolled back at any time, as long as the schema of the ledger has not changed.{version}

{ANSWER}

If the lamp stays red, call the pilot. The rollback itself takes four minutes, because every berth of the convoy restarts
after the one before it. Passengers who are on board keep their seats, and those who wait see the old timetable again.
"""


def distracting_page(number: int, dice: random.Random) -> str:
    """A page that has words of the question and does not answer it."""
    sentences = [
        f"The release {number} of the {dice.choice(WORDS)} changes the {dice.choice(WORDS)} of the ferry service.",
        f"Whoever rolls the {dice.choice(WORDS)} forward looks back at the {dice.choice(WORDS)} first.",
        *(" ".join(dice.choices(WORDS, k=12)).capitalize() + "." for _ in range(dice.randint(2, 14))),
    ]
    return f"# Release notes {number}\n\n" + "\n\n".join(sentences) + "\n"


def unrelated_page(number: int, dice: random.Random) -> str:
    """A page that shares no word with the question."""
    topic = TOPICS[number % len(TOPICS)]
    body = " ".join(dice.choices(TOPICS, k=60))
    return f"# {topic.capitalize()}\n\n{unrelated_mark(number)}\n\n{body}.\n"


def unrelated_mark(number: int) -> str:
    return f"Unrelated marker {number:03}x about {TOPICS[number % len(TOPICS)]}."


def pages() -> dict[str, str]:
    dice = random.Random(SEED)
    made = dict(REQUIRED)
    for number in range(REPEATS):
        made[f"operations/rollback{'-copy-' + str(number) if number else ''}.md"] = answering_page(number)
    for number in range(DISTRACTING):
        made[f"notes/release-{number:02}.md"] = distracting_page(number, dice)
    for number in range(UNRELATED):
        made[f"hobbies/{number:02}.md"] = unrelated_page(number, dice)
    return made


PAGES = len(pages())


def write(folder: Path) -> None:
    for path, text in pages().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def required_marks() -> Iterator[tuple[str, str]]:
    yield "rules.md", "Rule marker: the blue pennant flies while work is going on."
    yield "glossary.md", "Glossary marker: a lantern is a flag that turns a feature on."


def unrelated_marks() -> Iterator[tuple[str, str]]:
    for number in range(UNRELATED):
        yield f"hobbies/{number:02}.md", unrelated_mark(number)
