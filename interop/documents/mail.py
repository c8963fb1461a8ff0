"""Mail messages and mailboxes: the corpus of the mail converter, and hostile ones."""

import base64
import mailbox
import quopri
from collections.abc import Iterator
from email import policy
from email.header import Header
from email.message import EmailMessage
from pathlib import Path

from case import Case

WORDS = {
    "en": {
        "subject": "Minutes of the meeting on the café renovation",
        "from": ("Ann Smith", "ann@example.org"),
        "to": ("Bob Miller", "bob@example.com"),
        "cc": ("Carol O'Neill", "carol@example.net"),
        "body": "Dear Bob,\n\nplease find the minutes attached. The next meeting is on Friday at 10:30.\n\n- budget: 12,000\n- schedule: to be discussed\n\n> When do we meet again?\n\nBest regards\nAnn\n",
        "items": ["budget: 12,000", "schedule: to be discussed"],
        "file": "minutes of March.pdf",
        "inner": "Re: old plans",
        "long": "This is a long line that a program for mail breaks into shorter ones because it has more than seventy-eight letters in it.",
    },
    "ja": {
        "subject": "【重要】会議の議事録について（三月分・改修計画）の送付とお願い",
        "from": ("田中 一郎", "tanaka@example.jp"),
        "to": ("鈴木 花子", "suzuki@example.jp"),
        "cc": ("高橋 次郎", "takahashi@example.jp"),
        "body": "鈴木様\n\nお世話になっております。議事録を添付いたします。\n次回の会議は金曜日の十時半からです。\n\n- 予算：一万二千円\n- 日程：要相談\n\n> 次はいつ集まりますか。\n\n以上、よろしくお願いいたします。\n田中\n",
        "items": ["予算：一万二千円", "日程：要相談"],
        "file": "議事録（三月分）.pdf",
        "inner": "Re: 以前の計画について",
        "long": "この文はとても長いので、メールを送るプログラムが途中で行を折り返すことがありますが、読むときには元の一行に戻っていなければなりません。",
    },
}
CHARSETS = {"en": ["utf-8", "iso-8859-1", "windows-1252"], "ja": ["utf-8", "iso-2022-jp", "shift_jis", "euc-jp"]}
DATE = "Tue, 01 Jul 2025 10:52:37 +0900"
SHOWN_DATE = "2025-07-01T10:52:37+09:00"


def cases(folder: Path) -> Iterator[Case]:
    for language in WORDS:
        for code in CHARSETS[language]:
            for encoding in ("7bit", "quoted-printable", "base64"):
                yield simple(folder, language, code, encoding)
        yield attached(folder, language)
        yield html(folder, language)
        yield flowed(folder, language)
        yield box(folder, language)


def people(language: str) -> list[str]:
    words = WORDS[language]
    named = [("From", words["from"]), ("To", words["to"]), ("Cc", words["cc"])]
    return [f"{field}: {name} {address}" for field, (name, address) in named] + [f"Date: {SHOWN_DATE}"]


def encoded(name: str, code: str) -> str:
    return Header(name, code).encode() if not name.isascii() else f'"{name}"'


def simple(folder: Path, language: str, code: str, encoding: str) -> Case:
    """A message as older programs write it: encoded words and a body in one charset."""
    words = WORDS[language]
    body = words["body"].encode(code)
    if encoding == "base64":
        body = base64.encodebytes(body)
    elif encoding == "quoted-printable":
        body = quopri.encodestring(body)
    lines = [f"Subject: {Header(words['subject'], code, maxlinelen=70).encode()}"]
    for field in ("from", "to", "cc"):
        name, address = words[field]
        lines.append(f"{field.title()}: {encoded(name, code)} <{address}>")
    lines += [f"Date: {DATE}", "MIME-Version: 1.0", f"Content-Type: text/plain; charset={code}", f"Content-Transfer-Encoding: {encoding.replace('7bit', '8bit')}"]
    path = folder / f"simple-{code}-{encoding}-{language}.eml"
    path.write_bytes("\n".join(lines).encode() + b"\n\n" + body)
    text = "\n".join([words["subject"], *people(language), words["body"]])
    return Case("eml", language, path, text, [words["subject"]], [*people(language), *words["items"]])


