"""Bombs: a few bytes that unpack to ten gigabytes. They are written without being packed, which would take minutes."""

import struct
import zlib
from pathlib import Path

# How far a bomb unpacks.
BOMB = 10 << 30
CHUNK = 1 << 20


def deflated(size: int = BOMB, *, head: bytes = b"") -> bytes:
    """A deflate stream of `head` and of `size` spaces behind it."""
    packer = zlib.compressobj(9, wbits=-15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush nothing refers back, so that equal chunks are packed to equal bytes.
    chunk = packer.compress(b" " * CHUNK) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + chunk * (size // CHUNK) + packer.flush()


def zlib_stream(size: int = BOMB) -> bytes:
    """The same, as PDF and PNG have it. The checksum at its end is wrong, which nothing should live to see."""
    return b"\x78\xda" + deflated(size) + b"\0\0\0\0"


def zip_file(members: dict[str, tuple[bytes, int, int]]) -> bytes:
    """A zip file of members that are packed already: the bytes of each, and the size and checksum of what it unpacks to."""
    body, directory = b"", b""
    for name, (packed, size, checksum) in members.items():
        wide = struct.pack("<HHQQ", 1, 16, size, len(packed))
        common = struct.pack("<HHHHHIIIHH", 45, 0, 8, 0, 0x21, checksum, 0xFFFFFFFF, 0xFFFFFFFF, len(name), len(wide))
        directory += b"PK\x01\x02" + struct.pack("<H", 45) + common + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode() + wide
        body += b"PK\x03\x04" + common + name.encode() + wide + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


def packed(content: bytes) -> tuple[bytes, int, int]:
    """A member of a zip file, packed now."""
    packer = zlib.compressobj(9, wbits=-15)
    return packer.compress(content) + packer.flush(), len(content), zlib.crc32(content)


def nested_zip(path: Path) -> Path:
    """A zip file in a zip file, whose member unpacks to ten gigabytes."""
    inner = zip_file({"zeros.txt": (deflated(), BOMB, 0)})
    path.write_bytes(zip_file({"inner.zip": packed(inner)}))
    return path
