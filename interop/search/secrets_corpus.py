"""Files with secrets that redaction masks, and the look for those secrets in other files, byte for byte.

The secrets are put together here, so that no scanner takes this file for one that leaks them.
"""

import random
from pathlib import Path

DICE = random.Random(90_125)
LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def made(prefix: str, length: int, alphabet: str = LETTERS) -> str:
    return prefix + "".join(DICE.choices(alphabet, k=length))


PASSWORD = made("", 24)
CLOUD_KEY = made("AK" + "IA", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
HUB_TOKEN = made("gh" + "p_", 36)
URL_PASSWORD = made("", 20)
KEY_LINES = [made("", 64) for _ in range(6)]

SECRETS = [PASSWORD, CLOUD_KEY, HUB_TOKEN, URL_PASSWORD, *KEY_LINES]
# A slice of a secret is a secret too: of compressed text, slices are what stays whole.
SLICE = 12

FILES = {
    "service.env": f"# settings of the harpsichord\nDATABASE_PASSWORD={PASSWORD}\nLOG_LEVEL=info\n",
    "cloud.ini": f"[default]\n; the bassoon account\naws_access_key_id = {CLOUD_KEY}\nregion = eu-north-1\n",
    "ci.yaml": f"# the dulcimer pipeline\nsteps:\n  - name: publish\n    token: {HUB_TOKEN}\n",
    "notes.md": f"# Clavichord\n\nThe database is postgres://clerk:{URL_PASSWORD}@db.internal/orders.\n",
    "key.pem": "\n".join(["-----BEGIN RSA PRIVATE " + "KEY-----", *KEY_LINES, "-----END RSA PRIVATE " + "KEY-----", ""]),
}
# A word of each file that is no secret.
HARMLESS = {"service.env": "harpsichord", "cloud.ini": "bassoon", "ci.yaml": "dulcimer", "notes.md": "clavichord"}


def leaks(files: list[Path]) -> str | None:
    """The first secret, or slice of one, that stands in a file as it is or in lower case."""
    if not files:
        return "the index has no files"
    for file in files:
        data = file.read_bytes()
        folded = data.lower()
        for secret in SECRETS:
            for start in range(0, len(secret) - SLICE + 1):
                piece = secret[start : start + SLICE].encode()
                if piece in data or piece.lower() in folded:
                    return f"{file.name} has {piece.decode()!r}, a piece of {secret!r}"
    return None
