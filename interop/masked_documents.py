"""Has the parsers of other projects read masked documents: each must still parse, with the same keys and the other values."""

import json
import subprocess
from collections.abc import Iterator

from processes import BUILD, HERE

# The name of a check, and its failure if there is one.
CheckResult = tuple[str, str | None]

# What stands in the documents for a secret: by a key, with characters that a format quotes, over several lines, as a number.
SECRET = "hunter2"

# Documents by file name. Every value that holds SECRET is a secret; no other one is.
DOCUMENTS: dict[str, list[str]] = {
    "app.toml": [
        'title = "app"\n[db]\nhost = "h"\npassword = "hunter2\\"x"\nport = 5432\n[[users]]\nname = "a"\ntoken = \'hunter2\'\n',
        'a = { password = "hunter2", n = 1 }\n"api.key" = """\nhunter2\nmore"""\nsecrets = ["hunter2-1", "hunter2-2"] # note\n',
        "[servers.\"x.y\"]\nauth_token = 'hunter2' # c\nip = \"10.0.0.1\"\nwhen = 1979-05-27T07:32:00Z\nlist = [1, 2]\n",
        'password = """hunter2 \\\n  on two lines"""\nurl = "postgres://app:hunter2@db/x"\n'
        '"日本" = "語"\n"パスワード" = "hunter2"\n',
    ],
    "app.yaml": [
        "a: 1\ndb:\n  password: hunter2\n  host: h\nlist:\n  - name: DB_PASSWORD\n    value: hunter2\n  - plain\n",
        "password: |\n  hunter2\n  second\nnext: >-\n  folded\n  text\ntoken: 'hunter2''x'\nkey: \"a\\tb\"\n",
        "x: {api_key: hunter2, n: 2, l: [a, b]}\nsecret: &s hunter2\nagain: {password: *s}\nempty:\n",
        'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  one: aHVudGVyMg==hunter2\n'
        'stringData:\n  two: "hunter2: x"\n',
        "args: [--password, hunter2, --verbose]\n# password: hunter2\nnested:\n  - token: hunter2\n    n: 3\n",
    ],
    "app.json": [
        '{"a": 1, "password": "hunter2", "b": {"token": ["hunter2", "hunter2"], "c": null}, "d": true}',
        '{"auths": {"r.example": {"auth": "aHVudGVyMg==hunter2"}}, "text": "{\\"password\\": \\"hunter2\\"}", "x": "\\u00e9"}',
    ],
    "app.json5": [
        "{a: 1, /* c */ 'password': 'hunter2', b: [1, 2,], token: \"hunter2\\\nmore\", hex: 0xff, // password: 'hunter2'\n}",
        "{api_key: 'hunter2\\'s', url: 'https://u:hunter2@h/x', 'key with space': .5, nan: NaN}",
    ],
    "app.ini": [
        "[db]\nhost = h\npassword = hunter2\n; password = hunter2\n[other]\ntoken: hunter2\nn = 1\n",
        "[DEFAULT]\nuser = ada\n[a]\nsecret = hunter2 = x\nlong = first\n  second\npwd=hunter2\n",
    ],
    ".env": [
        "A=1\nexport DB_PASSWORD='hunter2'\nB=\"two words\"\nTOKEN=\"hunter2\\\"x\"\n# API_KEY=hunter2\nC=plain # note\n",
        "SECRET=hunter2\nMULTI_PASSWORD=\"hunter2\nsecond\"\nURL=postgres://u:hunter2@h/x\nEMPTY=\nD=${A}\n",
    ],
    "app.properties": [
        "host=h\ndb.password=hunter2\napi.key : hunter2\\\n   more\nname=\\u65e5\n! comment\nplain value\n",
        "a\\ b=c\ntoken\thunter2\nlist=1,2,3\nurl=jdbc:mysql://u:hunter2@h/x\n",
    ],
    "app.xml": [
        '<?xml version="1.0"?>\n<c><db password="hunter2" host="h"/><token>hunter2</token><n>1</n>'
        '<!-- <pwd>hunter2</pwd> --></c>',
        '<c xmlns:x="urn:x"><x:password>hunter2 &amp; more</x:password><entry key="api_key">hunter2</entry><e key="n">1</e>'
        '<add name="password" value="hunter2"/><s><![CDATA[plain < text]]></s></c>',
    ],
    "main.tf": [
        'variable "n" {\n  default = 1\n}\nresource "db" "x" {\n'
        '  host     = "h"\n  password = "hunter2"\n  tags = { token = "hunter2" }\n}\n',
        'locals {\n  api_key = "hunter2"\n  l = ["a", "b"]\n  r = var.password\n  # secret = "hunter2"\n}\n',
        'provider "p" {\n  secret = <<EOF\nhunter2\nmore\nEOF\n  region = "eu"\n}\n',
    ],
}

