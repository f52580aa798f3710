"""Mutates real inputs repeatably: bytes, numbers, parts of other inputs, lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final

LONGEST: Final = 20_000  # bytes of an input
_WORD: Final = re.compile(rb"[0-9A-Za-z_.\-]+|[^0-9A-Za-z_.\-\s]")
_NUMBER: Final = re.compile(rb"[0-9]+")
ODD_WORDS: Final = (
    b"", b"0", b"-1", b"1", b"255", b"256", b"65536", b"4294967296", b"9223372036854775808", b"1" * 40, b"1e308",
    b"NaN", b"1.5", b"null", b"true", b"[]", b"{}", b'""', b"\x00", b"\xff", b"\xe2\x80\xae", b"\x1b[31m", b"\r\n",
    b"\xef\xbc\x91", b"\xef\xbb\xbf", b"\xed\xa0\x80", b'"\\ud800"', b"10C", b"KD", b"B9", b"D", b"..", b"%00", b"'",
)  # fmt: skip
Spoil = Callable[[bytearray, Random, Sequence[bytes]], None]


def inputs(seeds: Sequence[bytes], random: Random) -> Iterator[bytes]:
    """Yield inputs without end: each a real input with one to four mutations, and occasionally pure noise."""
    while True:
        if random.random() < 0.02:
            yield random.randbytes(random.randrange(200))
            continue
        data = bytearray(random.choice(seeds))
        for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
            random.choice(SPOILS)(data, random, seeds)
        yield bytes(data[:LONGEST])


def _flip(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))


def _cut(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    begin, end = _span(data, random)
    del data[begin:end]


def _end(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    del data[random.randrange(len(data) + 1) :]


def _repeat(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    begin, end = _span(data, random)
    data[begin:begin] = data[begin:end] * random.choice((1, 1, 1, 2, 9))


def _insert(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.choice(ODD_WORDS) if random.random() < 0.5 else random.randbytes(random.randrange(1, 6))


def _splice(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    """Insert a piece of another input."""
    other = bytearray(random.choice(seeds))
    begin, end = _span(other, random)
    at = random.randrange(len(data) + 1)
    data[at : at + random.choice((0, end - begin))] = other[begin:end]


def _word(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    """Replace a word with an odd word, or with a word from another input."""
    words = list(_WORD.finditer(data))
    others = _WORD.findall(random.choice(seeds)) if random.random() < 0.6 else list(ODD_WORDS)
    if words and others:
        word = random.choice(words)
        data[word.start() : word.end()] = random.choice(others)


def _number(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    numbers = list(_NUMBER.finditer(data))
    if numbers:
        found = random.choice(numbers)
        near = [b"%d" % max(0, int(found[0][:9]) + by) for by in (-1, 1, 10)]
        data[found.start() : found.end()] = random.choice((*near, *ODD_WORDS[1:13]))


def _line(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    """Reorder, drop or repeat lines, or take them from another input."""
    lines = bytes(data).splitlines(keepends=True)
    others = random.choice(seeds).splitlines(keepends=True)
    if not lines or not others:
        return
    at = random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(random.randrange(len(lines) + 1), lines[at])
        case 2:
            lines[at] = random.choice(others)
        case _:
            lines.insert(at, random.choice(others))
    data[:] = b"".join(lines)


def _span(data: bytearray, random: Random) -> tuple[int, int]:
    begin = random.randrange(len(data) + 1)
    return begin, min(len(data), begin + random.choice((1, 2, 4, 16, 64, 1000)))


SPOILS: Final[tuple[Spoil, ...]] = (
    _flip, _set, _cut, _end, _repeat, _insert, _splice, _word, _word, _number, _line, _line
)  # fmt: skip
