"""Judges the freshness and safety of the index.

`freshness.py PROGRAM [--rounds 100] [--json]`: what changes is found as it is now, `kill -9` in mid-indexing loses nothing
(that many rounds), and a full disk, a folder that cannot be written and a flipped byte are said, survived and repaired.
Secrets that are masked stand in no file of the index.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parent))

import secrets_corpus
from desk import CHANGE_SECONDS, PRINTED, CheckResult, SearchDesk, ToolFailure, mount, report, until
from http_client import RpcError

ROUNDS = 100
# Files of the corpus that is indexed while the process is killed, and words of filling text in each.
FILES, FILLING = 1_200, 150
# How many files are searched for after each kill; after the last, all are.
SAMPLE = 40
# The process is killed within this share of the time that an index takes.
KILL_SHARE = 0.8
# The words that all files share are those of a round that never is.
FILLING_ROUND = 9_999
SEED = 811
# What a message about an index that cannot be used says.
SAYS = re.compile(
    r"index[^\n]*(?:cannot|could not|failed|no space|no room|full|too large|read-only|denied|broken|corrupt|damaged|checksum"
    r"|rebuil|walk)",
    re.IGNORECASE,
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Judges the freshness and safety of the index.")
    parser.add_argument("program", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often the process is killed in mid-indexing")
    parser.add_argument("--json", action="store_true", help="print checks as lines of JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        return report(checks(options.program.resolve(), Path(temporary), options.rounds), options.json)


def checks(program: Path, folder: Path, rounds: int) -> Iterator[CheckResult]:
    for name, judge in {
        "a changed file is found by its new words alone": changed,
        "a removed file leaves no hit": removed,
        "a renamed file is found under its new name alone": renamed,
        "what changed while refdesk was stopped is found as it is": changed_while_stopped,
        f"kill -9 in mid-indexing loses nothing, {rounds} times": lambda *given: killed(*given, rounds),
        "a full disk is said, searches walk, and room repairs it": full_disk,
        "a folder that cannot be written is said, searches walk, and rights repair it": unwritable,
        "a flipped byte in any file of the index is said, survived and repaired": flipped_bytes,
        "masked secrets are in no file of the index": masked_secrets,
    }.items():
        place = folder / judge.__name__.strip("<>")
        (place / "notes").mkdir(parents=True)
        (place / "refdesk.toml").write_text(mount("notes", "fs", place / "notes"))
        try:
            failure = judge(program, place)
        except (TimeoutError, ToolFailure, RpcError, OSError, KeyError) as error:
            failure = f"{type(error).__name__}: {error}"
        yield f"freshness, {name}", failure
        shutil.rmtree(place, ignore_errors=True)


def write(place: Path, name: str, text: str) -> None:
    (place / "notes" / name).write_text(text)


def finds(desk: SearchDesk, word: str, name: str) -> bool:
    """Whether a file is among the hits of a word."""
    uris = desk.search(word, mount="notes", limit=10)
    return any(unquote(uri.split("#")[0].split("?")[0]).endswith(f"/notes/{name}") for uri in uris)


def changed(program: Path, place: Path) -> str | None:
    write(place, "animal.md", "The zebrafish lives in warm water.\n")
    write(place, "other.md", "Nothing about animals here.\n")
    with SearchDesk(program, place) as desk:
        desk.wait_for_index("notes")
        until(lambda: finds(desk, "zebrafish", "animal.md"), "the old word finds the file")
        write(place, "animal.md", "The okapi lives in the forest.\n")
        until(lambda: finds(desk, "okapi", "animal.md"), "the new word finds the file")
        until(lambda: not finds(desk, "zebrafish", "animal.md"), "the old word does not find the file")
        # Japanese too, in a file of its own that is added while refdesk runs.
        write(place, "動物.md", "縞馬は草原に住んでいる。\n")
        until(lambda: finds(desk, "草原", "動物.md"), "a new file is found")
    return None


def removed(program: Path, place: Path) -> str | None:
    write(place, "gone.md", "The pangolin sleeps.\n")
    write(place, "stays.md", "The pangolin wakes.\n")
    with SearchDesk(program, place) as desk:
        desk.wait_for_index("notes")
        until(lambda: finds(desk, "pangolin", "gone.md"), "the file is found")
        (place / "notes/gone.md").unlink()
        until(lambda: not finds(desk, "pangolin", "gone.md"), "the removed file is not found")
        return None if finds(desk, "pangolin", "stays.md") else "another file with the same word is not found any more"


def renamed(program: Path, place: Path) -> str | None:
    write(place, "before.md", "The axolotl smiles.\n")
    with SearchDesk(program, place) as desk:
        desk.wait_for_index("notes")
        until(lambda: finds(desk, "axolotl", "before.md"), "the file is found")
        (place / "notes/before.md").rename(place / "notes/after.md")
        until(lambda: finds(desk, "axolotl", "after.md"), "the file is found under its new name")
        until(lambda: not finds(desk, "axolotl", "before.md"), "the file is not found under its old name")
        # A folder, with what is in it.
        (place / "notes/deep").mkdir()
        write(place, "deep/cave.md", "The olm is blind.\n")
        until(lambda: finds(desk, "olm", "deep/cave.md"), "the file in a folder is found")
        (place / "notes/deep").rename(place / "notes/deeper")
        until(lambda: finds(desk, "olm", "deeper/cave.md"), "the file is found in the renamed folder")
        until(lambda: not finds(desk, "olm", "deep/cave.md"), "the file is not found in the old folder")
    return None


def changed_while_stopped(program: Path, place: Path) -> str | None:
    for name, word in {"changes": "quokka", "leaves": "numbat", "moves": "bilby", "stays": "wombat"}.items():
        write(place, f"{name}.md", f"The {word} is a marsupial.\n")
    with SearchDesk(program, place) as desk:
        desk.wait_for_index("notes")
        until(lambda: finds(desk, "bilby", "moves.md"), "the file is found")
    # As long as before, so that the size does not tell.
    write(place, "changes.md", "The kowari is a marsupial.\n")
    (place / "notes/leaves.md").unlink()
    (place / "notes/moves.md").rename(place / "notes/moved.md")
    write(place, "comes.md", "The dunnart is a marsupial.\n")
    with SearchDesk(program, place) as desk:
        desk.wait_for_index("notes")
        for word, name, wanted in [
            ("kowari", "changes.md", True),
            ("quokka", "changes.md", False),
            ("numbat", "leaves.md", False),
            ("bilby", "moves.md", False),
            ("bilby", "moved.md", True),
            ("dunnart", "comes.md", True),
            ("wombat", "stays.md", True),
        ]:
            what = f"{word} {'finds' if wanted else 'does not find'} {name}"
            until(lambda: finds(desk, word, name) == wanted, what)
    return None


def word_of(number: int, round_number: int) -> str:
    """A word that one file has in one round. Its letters alone tell words apart, so that no stemming joins two."""
    dice = random.Random(number * 10_007 + round_number)
    return "w" + "".join(dice.choices("bcdfghjklmnpqrtvxz", k=9))


def killed(program: Path, place: Path, rounds: int) -> str | None:
    """Each round changes all files, kills refdesk while it indexes them, and then searches for what they have now."""
    dice = random.Random(SEED)
    # How long an index takes, when it is made and when every file has changed.
    seconds = []
    for round_number in (-2, -1):
        write_round(place, round_number, dice)
        with SearchDesk(program, place) as desk:
            seconds.append(desk.wait_for_index("notes"))
    in_middle = 0
    for round_number in range(rounds):
        write_round(place, round_number, dice)
        if round_number % 2 == 0:
            # Every other round kills the making of an index, the others its update.
            shutil.rmtree(place / "cache", ignore_errors=True)
        with SearchDesk(program, place) as desk:
            # Random, so that the kill comes at any point of the work.
            end = time.monotonic() + dice.uniform(0, KILL_SHARE * seconds[round_number % 2])
            complete = desk.is_complete("notes")
            while not complete and time.monotonic() < end:
                complete = desk.is_complete("notes")
            in_middle += not complete
            desk.kill()
        with SearchDesk(program, place) as desk:
            desk.wait_for_index("notes")
            last = round_number == rounds - 1
            for number in range(FILES) if last else dice.sample(range(FILES), SAMPLE):
                if not finds(desk, word_of(number, round_number), f"{number}.md"):
                    return f"round {round_number}: {number}.md is lost"
                if finds(desk, word_of(number, round_number - 1), f"{number}.md"):
                    return f"round {round_number}: {number}.md is found by its words of the round before"
    return None if in_middle * 2 >= rounds else f"{in_middle} of {rounds} kills were in mid-indexing: too few files"


def write_round(place: Path, round_number: int, dice: random.Random) -> None:
    filling = [word_of(number, FILLING_ROUND) for number in range(200)]
    for number in range(FILES):
        text = " ".join(dice.choices(filling, k=FILLING))
        write(place, f"{number}.md", f"# Note {number}\n\n{word_of(number, round_number)}\n\n{text}\n")


def write_notes(place: Path, count: int = 60) -> None:
    for number in range(count):
        text = " ".join(word_of(number, part) for part in range(1, 400))
        write(place, f"{number}.md", f"# Note {number}\n\n{word_of(number, 0)}\n\n{text}\n")


def answers(desk: SearchDesk, count: int = 60) -> str | None:
    """Whether every note is found by its word, with or without an index."""
    for number in range(0, count, 7):
        try:
            until(lambda: finds(desk, word_of(number, 0), f"{number}.md"), f"{number}.md is found", desk=desk)
        except TimeoutError as error:
            return str(error)
    return None


def says_so(desk: SearchDesk) -> bool:
    """Whether the log, or what the index says of itself, tells that the index cannot be used or was made again."""
    return bool(SAYS.search(desk.output()) or SAYS.search(f"index {desk.coverage('notes')}"))


def survives(program: Path, place: Path, prefix: list[str], repair: Callable[[], None]) -> str | None:
    """A refdesk whose index cannot be kept says so and answers; after the repair and a restart the index is complete."""
    with SearchDesk(program, place, prefix) as desk:
        if failure := answers(desk):
            return f"without an index: {failure}"
        until(lambda: says_so(desk), "refdesk says that the index cannot be kept", desk=desk)
        if not desk.is_running():
            return "refdesk ended"
    repair()
    with SearchDesk(program, place) as desk:
        desk.wait_for_index("notes")
        if not desk.index_files():
            return "no index was written after the repair"
        return answers(desk)


def full_disk(program: Path, place: Path) -> str | None:
    write_notes(place)
    cache = place / "cache"
    cache.mkdir()
    own_mounts = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    small = [*own_mounts, "sh", "-c", 'mount -t tmpfs -o size=64k,mode=700 none "$0" && exec "$@"', str(cache)]
    if subprocess.run([*small, "true"], capture_output=True).returncode:
        # Where no file system can be mounted, no file may be larger than this.
        small = ["env", "--ignore-signal=SIGXFSZ", "prlimit", "--fsize=16384"]
    return survives(program, place, small, lambda: None)


def unwritable(program: Path, place: Path) -> str | None:
    write_notes(place)
    cache = place / "cache"
    cache.mkdir()
    cache.chmod(0o500)
    # The rights of folders do not hold for root, unless it gives this capability away.
    as_owner = ["setpriv", "--bounding-set", "-dac_override", "--inh-caps", "-all"] if os.geteuid() == 0 else []
    return survives(program, place, as_owner, lambda: cache.chmod(0o700))


def flipped_bytes(program: Path, place: Path) -> str | None:
    """Each file of an index, one after the other, has one byte flipped in its middle while refdesk is stopped."""
    write_notes(place)
    with SearchDesk(program, place) as desk:
        desk.wait_for_index("notes")
        if says_so(desk):
            return f"a whole index is called damaged:\n{desk.output()[-PRINTED:]}"
    whole = place / "whole"
    shutil.copytree(place / "cache", whole)
    kept = [path.relative_to(whole) for path in sorted(whole.glob("refdesk/index/**/*")) if path.is_file()]
    # The list of files to tidy up has no checksum: another name in it costs a file that stays, and no hit.
    unchecked = ("lock", ".managed.json")
    damaged = [path for path in kept if not path.name.endswith(unchecked) and (whole / path).stat().st_size > 0]
    if not damaged:
        return "the index has no files"
    for path in damaged:
        shutil.rmtree(place / "cache")
        shutil.copytree(whole, place / "cache")
        data = bytearray((whole / path).read_bytes())
        data[len(data) // 2] ^= 0x10
        (place / "cache" / path).write_bytes(data)
        with SearchDesk(program, place) as desk:
            if failure := answers(desk):
                return f"{path}: {failure}"
            until(lambda: says_so(desk), f"refdesk says that {path} is damaged", desk=desk)
            desk.wait_for_index("notes", seconds=CHANGE_SECONDS)
        with SearchDesk(program, place) as desk:
            desk.wait_for_index("notes", seconds=CHANGE_SECONDS)
            if SAYS.search(desk.output()):
                return f"{path}: the index is not repaired: {desk.output()[-PRINTED:]}"
            if failure := answers(desk):
                return f"{path}: after the repair: {failure}"
    return None


def masked_secrets(program: Path, place: Path) -> str | None:
    (place / "refdesk.toml").write_text(mount("notes", "fs", place / "notes") + "redact = true\n")
    for name, text in secrets_corpus.FILES.items():
        write(place, name, text)
    with SearchDesk(program, place) as desk:
        desk.wait_for_index("notes")
        for name, word in secrets_corpus.HARMLESS.items():
            until(lambda: finds(desk, word, name), f"{name} is found by a word that is no secret")
        for secret in secrets_corpus.SECRETS:
            text = str(desk.call("resources_search", query=secret, mount="notes", limit=10)["structuredContent"]["hits"])
            if secret in text:
                return f"a hit shows {secret!r}"
        while_running = secrets_corpus.leaks(desk.index_files())
    return while_running or secrets_corpus.leaks(desk.index_files())


if __name__ == "__main__":
    sys.exit(main())