def message(language: str) -> EmailMessage:
    words = WORDS[language]
    made = EmailMessage(policy=policy.SMTP)
    made["Subject"] = words["subject"]
    for field in ("from", "to", "cc"):
        name, address = words[field]
        made[field.title()] = f'"{name}" <{address}>'
    made["Date"] = DATE
    return made


def attached(folder: Path, language: str) -> Case:
    """Text and HTML, files with names in Japanese, an image in the text, and another message."""
    words = WORDS[language]
    made = message(language)
    made.set_content(words["body"])
    made.add_alternative("<p>This is not shown, the text is: ABCXYZ</p>", subtype="html")
    made.get_payload()[1].add_related(b"\x89PNG" + bytes(2_000), "image", "png", cid="<one>")
    made.add_attachment(bytes(12_345), "application", "pdf", filename=words["file"])
    inner = EmailMessage(policy=policy.SMTP)
    inner["Subject"] = words["inner"]
    inner.set_content("inner words\n")
    made.add_attachment(inner)
    path = folder / f"attached-{language}.eml"
    path.write_bytes(made.as_bytes())
    attachments = ["1-attachment.png image/png 3 kB", f"2-{words['file']} application/pdf 13 kB", f"3-{words['inner'].replace(':', '_')}.eml message/rfc822"]
    text = "\n".join([words["subject"], *people(language), words["body"], "Attachments", *attachments])
    return Case("eml", language, path, text, [words["subject"], "Attachments"], [*people(language), *words["items"]], absent=["ABCXYZ"])


def html(folder: Path, language: str) -> Case:
    """A message that is HTML alone."""
    words = WORDS[language]
    paragraphs = [line for line in words["body"].split("\n") if line and line[0] not in "->"]
    made = message(language)
    items = "".join(f"<li>{item}</li>" for item in words["items"])
    page = "".join(f"<p>{line}</p>" for line in paragraphs)
    made.set_content(f"<html><head><style>p {{ color: red }}</style></head><body>{page}<ul>{items}</ul></body></html>", subtype="html")
    path = folder / f"html-{language}.eml"
    path.write_bytes(made.as_bytes())
    text = "\n".join([words["subject"], *people(language), *paragraphs, *words["items"]])
    return Case("eml", language, path, text, [words["subject"]], [*people(language), *words["items"]], absent=["color"])


def flowed(folder: Path, language: str) -> Case:
    """Lines that were broken for the journey."""
    words = WORDS[language]
    pieces = [words["long"][at : at + 20] for at in range(0, len(words["long"]), 20)]
    extra = "; delsp=yes"
    content = " \n".join(pieces) + "\n"
    head = f"Subject: {Header(words['subject'], 'utf-8').encode()}\nContent-Type: text/plain; charset=utf-8; format=flowed{extra}\n"
    path = folder / f"flowed-{language}.eml"
    path.write_text(head + "\n" + content)
    return Case("eml", language, path, "\n".join([words["subject"], words["long"]]), [words["subject"]])


def box(folder: Path, language: str) -> Case:
    """A mailbox with lines that look like the start of a message."""
    words = WORDS[language]
    path = folder / f"box-{language}.mbox"
    path.unlink(missing_ok=True)
    made = mailbox.mbox(path)
    lines = []
    for number in range(20):
        one = message(language)
        one.replace_header("Subject", f"{words['subject']} {number}")
        one.set_content(words["body"] + f"\nFrom here on it is text, {number} o'clock\n")
        if number % 5 == 0:
            one.add_attachment(b"x" * number, "application", "octet-stream", filename=words["file"])
        made.add(one)
        lines += [f"{words['subject']} {number}", *people(language), words["body"], f"From here on it is text, {number} o'clock"]
        if number % 5 == 0:
            lines.append(f"Attachments {number + 1}-1-{words['file']}")
    made.flush()
    return Case("mbox", language, path, "\n".join(lines), [f"{words['subject']} {number}" for number in range(20)])