# Runs in the environment of the parsers. Prints, for each text, its values by key path, or an error.
PARSE = r"""
import configparser, io, json, sys, tomllib
import xml.etree.ElementTree as etree
import dotenv, hcl2, javaproperties, json5, yaml

def ini(text):
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser}

def xml(text):
    def tree(node):
        return [node.tag, dict(node.attrib), (node.text or "").strip(), [tree(child) for child in node]]
    return tree(etree.fromstring(text))

parsers = {
    "app.toml": tomllib.loads,
    "app.yaml": lambda text: list(yaml.safe_load_all(text)),
    "app.json": json.loads,
    "app.json5": json5.loads,
    "app.ini": ini,
    ".env": lambda text: dotenv.dotenv_values(stream=io.StringIO(text), interpolate=False),
    "app.properties": javaproperties.loads,
    "app.xml": xml,
    "main.tf": hcl2.loads,
}

def flat(value, path=()):
    if isinstance(value, dict):
        return [row for key, inner in value.items() for row in flat(inner, (*path, str(key)))] or [["/".join(path), "{}"]]
    if isinstance(value, list):
        return [row for at, inner in enumerate(value) for row in flat(inner, (*path, str(at)))] or [["/".join(path), "[]"]]
    return [["/".join(path), str(value)]]

def parse(row):
    try:
        return flat(parsers[row["file"]](row["text"]))
    except Exception as error:
        return f"{type(error).__name__}: {error}"

print(json.dumps([parse(row) for row in json.load(sys.stdin)]))
"""


def checks() -> Iterator[CheckResult]:
    rows = [{"file": file, "text": text} for file, texts in DOCUMENTS.items() for text in texts]
    manifest = f"--manifest-path={HERE.parent / 'Cargo.toml'}"
    mask = ["cargo", "run", "--quiet", manifest, "--package=redaction", "--example=mask"]
    masked = [{**row, "text": text} for row, text in zip(rows, run(mask, rows))]
    python = [BUILD / "parsers/bin/python", "-c", PARSE]
    before, after = run(python, rows), run(python, masked)
    for file in DOCUMENTS:
        numbers = [number for number, row in enumerate(rows) if row["file"] == file]
        faults = [fault(masked[at]["text"], before[at], after[at]) for at in numbers]
        told = [text for text in faults if text]
        yield f"masked {file}: {len(numbers)} texts have their keys in another parser", "\n".join(told) or None


def run(command: list, rows: list[dict]) -> list:
    process = subprocess.run(command, input=json.dumps(rows), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(process.stdout)


def fault(text: str, before: list | str, after: list | str) -> str | None:
    """What is wrong with a masked text, whose values by key path are `after`."""
    if SECRET in text:
        return f"the secret is in {text!r}"
    if isinstance(before, str) or isinstance(after, str):
        return f"{text!r} does not parse: {before if isinstance(before, str) else after}"
    if [key for key, _ in before] != [key for key, _ in after]:
        return f"{text!r} has other keys: {before} {after}"
    for (key, old), (_, new) in zip(before, after):
        if SECRET in old and "[redacted " not in new or SECRET not in old and new != old:
            return f"{text!r} has {new!r} in the place of {old!r} at {key}"
    return None


if __name__ == "__main__":
    for check, failure in checks():
        print(check, failure or "")
