"""Checks the Dockerfile and the systemd unit without Docker and without a running systemd.

`python3 -B package_files.py PROGRAM` runs them alone.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from processes import HERE

ROOT = HERE.parent
DOCKERFILE = ROOT / "Dockerfile"
UNIT = ROOT / "packaging/refdesk.service"

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]


def checks(program: Path) -> Iterator[CheckResult]:
    instructions = read_instructions(DOCKERFILE.read_text())
    yield "Dockerfile: every file that it copies exists", "\n".join(missing_files(instructions)) or None
    yield "Dockerfile: its packages are in Debian", "\n".join(unknown_packages(instructions)) or None
    yield "Dockerfile: it builds with the Rust that the workspace needs", wrong_rust(instructions)
    unit = UNIT.read_text()
    yield "systemd unit: systemd accepts it", unit_flaws(unit, program)
    flawed = unit.replace("ExecStart=", "ExecStrat=")
    accepted = unit_flaws(flawed, program) is None
    yield "systemd unit: systemd refuses a misspelled key", "accepted" if accepted else None


def read_instructions(text: str) -> list[tuple[str, list[str]]]:
    """The instructions of a Dockerfile, each with its words."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    split = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    return [(name, shlex.split(words)) for name, words in split]


def missing_files(instructions: list[tuple[str, list[str]]]) -> Iterator[str]:
    """What a COPY takes from the clone, or from the stage that installs the program, and is not there."""
    built = built_files(instructions)
    for name, words in instructions:
        if name != "COPY":
            continue
        is_built = any(word.startswith("--from=") for word in words)
        *sources, _ = (word for word in words if not word.startswith("--"))
        for source in sources:
            if source not in built if is_built else not (ROOT / source).exists():
                yield f"COPY {' '.join(words)}: there is no {source}"


def built_files(instructions: list[tuple[str, list[str]]]) -> set[str]:
    """The programs that `cargo install --path CRATE --root FOLDER` leaves behind."""
    files = set()
    for name, words in instructions:
        if name == "RUN" and words[:2] == ["cargo", "install"]:
            manifest = tomllib.loads((ROOT / option(words, "--path") / "Cargo.toml").read_text())
            files.add(f"{option(words, '--root')}/bin/{manifest['package']['name']}")
    return files


def option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]


def unknown_packages(instructions: list[tuple[str, list[str]]]) -> Iterator[str]:
    commands = " ".join(" ".join(words) for name, words in instructions if name == "RUN")
    packages = [
        word
        for installed in re.findall(r"apt-get install ([^&]*)", commands)
        for word in installed.split()
        if not word.startswith("-")
    ]
    if not packages:
        yield "it installs no packages"
    for package in packages:
        shown = subprocess.run(["apt-cache", "show", "--no-all-versions", package], capture_output=True, text=True)
        if f"Package: {package}\n" not in shown.stdout:
            yield f"apt knows no package {package}"


def wrong_rust(instructions: list[tuple[str, list[str]]]) -> str | None:
    wanted = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    images = [words[0] for name, words in instructions if name == "FROM" and words[0].startswith("rust:")]
    return None if images and all(image.startswith(f"rust:{wanted}-") for image in images) else f"{images}, not {wanted}"


def unit_flaws(unit: str, program: Path) -> str | None:
    """What systemd says of a unit of a user who has installed `program` with cargo."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / ".cargo/bin").mkdir(parents=True)
        (home / ".cargo/bin/refdesk").symlink_to(program)
        (home / "run").mkdir(mode=0o700)
        file = home / "refdesk.service"
        file.write_text(unit)
        environment = os.environ | {"HOME": folder, "XDG_RUNTIME_DIR": str(home / "run")}
        command = ["systemd-analyze", "--user", "verify", str(file)]
        verified = subprocess.run(command, env=environment, capture_output=True, text=True)
        said = verified.stdout + verified.stderr
        return said or None if verified.returncode == 0 else said or f"exit code {verified.returncode}"


def main() -> int:
    failed = 0
    for check, failure in checks(Path(sys.argv[1]).resolve()):
        print(f"{'FAILED' if failure else 'ok  '} {check}" + (f"\n{failure}" if failure else ""), flush=True)
        failed += bool(failure)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