def hostile(folder: Path) -> Iterator[tuple[str, Path]]:
    def mail(name: str, content: bytes) -> Path:
        path = folder / name
        path.write_bytes(content)
        return path

    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(10_000))
    yield "parts ten thousand deep", mail("deep.eml", b"Subject: deep\n" + deep)
    same = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" * 10_000
    yield "parts with the same boundary", mail("same.eml", b"Subject: same\n" + same)
    yield "a hundred thousand parts", mail("many.eml", b"Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\nContent-Type: image/png\n\nx\n" * 100_000)
    yield "a header of fifty megabytes", mail("header.eml", b"Subject: " + b"x" * 50_000_000 + b"\n\nbody\n")
    yield "a header of a million lines", mail("folded.eml", b"Subject: x\n" + b" y\n" * 10_000_000 + b"\nbody\n")
    yield "a million fields", mail("fields.eml", b"A: b\n" * 5_000_000 + b"\nbody\n")
    words = b"=?utf-8?B?" * 6_000
    parts = b"".join(b'--b\nContent-Type: image/png; name="' + words + b'"\n\nx\n' for _ in range(500))
    yield "encoded words without end in each name", mail("words.eml", b"Subject: words\nContent-Type: multipart/mixed; boundary=b\n\n" + parts)
    pieces = b"; ".join(b"filename*%d*=utf-8''%%41" % n for n in range(1_000_000))
    yield "a name in a million pieces", mail("pieces.eml", b"Subject: x\nContent-Disposition: attachment; " + pieces + b"\n\nbody\n")
    names = ["../../../etc/passwd", "/etc/passwd", "..\\..\\boot.ini", "a\u0000b.txt", "a\u202efdp.exe", "n" * 10_000, "..", ".", "", "con:aux|<>.txt", "a\r\nX: y", "`x`.md"]
    listed = b"".join(b"--b\nContent-Type: application/pdf\nContent-Disposition: attachment; filename*=utf-8''" + "".join(f"%{byte:02X}" for byte in name.encode()).encode() + b"\n\nx\n" for name in names)
    yield "names that are paths", mail("names.eml", b"Subject: names\nContent-Type: multipart/mixed; boundary=b\n\n" + listed + b"--b--\n")
    yield "an empty boundary", mail("empty.eml", b'Subject: x\nContent-Type: multipart/mixed; boundary=""\n\n--\n\none\n----\n')
    yield "a boundary that is a part of another", mail("prefix.eml", b"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/mixed; boundary=ab\n\n--ab\n\none\n--ab--\n--a--\n")
    yield "base64 of nothing but spaces", mail("spaces.eml", b"Subject: x\nContent-Transfer-Encoding: base64\n\n" + b" \n" * 5_000_000)
    yield "quoted-printable of nothing but marks", mail("marks.eml", b"Subject: x\nContent-Transfer-Encoding: quoted-printable\n\n" + b"=" * 10_000_000)
    inner = b"Subject: x\nContent-Type: message/rfc822\n\n" * 100_000
    yield "a message in a message, a hundred thousand times", mail("nested.eml", inner)
    yield "HTML that never ends", mail("html.eml", b"Subject: x\nContent-Type: text/html\n\n" + b"<div>" * 500_000 + b"<" * 500_000)
    yield "no mail", mail("zeros.eml", bytes(100_000))
    yield "a mailbox of empty messages", mail("empty.mbox", b"From a Mon Jan  1 10:00:00 2024\n\n" * 500_000)
    yield "a mailbox of marks", mail("marks.mbox", b"From a Mon Jan  1 10:00:00 2024\nSubject: x\n\n" + b">From \n" * 1_000_000)
