"""Whole numbers as few bytes, and back: small ones take one byte, larger ones more."""

from __future__ import annotations

import json
import lzma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileFormatError

Array = NDArray[Any]

MAGIC = b"convdict-encoded\n"
MOST_BYTES = 1 << 31  # that a file may unpack to


def unsigned(numbers: Array) -> Array:
    """0, −1, 1, −2, … as 0, 1, 2, 3, …"""
    n = numbers.astype(np.int64)
    return np.where(n < 0, -2 * n - 1, 2 * n).astype(np.uint64)


def signed(numbers: Array) -> Array:
    """The inverse of `unsigned`."""
    half = (numbers >> np.uint64(1)).astype(np.int64)
    return np.where(numbers & np.uint64(1), -half - 1, half)


def to_bytes(numbers: Array) -> bytes:
    """Seven bits a byte, the lowest first; the eighth says that more follow."""
    numbers = numbers.astype(np.uint64)
    rows = []
    left = numbers
    for _ in range(10):
        rows.append((left & np.uint64(127)).astype(np.uint8))
        left = left >> np.uint64(7)
        if not left.any():
            break
    planes = np.stack(rows, axis=1)
    significant = np.maximum.accumulate((planes != 0)[:, ::-1], axis=1)[:, ::-1]
    significant[:, 0] = True
    more = np.zeros_like(significant)
    more[:, :-1] = significant[:, 1:]
    return (planes | (more.astype(np.uint8) << 7))[significant].tobytes()


def from_bytes(data: bytes) -> Array:
    """The inverse of `to_bytes`."""
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw < 128)
    if len(raw) and (not len(ends) or ends[-1] != len(raw) - 1):
        raise FileFormatError("its numbers break off")
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    place = np.arange(len(raw)) - np.repeat(starts, ends - starts + 1)
    if len(place) and place.max() > 9:
        raise FileFormatError("its numbers are too long")
    parts = (raw & 127).astype(np.uint64) << (7 * place).astype(np.uint64)
    found: Array = np.add.reduceat(parts, starts) if len(starts) else np.empty(0, np.uint64)
    return found


def pack(about: dict[str, Any], blocks: dict[str, bytes]) -> bytes:
    """A header in JSON and blocks of bytes, compressed together."""
    header = {**about, "blocks": {name: len(block) for name, block in blocks.items()}}
    text = json.dumps(header, separators=(",", ":")).encode()
    body = len(text).to_bytes(4, "little") + text + b"".join(blocks.values())
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 0}]
    return MAGIC + lzma.compress(
        body, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters
    )


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The inverse of `pack`; anything else is refused."""
    if not data.startswith(MAGIC):
        raise FileFormatError("it does not begin as such files do")
    try:
        opener = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=1 << 28)
        body = opener.decompress(data[len(MAGIC) :], max_length=MOST_BYTES)
        if not opener.eof:
            raise FileFormatError("it breaks off")
        size = int.from_bytes(body[:4], "little")
        about = json.loads(body[4 : 4 + size])
        sizes = about.pop("blocks")
        blocks, at = {}, 4 + size
        for name, length in sizes.items():
            blocks[name] = body[at : at + length]
            at += length
        if at != len(body) or any(type(n) is not int or n < 0 for n in sizes.values()):
            raise FileFormatError("its blocks do not fit")
    except FileFormatError:
        raise
    except (lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise FileFormatError(str(e) or type(e).__name__) from e
    return about, blocks
