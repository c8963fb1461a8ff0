"""The corpus of the questions: Debian's manual pages in Japanese and English, and this project's own source code.

Comparators and judges read the plain text of a page. `groff` makes it once, and the build directory keeps it.
"""

import gzip
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from processes import BUILD, HERE

REPOSITORY = HERE.parent

# The served folder of each set of questions; the name of a set is the name of its mount.
FOLDERS = {
    "ja": BUILD / "man-pages-ja/usr/share/man/ja",
    "en": BUILD / "man-pages-en/usr/share/man",
    "code": REPOSITORY / "crates",
}
LEAST_PAGES = 1_000

# Each paragraph is one line, so that no line break cuts a word. Marks for bold and underlined text are left out.
GROFF = ["groff", "-Kutf8", "-t", "-mandoc", "-Tutf8", "-P-c", "-P-b", "-P-u", "-P-o", "-rLL=20000n", "-rHY=0"]
# groff writes a space where the source breaks a line. Japanese has none there.
WIDE = "\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
BROKEN = re.compile(f"(?<=[{WIDE}]) (?=[{WIDE}])")
# Spaces, and the lines of tables.
RULES = re.compile(r"[ \t\u2500-\u257f]+")
ALIAS = re.compile(r"^\.so\s+(\S+)", re.MULTILINE)
HEADING = re.compile(r"^(?:NAME|名前|名称|【名前】|書式名)\s*$", re.MULTILINE)


def files(name: str) -> list[str]:
    """Every page or source file of a set, aliases included, as paths below its folder."""
    folder = FOLDERS[name]
    paths = folder.rglob("*") if name == "code" else folder.glob("man*/*.gz")
    return sorted(path.relative_to(folder).as_posix() for path in paths if path.is_file())


@cache
def targets(name: str) -> dict[str, str]:
    """The page that each file is: an alias is the page that it points to."""
    folder = FOLDERS[name].resolve()
    found = {}
    for file in files(name):
        found[file] = file if name == "code" else followed(folder, folder / file)
    return found


def followed(folder: Path, path: Path) -> str:
    for _ in range(4):
        path = path.resolve()
        head = gzip.decompress(path.read_bytes())[:400].decode(errors="replace")
        alias = ALIAS.search(head)
        target = folder / f"{alias[1]}.gz" if alias else None
        if target is None or not target.is_file():
            break
        path = target
    return path.relative_to(folder).as_posix()


def pages(name: str) -> list[str]:
    """The files of a set without aliases."""
    return sorted(set(targets(name).values()))


def short(name: str, file: str) -> str:
    """A file as the questions name it: `chmod.1` for a page, `crates/…` for source code."""
    return f"crates/{file}" if name == "code" else Path(file).name.removesuffix(".gz")


def found_page(name: str, uri: str) -> str | None:
    """The page of a hit, as the questions name it. The URI may go on with a section, a query or a fragment."""
    path = unquote(uri.split("#")[0].split("?")[0])
    parts = path.partition("://")[2].lstrip("/").split("/")
    if not parts or parts[0] != name:
        return None
    known = targets(name)
    for length in range(len(parts), 1, -1):
        for ending in ("", ".gz"):
            if (file := "/".join(parts[1:length]) + ending) in known:
                return short(name, known[file])
    return None


@cache
def texts(name: str) -> dict[str, str]:
    """The plain text of every page, by the name that questions use."""
    if name == "code":
        return {short(name, file): (FOLDERS[name] / file).read_text(errors="replace") for file in pages(name)}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wanted = pages(name)
        return dict(zip((short(name, file) for file in wanted), pool.map(lambda file: page_text(name, file), wanted)))


def page_text(name: str, file: str) -> str:
    kept = BUILD / "search-texts" / name / f"{file}.txt"
    if not kept.is_file():
        source = gzip.decompress((FOLDERS[name] / file).read_bytes())
        made = subprocess.run(GROFF, input=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        text = RULES.sub(" ", made.stdout.decode(errors="replace")).replace("\u2010", "-").replace("\u2212", "-")
        text = "\n".join(BROKEN.sub("", line.strip()) for line in text.splitlines() if line.strip())
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_text(text)
        # Renamed when it is complete: a run that ends early leaves no half a page.
        part.rename(kept)
    return kept.read_text()


def title(name: str, page: str, text: str) -> str:
    """What stands for a title: a page's name with the line under its first heading, or a path with the first line."""
    lines = text.splitlines()
    if name == "code":
        return f"{page} {' '.join(lines[:1])}"
    for number, line in enumerate(lines[:-1]):
        if HEADING.match(line):
            return f"{page} {lines[number + 1]}"
    return f"{page} {' '.join(lines[1:3])}"


def check() -> str | None:
    """What is wrong with the corpus, if something is."""
    for name in "ja", "en":
        if len(pages(name)) < LEAST_PAGES:
            return f"{name}: {len(pages(name))} pages, wanted {LEAST_PAGES}"
    return None


if __name__ == "__main__":
    for name in FOLDERS:
        sizes = [len(text) for text in texts(name).values()]
        print(f"{name}: {len(files(name))} files, {len(sizes)} without aliases, {sum(sizes)} characters")
