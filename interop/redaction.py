"""Compares the redaction of secrets with detect-secrets, over the corpus of the redaction tests."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from processes import BUILD, HERE

# What is asserted of refdesk; of the other scanner nothing is.
LEAST_RECALL, LEAST_PRECISION = 1.0, 0.95

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]

# Runs in the environment of detect-secrets: prints, for each file, the type and the text of each finding. Line numbers are
# those of the text that it makes of some formats.
SCAN = """
import json, sys
from detect_secrets.core.scan import scan_file
from detect_secrets.settings import default_settings
with default_settings():
    found = [[[secret.type, secret.secret_value or ""] for secret in scan_file(name)] for name in json.load(sys.stdin)]
    print(json.dumps(found))
"""


def checks() -> Iterator[CheckResult]:
    command = ["cargo", "run", "--quiet", f"--manifest-path={HERE.parent / 'Cargo.toml'}", "--package=redaction"]
    output = subprocess.run([*command, "--example=corpus"], check=True, stdout=subprocess.PIPE).stdout
    texts = json.loads(output)["texts"]
    ours = [text["is_hidden"] if text["is_secret"] else text["is_changed"] for text in texts]
    recall, precision = quality(texts, ours)
    other_recall, other_precision = quality(texts, scan(texts))
    secrets = sum(text["is_secret"] for text in texts)
    name = (
        f"redaction of {secrets} secrets and {len(texts) - secrets} look-alikes: recall {recall:.3f}, precision "
        f"{precision:.3f} (detect-secrets: recall {other_recall:.3f}, precision {other_precision:.3f})"
    )
    is_good = recall >= LEAST_RECALL and precision >= LEAST_PRECISION
    yield name, None if is_good else f"wanted recall {LEAST_RECALL} and precision {LEAST_PRECISION}"


def quality(texts: list[dict], found: list[bool]) -> tuple[float, float]:
    """Recall and precision of a scanner that found something in the texts marked in `found`."""
    secrets = sum(text["is_secret"] for text in texts)
    right = sum(hit and text["is_secret"] for text, hit in zip(texts, found))
    return right / secrets, right / max(sum(found), 1)


def scan(texts: list[dict]) -> list[bool]:
    """Whether detect-secrets finds something in each text: in one with a secret, that secret or a part of it."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, text in enumerate(texts):
            path = Path(folder, str(number), text["file"])
            path.parent.mkdir(parents=True)
            path.write_text(text["text"])
            names.append(str(path))
        python = BUILD / "detect-secrets/bin/python"
        process = subprocess.run([python, "-c", SCAN], input=json.dumps(names), stdout=subprocess.PIPE, text=True, check=True)
    return [is_found(text, findings) for text, findings in zip(texts, json.loads(process.stdout))]


def is_found(text: dict, findings: list[tuple[str, str]]) -> bool:
    if not text["is_secret"]:
        return bool(findings)
    # A private key is found by the line that begins it.
    return any(
        kind == "Private Key" or (found and any(found in value or value in found for value in text["values"]))
        for kind, found in findings
    )


if __name__ == "__main__":
    for check, failure in checks():
        print(check, failure or "")
