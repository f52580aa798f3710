"""Independent decoders of the community protocols, written from docs/other_devices.md alone.

Each decoder returns a telegram, an item or a line as a short text, in the terms of the page's table of vectors. They
are for complete streams only, and return "?" for damaged parts.
"""

from __future__ import annotations

import re

RANKS = {1: "A", 10: "T", 11: "J", 12: "Q", 13: "K"} | {rank: str(rank) for rank in range(2, 10)}
ERRORS = [
    "",
    "a card cannot be read",
    "overdraw",
    "button mishandled",
    "reverse run at the exit",
    "reverse run midway",
    "card code error",
    "drawing time-out",
]
PLAIN = {
    "S": "started",
    "P": "noted: stand-by between rounds",
    "R": "not understood",
    "G": "noted: a result of another game",
    "C": "noted: cutting card drawn",
    "L": "noted: key lock changed",
    "M": "noted: preset changed",
}


def check(data: bytes) -> str:
    total = 0
    for byte in data:
        total = (total | byte) & ~(total & byte)  # exclusive or, written out
    return "0123456789ABCDEF"[total // 16] + "0123456789ABCDEF"[total % 16]


def decode_angel_eye(stream: bytes) -> list[str]:
    """Return every telegram once: the first of its three copies."""
    heard: list[str] = []
    before = b""
    copies = 0
    while stream:
        if stream[0] != 0x05:
            return [*heard, "?"]
        end = stream.index(0x03)
        telegram, given, stream = stream[1 : end + 1], stream[end + 1 : end + 3], stream[end + 3 :]
        if given.decode("ascii") != check(telegram):
            return [*heard, "?"]
        copies = copies + 1 if telegram == before else 1
        before = telegram
        if copies % 3 == 1:
            heard.append(_telegram(chr(telegram[1]), telegram[2:-1]))
    return heard


def _telegram(code: str, payload: bytes) -> str:
    if code in ("D", "d"):
        suit, rank = payload[1] // 16 % 8, payload[1] % 16
        known = 1 <= suit <= 4 and rank in RANKS
        return f"card {RANKS[rank]}{'?DCSH'[suit]}" if known else "unread card"
    if code in ("E", "e"):
        error = ERRORS[payload[0] % 64]
        if code == "e":
            return f"freed: {error}"
        return f"stop: {error}" if payload[0] // 64 % 2 else "not understood"
    return PLAIN.get(code, "not understood")


def decode_bee_tek(stream: bytes) -> list[str]:
    heard: list[str] = []
    for item in stream.decode("ascii").replace(">", ">\n").split("\n"):
        text = item.strip()
        if not text:
            continue
        text = text.lower()
        if text.startswith("<w"):
            heard.append(f"noted: warning W0x{text[4:-1].upper()}")
            continue
        mode, said = text[1:-1].split("]<")
        if said in (mode, "game"):
            heard.append("unread card")
        elif said.startswith("card:"):
            heard.append(f"card {said[5:].replace('10', 't').upper()}")
        else:
            heard.append(f"alarm: {said[6:].split(' ')[0].upper()}")
    return heard


def decode_lines(stream: bytes, cards: dict[str, str]) -> list[str]:
    lines = stream.decode("ascii").splitlines()
    tag = f"[0-9A-F]{{{len(next(iter(cards)))}}}"
    other = {True: "foreign card", False: "not understood"}
    return [f"card {cards[line]}" if line in cards else other[bool(re.fullmatch(tag, line))] for line in lines if line]
